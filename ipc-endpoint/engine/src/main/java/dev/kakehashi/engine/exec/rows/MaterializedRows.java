package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;

/// Rows kept by a sort, a join or a grouping: columns in chunks, by-reference values in a heap of their own.
///
/// Written by one task; afterwards readable by any number of them.
public final class MaterializedRows implements IndexedRows {
  private static final int SHIFT = 10;
  private static final int MASK = VectorBatch.CAPACITY - 1;
  private static final int FIXED_BYTES = 16;

  /// Rows of the first chunk; it grows, so that few rows take little memory.
  private static final int FIRST_ROWS = 64;

  private static final int GROWTH = 4;

  /// Values that are copied between two looks at the account; a batch of short ones is one part.
  private static final long PART_BYTES = 1 << 20;

  private final ColumnKind[] kinds;
  private final MemoryAccount memory;
  private final List<ColumnVector[]> chunks = new ArrayList<>();
  private final VarHeap heap = new VarHeap();
  private int size;

  /// Rows that fit into the chunks.
  private int room;

  private long accounted;

  /// Bytes of all values by reference that were ever copied here.
  private long valueBytes;

  public MaterializedRows(int[] typeOids, MemoryAccount memory) {
    this.kinds = kinds(typeOids);
    this.memory = memory;
  }

  public static ColumnKind[] kinds(int[] typeOids) {
    ColumnKind[] kinds = new ColumnKind[typeOids.length];
    for (int i = 0; i < kinds.length; i++) {
      kinds[i] = Types.kind(typeOids[i]);
    }
    return kinds;
  }

  /// Bytes of a by-reference value.
  public static int valueBytes(ColumnKind kind, long word) {
    return kind == ColumnKind.UUID || kind == ColumnKind.INTERVAL
        ? FIXED_BYTES
        : Varlena.totalBytes(word);
  }

  /// A value as it is kept with others: one by reference becomes a copy in the heap. A cancel is seen before each long one, because 1024 of
  /// them may be a GB.
  public static long copied(VarHeap heap, ColumnKind kind, long word) {
    if (!kind.byReference()) {
      return word;
    }
    int bytes = valueBytes(kind, word);
    if (bytes > Interrupts.LONG_BYTES) {
      Interrupts.check();
    }
    return heap.copy(word, bytes);
  }

  /// Copies one row, with its values, into another batch of the same columns.
  public static void copy(
      ColumnKind[] kinds, ColumnVector[] from, int row, VectorBatch to, int toRow) {
    for (int c = 0; c < kinds.length; c++) {
      if (from[c].isNull(row)) {
        to.columns[c].setNull(toRow);
      } else {
        long word = from[c].words[row];
        to.columns[c].words[toRow] = copied(to.heap, kinds[c], word);
      }
    }
  }

  /// Whether two values are different; nulls are equal.
  public static boolean differ(
      ColumnKind kind, ColumnVector a, int rowA, ColumnVector b, int rowB) {
    return a.isNull(rowA) != b.isNull(rowB)
        || (!a.isNull(rowA) && !Ordering.equal(kind, a.words[rowA], b.words[rowB]));
  }

  public int size() {
    return size;
  }

  @Override
  public ColumnKind kind(int column) {
    return kinds[column];
  }

  public int columnCount() {
    return kinds.length;
  }

  /// A by-reference value stays where it is until [#clear()].
  @Override
  public long word(int column, int row) {
    return chunks.get(row >>> SHIFT)[column].words[row & MASK];
  }

  @Override
  public boolean isNull(int column, int row) {
    return chunks.get(row >>> SHIFT)[column].isNull(row & MASK);
  }

  /// Copies the live rows of a batch that has the same columns.
  public void append(VectorBatch batch) {
    int copied = 0;
    while (copied < batch.liveRows()) {
      copied = append(batch, copied);
    }
  }

  /// Copies live rows of a batch until all are copied or a part's bytes are, and brings the account up to date: a batch of references may
  /// need more than a statement may have, so that whoever can write to files looks after each part.
  ///
  /// @param from how many of the live rows were copied before
  /// @return how many are copied now, more than before unless all were
  public int append(VectorBatch batch, int from) {
    boolean dense = batch.selected < 0;
    int live = batch.liveRows();
    long end = valueBytes + PART_BYTES;
    int k = from;
    while (k < live && valueBytes < end) {
      append(batch.columns, dense ? k : batch.selection[k]);
      k++;
    }
    account();
    return k;
  }

  /// Copies one row whose values are in the heap already.
  private void appendAbsorbed(ColumnVector[] columns, int row) {
    if (size == room) {
      grow();
    }
    int at = size & MASK;
    ColumnVector[] chunk = chunks.get(size >>> SHIFT);
    for (int c = 0; c < kinds.length; c++) {
      if (columns[c].isNull(row)) {
        chunk[c].setNull(at);
      } else {
        chunk[c].words[at] = columns[c].words[row];
      }
    }
    size++;
  }

  /// Copies one row; returns its position.
  public int append(ColumnVector[] columns, int row) {
    if (size == room) {
      grow();
    }
    int at = size & MASK;
    ColumnVector[] chunk = chunks.get(size >>> SHIFT);
    for (int c = 0; c < kinds.length; c++) {
      ColumnVector from = columns[c];
      if (from.isNull(row)) {
        chunk[c].setNull(at);
      } else {
        long word = from.words[row];
        chunk[c].words[at] = copied(heap, kinds[c], word);
        valueBytes += kinds[c].byReference() ? valueBytes(kinds[c], word) : 0;
      }
    }
    return size++;
  }

  /// Moves the rows of another store of the same columns here. Their order becomes: full chunks of this one, full chunks of the other, what
  /// is left of this one, what is left of the other. Only this last part is copied.
  public void appendAll(MaterializedRows from) {
    int left = size & MASK;
    ColumnVector[] rest = left == 0 ? new ColumnVector[0] : chunks.removeLast();
    chunks.addAll(from.chunks.subList(0, from.size >>> SHIFT));
    size += (from.size & ~MASK) - left;
    room = size;
    if (left > 0) {
      if (!chunks.isEmpty() && rest.length > 0 && rest[0].words.length < VectorBatch.CAPACITY) {
        rest = enlarged(rest, left, VectorBatch.CAPACITY);
      }
      chunks.add(rest);
      room += rest.length == 0 ? VectorBatch.CAPACITY : rest[0].words.length;
      size += left;
    }
    int end = from.size;
    heap.absorb(from.heap);
    for (int row = end & ~MASK; row < end; row++) {
      appendAbsorbed(from.chunks.get(row >>> SHIFT), row & MASK);
    }
    from.clear();
    account();
  }

  /// Copies one row of another store of the same columns.
  public void append(MaterializedRows from, int row) {
    append(from.chunks.get(row >>> SHIFT), row & MASK);
    if ((size & MASK) == 0) {
      account();
    }
  }

  /// Writes columns of `row` into a batch; by-reference words stay addresses of this store.
  public void read(int row, VectorBatch out, int outRow, int firstColumn) {
    ColumnVector[] chunk = chunks.get(row >>> SHIFT);
    int at = row & MASK;
    for (int c = 0; c < kinds.length; c++) {
      ColumnVector to = out.columns[firstColumn + c];
      if (chunk[c].isNull(at)) {
        to.setNull(outRow);
      } else {
        to.words[outRow] = chunk[c].words[at];
      }
    }
  }

  /// The same for some rows, which become the first ones of the batch.
  public void read(int[] from, int count, VectorBatch out, int firstColumn) {
    for (int c = 0; c < kinds.length; c++) {
      ColumnVector to = out.columns[firstColumn + c];
      for (int i = 0; i < count; i++) {
        int row = from[i];
        ColumnVector column = chunks.get(row >>> SHIFT)[c];
        if (column.hasNulls && column.isNull(row & MASK)) {
          to.setNull(i);
        } else {
          to.words[i] = column.words[row & MASK];
        }
      }
    }
  }

  /// Shows a row as row 0 of the first vectors, with its values where they are.
  public void show(int row, ColumnVector[] out) {
    ColumnVector[] chunk = chunks.get(row >>> SHIFT);
    int at = row & MASK;
    for (int c = 0; c < kinds.length; c++) {
      out[c].clearNulls();
      if (chunk[c].isNull(at)) {
        out[c].setNull(0);
      } else {
        out[c].words[0] = chunk[c].words[at];
      }
    }
  }

  /// Bytes that the statement's account has for these rows.
  public long bytes() {
    return accounted;
  }

  /// The columns of a row's chunk, and where in them it is.
  public ColumnVector[] chunk(int row) {
    return chunks.get(row >>> SHIFT);
  }

  public static int inChunk(int row) {
    return row & MASK;
  }

  /// Brings the statement's account up to date.
  public void account() {
    long bytes = heap.capacityBytes() + (long) room * kinds.length * 8;
    long more = bytes - accounted;
    accounted = bytes;
    if (more != 0) {
      memory.add(more);
    }
  }

  /// Forgets all rows and frees their memory.
  public void clear() {
    chunks.clear();
    heap.close();
    size = 0;
    room = 0;
    memory.add(-accounted);
    accounted = 0;
  }

  private void grow() {
    boolean first = size < VectorBatch.CAPACITY;
    int capacity = !first ? VectorBatch.CAPACITY : size == 0 ? FIRST_ROWS : GROWTH * size;
    if (first && size > 0) {
      chunks.set(0, enlarged(chunks.getFirst(), size, capacity));
      room = capacity;
    } else {
      chunks.add(enlarged(new ColumnVector[0], 0, capacity));
      room += capacity;
    }
  }

  /// A chunk with room for `capacity` rows and the first rows of another one.
  private ColumnVector[] enlarged(ColumnVector[] before, int rows, int capacity) {
    ColumnVector[] chunk = new ColumnVector[kinds.length];
    for (int c = 0; c < chunk.length; c++) {
      chunk[c] = new ColumnVector(capacity);
      if (rows > 0) {
        System.arraycopy(before[c].words, 0, chunk[c].words, 0, rows);
        System.arraycopy(before[c].nulls, 0, chunk[c].nulls, 0, before[c].nulls.length);
        chunk[c].hasNulls = before[c].hasNulls;
      }
    }
    return chunk;
  }
}
