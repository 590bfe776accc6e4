package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Rows in the order in which they were added: in memory, or, when the statement's memory gets tight, in a file.
///
/// First rows are added, then they are read: in their order by any number of [Reader]s, or by position. Rows of a file that are read by
/// position come in blocks, of which the ones used last are kept. Confined to one task at a time; readers of several tasks may not overlap
/// with reading by position.
public final class RowBuffer implements IndexedRows, AutoCloseable {
  private static final int BLOCK_ROWS = 256;

  /// A block ends with the row that makes it as long, so that the fewest blocks fit into the floor of a user unless rows are long.
  private static final int BLOCK_BYTES = 32 << 10;

  /// The current row, its frame's ends and a neighbour each need one.
  private static final int MIN_BLOCKS = 8;

  private final int[] typeOids;
  private final ColumnKind[] kinds;
  private final MemoryAccount memory;
  private final MaterializedRows rows;
  private @Nullable SpillFile file;
  private boolean sealed;
  private int size;

  /// Where in the file each block begins, and with which row.
  private long[] starts = new long[16];

  private int[] firstRows = new int[16];
  private int blockCount;

  /// By number, the least recently used first.
  private final Map<Integer, MaterializedRows> blocks = new LinkedHashMap<>(16, 0.75f, true);

  private long blockBytes;

  /// The block used last, and its rows: none if there is no such block.
  private @Nullable MaterializedRows current;

  private int currentFirst;
  private int currentEnd;

  public RowBuffer(int[] typeOids, MemoryAccount memory) {
    this.typeOids = typeOids;
    this.kinds = MaterializedRows.kinds(typeOids);
    this.memory = memory.user();
    this.rows = new MaterializedRows(typeOids, this.memory);
  }

  public int size() {
    return size;
  }

  public int columnCount() {
    return kinds.length;
  }

  @Override
  public ColumnKind kind(int column) {
    return kinds[column];
  }

  /// Whether values stay where they are until [#clear()].
  boolean isInMemory() {
    return file == null;
  }

  /// Adds the live rows of a batch.
  public void append(VectorBatch batch) {
    refuseIfSealed();
    int live = batch.liveRows();
    for (int copied = 0; copied < live; ) {
      int before = copied;
      copied = rows.append(batch, copied);
      size += copied - before;
      account();
    }
  }

  /// Adds a row; [#account()] is to be called now and then.
  public void append(ColumnVector[] columns, int row) {
    refuseIfSealed();
    rows.append(columns, row);
    size++;
  }

  private void refuseIfSealed() {
    if (sealed) {
      throw new IllegalStateException("rows are being read");
    }
  }

  /// Brings the statement's account up to date, and writes the rows to the file if there is no room for them.
  public void account() {
    rows.account();
    if (memory.wantsBack(rows.bytes(), 0)) {
      write();
    }
  }

  private void write() {
    SpillFile to = file;
    if (to == null) {
      to = memory.newFile(kinds);
      file = to;
    }
    for (int row = 0; row < rows.size(); row++) {
      if (blockCount == 0
          || to.rows() - firstRows[blockCount - 1] == BLOCK_ROWS
          || to.end() - starts[blockCount - 1] >= BLOCK_BYTES) {
        memory.checkCanceled();
        beginBlock(to);
      }
      to.append(rows.chunk(row), MaterializedRows.inChunk(row));
    }
    rows.clear();
  }

  private void beginBlock(SpillFile to) {
    if (blockCount == starts.length) {
      starts = Arrays.copyOf(starts, 2 * blockCount);
      firstRows = Arrays.copyOf(firstRows, 2 * blockCount);
    }
    starts[blockCount] = to.end();
    firstRows[blockCount] = Math.toIntExact(to.rows());
    blockCount++;
  }

  /// No more rows come: from now on any number of tasks may have readers. Done by the first reader, if not before.
  public void seal() {
    if (!sealed) {
      sealed = true;
      if (file != null) {
        write();
        file.finish();
      }
    }
  }

  // ---- by position ----

  @Override
  public boolean isNull(int column, int row) {
    seal();
    return file == null
        ? rows.isNull(column, row)
        : blockOf(row).isNull(column, row - currentFirst);
  }

  @Override
  public long word(int column, int row) {
    seal();
    return file == null ? rows.word(column, row) : blockOf(row).word(column, row - currentFirst);
  }

  /// The block that has a row, as its row `row - currentFirst`.
  private MaterializedRows blockOf(int row) {
    MaterializedRows held = current;
    if (held != null && row >= currentFirst && row < currentEnd) {
      return held;
    }
    int found = Arrays.binarySearch(firstRows, 0, blockCount, row);
    int number = found >= 0 ? found : -found - 2;
    int first = firstRows[number];
    int end = number + 1 < blockCount ? firstRows[number + 1] : size;
    MaterializedRows block = blocks.get(number);
    if (block == null) {
      block = load(number, end - first);
    }
    current = block;
    currentFirst = first;
    currentEnd = end;
    return block;
  }

  private MaterializedRows load(int number, int count) {
    SpillFile from = file;
    if (from == null) {
      throw new IllegalStateException("the rows are in memory");
    }
    memory.checkCanceled();
    while (blocks.size() >= MIN_BLOCKS && blockBytes > memory.room()) {
      Map.Entry<Integer, MaterializedRows> oldest = blocks.entrySet().iterator().next();
      blockBytes -= oldest.getValue().bytes();
      oldest.getValue().clear();
      blocks.remove(oldest.getKey());
    }
    MaterializedRows block = new MaterializedRows(typeOids, memory);
    blocks.put(number, block);
    try (VectorBatch batch = new VectorBatch(kinds.length)) {
      SpillFile.Reader reader = from.reader(starts[number]);
      if (reader.fill(batch, count)) {
        block.append(batch);
      }
    }
    blockBytes += block.bytes();
    return block;
  }

  // ---- in order ----

  /// A reader from the first row on.
  public Reader reader() {
    seal();
    return new Reader();
  }

  /// Reads the rows in their order. Confined to one task.
  public final class Reader {
    private final SpillFile.@Nullable Reader spilled = file == null ? null : file.reader();
    private int next;

    /// Fills a batch with the next rows; false if there are none.
    public boolean fill(VectorBatch batch) {
      if (spilled != null) {
        return spilled.fill(batch);
      }
      batch.reset();
      while (next < rows.size() && batch.size < batch.capacity) {
        rows.read(next++, batch, batch.size++, 0);
      }
      return batch.size > 0;
    }
  }

  /// Forgets all rows and frees what they take; others may be added then.
  public void clear() {
    rows.clear();
    blocks.values().forEach(MaterializedRows::clear);
    blocks.clear();
    blockBytes = 0;
    current = null;
    blockCount = 0;
    size = 0;
    sealed = false;
    if (file != null) {
      file.close();
      file = null;
    }
  }

  @Override
  public void close() {
    clear();
  }
}
