package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.SortedRows;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Rows in a file in the order of their last column, a hash, with an index of some of them, so that few rows are found by reading little.
/// First rows are appended, then they are read. Confined to one task at a time.
final class SeenRun implements AutoCloseable {
  private static final int FIRST_STRIDE = 32;

  /// Runs that share what memory there is for their indexes, and bytes of an entry.
  private static final int RUNS = 64;

  private static final int ENTRY_BYTES = 16;
  private static final int LEAST_ENTRIES = 256;
  private static final int MOST_ENTRIES = 1 << 20;

  private final SpillFile file;
  private final int level;
  private final int hashColumn;
  private final MemoryAccount memory;
  private final int bufferBytes;
  private long accounted;

  /// One row in so many is in the index; more as the file grows.
  private int stride = FIRST_STRIDE;

  private long[] hashes;
  private long[] starts;
  private int entries;
  private SpillFile.@Nullable Reader reader;

  /// Whether the reader has a current row.
  private boolean present;

  /// Where the search in the index goes on.
  private int entry;

  /// @param level how often its rows have been merged
  SeenRun(ColumnKind[] kinds, int level, MemoryAccount memory) {
    this.level = level;
    this.memory = memory;
    this.hashColumn = kinds.length - 1;
    this.bufferBytes = memory.bufferBytes();
    int most = Math.clamp(memory.room() / ((long) ENTRY_BYTES * RUNS), LEAST_ENTRIES, MOST_ENTRIES);
    this.hashes = new long[most];
    this.starts = new long[most];
    this.file = memory.newFile(kinds, bufferBytes);
    account((long) ENTRY_BYTES * most + bufferBytes);
  }

  private void account(long bytes) {
    long more = bytes - accounted;
    accounted = bytes;
    memory.add(more);
  }

  int level() {
    return level;
  }

  /// Appends a row whose hash is not less than those before.
  void append(ColumnVector[] row) {
    if (file.rows() % stride == 0) {
      if (entries == hashes.length) {
        thin();
      }
      if (file.rows() % stride == 0) {
        hashes[entries] = row[hashColumn].words[0];
        starts[entries++] = file.end();
      }
    }
    file.append(row, 0);
  }

  /// Forgets every other entry.
  private void thin() {
    entries = (entries + 1) / 2;
    for (int i = 0; i < entries; i++) {
      hashes[i] = hashes[2 * i];
      starts[i] = starts[2 * i];
    }
    stride *= 2;
  }

  /// No more rows follow.
  void finish() {
    file.finish();
    hashes = Arrays.copyOf(hashes, entries);
    starts = Arrays.copyOf(starts, entries);
    account((long) ENTRY_BYTES * entries + bufferBytes);
  }

  /// All rows in their order.
  SortedRows rows() {
    return SortedRows.of(file, bufferBytes);
  }

  /// Goes to the first row with at least this hash; false if there is none.
  ///
  /// @param again whether the hash may be less than that of the call before
  boolean seek(long hash, boolean again) {
    SpillFile.Reader from = reader;
    if (from == null) {
      from = file.readerWith(bufferBytes);
      reader = from;
    }
    if (again) {
      present = false;
      entry = 0;
    } else if (present && hash() >= hash) {
      return true;
    }
    // Rows with the hash may begin before the first entry that has it.
    int found = Arrays.binarySearch(hashes, entry, entries, hash);
    int at = found >= 0 ? found : -found - 1;
    while (at > entry && hashes[at - 1] >= hash) {
      at--;
    }
    entry = Math.max(at - 1, entry);
    long start = entries == 0 ? 0 : starts[entry];
    if (again || start > from.position()) {
      from.seek(start);
      present = from.next();
    }
    for (int scanned = 1; present && hash() < hash; scanned++) {
      memory.checkCanceled(scanned);
      present = from.next();
    }
    return present;
  }

  /// Goes to the next row; false if there is none.
  boolean next() {
    present = reader != null && reader.next();
    return present;
  }

  private SpillFile.Reader current() {
    SpillFile.Reader from = reader;
    if (from == null) {
      throw new IllegalStateException("no row has been looked for");
    }
    return from;
  }

  long hash() {
    return current().word(hashColumn);
  }

  long word(int column) {
    return current().word(column);
  }

  boolean isNull(int column) {
    return current().isNull(column);
  }

  @Override
  public void close() {
    reader = null;
    account(0);
    file.close();
  }
}
