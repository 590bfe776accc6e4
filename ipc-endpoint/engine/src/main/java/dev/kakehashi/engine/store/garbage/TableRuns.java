package dev.kakehashi.engine.store.garbage;

import dev.kakehashi.engine.store.memory.HeapRoom;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Tables of a list of writes: neighbours are mostly of one table, and share an entry. Confined to one thread at a time.
public final class TableRuns<T extends CollectedTable> {
  private static final int FIRST_RUNS = 2;

  /// Bytes of a run in the two arrays.
  private static final int RUN_BYTES = 8;

  private @Nullable Object[] tables = new @Nullable Object[FIRST_RUNS];

  /// Number of the first write of each.
  private int[] from = new int[FIRST_RUNS];

  private int count;

  public int count() {
    return count;
  }

  @SuppressWarnings("unchecked") // only these are put there
  public T table(int run) {
    return (T) Objects.requireNonNull(tables[run]);
  }

  /// Number of a run's first write.
  public int from(int run) {
    return from[run];
  }

  /// Number of the first write behind a run.
  ///
  /// @param size of the list
  public int end(int run, int size) {
    return run + 1 < count ? from[run + 1] : size;
  }

  /// Makes room for one more write; OUT_OF_MEMORY if there is none.
  public void reserve() {
    if (count == tables.length) {
      int capacity = count * 2;
      if (capacity < HeapRoom.LONG_BYTES / RUN_BYTES) {
        grow(capacity);
      } else {
        HeapRoom.allocate("list of changes", (long) RUN_BYTES * capacity, () -> grow(capacity));
      }
    }
  }

  private void grow(int capacity) {
    tables = Arrays.copyOf(tables, capacity);
    from = Arrays.copyOf(from, capacity);
  }

  /// The write, behind all others, is of a table; room was made for it.
  @SuppressWarnings("ReferenceEquality") // the same table
  public void add(T table, int write) {
    if (count == 0 || tables[count - 1] != table) {
      tables[count] = table;
      from[count++] = write;
    }
  }

  /// Table of the last write of a list.
  public T last() {
    return table(count - 1);
  }

  /// Number of the first write behind which all are of the table of the last one.
  public int lastFrom() {
    return from[count - 1];
  }

  /// Forgets the writes from a number on.
  public void truncate(int size) {
    while (count > 0 && from[count - 1] >= size) {
      tables[--count] = null;
    }
  }
}
