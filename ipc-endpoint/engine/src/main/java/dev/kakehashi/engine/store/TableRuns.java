package dev.kakehashi.engine.store;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Of a list of writes, which are of which table: neighbours are mostly of one, and share an entry. Confined to one thread at a time.
final class TableRuns<T extends CollectedTable> {
  private static final int FIRST_RUNS = 2;

  private @Nullable Object[] tables = new @Nullable Object[FIRST_RUNS];

  /// Number of the first write of each.
  private int[] from = new int[FIRST_RUNS];

  private int count;

  int count() {
    return count;
  }

  @SuppressWarnings("unchecked") // only these are put there
  T table(int run) {
    return (T) Objects.requireNonNull(tables[run]);
  }

  /// Number of a run's first write.
  int from(int run) {
    return from[run];
  }

  /// Number of the first write behind a run.
  ///
  /// @param size of the list
  int end(int run, int size) {
    return run + 1 < count ? from[run + 1] : size;
  }

  /// Makes room for one more write.
  void reserve() {
    if (count == tables.length) {
      tables = Arrays.copyOf(tables, count * 2);
      from = Arrays.copyOf(from, count * 2);
    }
  }

  /// The write, behind all others, is of a table; room was made for it.
  void add(T table, int write) {
    if (count == 0 || tables[count - 1] != table) {
      tables[count] = table;
      from[count++] = write;
    }
  }

  /// Table of the last write of a list.
  T last() {
    return table(count - 1);
  }

  /// Forgets the writes from a number on.
  void truncate(int size) {
    while (count > 0 && from[count - 1] >= size) {
      tables[--count] = null;
    }
  }
}
