package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.rows.GroupTable;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.exec.rows.SortedRows;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/// The distinct rows that the steps of a recursion have made: in a table, and those that it had no room for in files, which are sorted by
/// hash ([SeenRun]).
///
/// As soon as there are files, rows that the table does not have wait for the end of the step, or until there are too many of them, and are
/// then looked for in all files, in the order of their hashes. So a step of few rows reads a block or two of each file, one of many rows
/// reads each file once. Files of the same size class are merged when there are [#FAN_IN] of them (a log-structured merge tree). Confined
/// to one task at a time.
final class SeenRows implements AutoCloseable {
  private static final int FAN_IN = 8;

  /// Bits of a hash in whose place the number of a row is while rows are sorted.
  private static final int NUMBER_BITS = 24;

  private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

  /// Bytes that sorting a row by its hash takes.
  private static final int SORT_BYTES = 8;

  private final int[] fileOids;
  private final ColumnKind[] kinds;
  private final MemoryAccount memory;
  private final GroupTable recent;
  private final int[] numbers = new int[VectorBatch.CAPACITY];

  /// The oldest, and largest, first.
  private final List<SeenRun> runs = new ArrayList<>();

  /// Rows of the table from here on have not been looked for in the files.
  private int settled;

  /// Rows of the table that are in a file, too.
  private final BitSet known = new BitSet();

  SeenRows(int[] typeOids, MemoryAccount memory) {
    this.memory = memory.user();
    this.kinds = MaterializedRows.kinds(typeOids);
    this.fileOids = Arrays.copyOf(typeOids, typeOids.length + 1);
    fileOids[typeOids.length] = TypeOid.INT8;
    this.recent = new GroupTable(typeOids, this.memory);
  }

  /// Adds a batch's live rows.
  ///
  /// @param fresh gets those that have not been seen, now or by [#settle]
  void add(VectorBatch batch, RowBuffer fresh) {
    int next = recent.size();
    recent.find(batch.columns, batch, numbers);
    if (runs.isEmpty()) {
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        // New rows get the next numbers in their order.
        if (numbers[k] == next) {
          next++;
          fresh.append(batch.columns, batch.selected < 0 ? k : batch.selection[k]);
        }
      }
      fresh.account();
      settled = next;
    }
    if (memory.wantsBack(recent.bytes(), (long) SORT_BYTES * recent.size())
        || recent.size() > NUMBER_MASK - VectorBatch.CAPACITY) {
      settle(fresh);
      write();
    }
  }

  /// The step has ended.
  ///
  /// @param fresh gets the rows that have waited and have not been seen, in the order in which they came
  void settle(RowBuffer fresh) {
    int end = recent.size();
    if (settled == end) {
      return;
    }
    long[] sorted = sorted(settled);
    for (SeenRun run : runs) {
      find(sorted, run);
    }
    release(sorted);
    MaterializedRows rows = recent.keys();
    for (int row = settled; row < end; row++) {
      if (!known.get(row)) {
        fresh.append(rows.chunk(row), MaterializedRows.inChunk(row));
      }
      if (row % VectorBatch.CAPACITY == 0) {
        memory.checkCanceled();
        fresh.account();
      }
    }
    fresh.account();
    settled = end;
  }

  /// Rows of the table in the order of their hashes: hash and number in one word. To be [#release]d.
  private long[] sorted(int from) {
    long[] sorted = new long[recent.size() - from];
    memory.add((long) SORT_BYTES * sorted.length);
    for (int i = 0; i < sorted.length; i++) {
      sorted[i] = hash(recent.hashOf(from + i)) | (from + i);
    }
    Arrays.sort(sorted);
    memory.checkCanceled();
    return sorted;
  }

  private void release(long[] sorted) {
    memory.add(-(long) SORT_BYTES * sorted.length);
  }

  private static long hash(long word) {
    return word & ~NUMBER_MASK;
  }

  private static int number(long word) {
    return (int) (word & NUMBER_MASK);
  }

  /// Notes which rows are in a file.
  private void find(long[] sorted, SeenRun run) {
    int end;
    for (int first = 0; first < sorted.length; first = end) {
      long hash = hash(sorted[first]);
      end = first + 1;
      while (end < sorted.length && hash(sorted[end]) == hash) {
        end++;
      }
      memory.checkCanceled(first);
      boolean more = run.seek(hash, first == 0);
      while (more && run.hash() == hash) {
        for (int i = first; i < end; i++) {
          int row = number(sorted[i]);
          if (!known.get(row) && isSame(run, row)) {
            known.set(row);
          }
        }
        more = run.next();
      }
    }
  }

  private boolean isSame(SeenRun run, int row) {
    MaterializedRows rows = recent.keys();
    for (int c = 0; c < kinds.length; c++) {
      boolean isNull = rows.isNull(c, row);
      if (isNull != run.isNull(c)
          || (!isNull && !Ordering.equal(kinds[c], rows.word(c, row), run.word(c)))) {
        return false;
      }
    }
    return true;
  }

  /// Writes the table's rows, which are settled, to a file and begins with an empty table.
  private void write() {
    long[] sorted = sorted(0);
    SeenRun run = begin(0);
    ColumnVector[] row = newRow();
    ColumnVector[] hashed = {row[kinds.length]};
    for (int i = 0; i < sorted.length; i++) {
      memory.checkCanceled(i);
      int number = number(sorted[i]);
      if (!known.get(number)) {
        hashed[0].words[0] = hash(sorted[i]);
        recent.keys().show(number, row);
        run.append(row);
      }
    }
    release(sorted);
    recent.clear();
    known.clear();
    settled = 0;
    run.finish();
    while (runs.size() >= FAN_IN
        && runs.get(runs.size() - FAN_IN).level() == runs.getLast().level()) {
      merge(runs.subList(runs.size() - FAN_IN, runs.size()));
    }
  }

  private ColumnVector[] newRow() {
    ColumnVector[] row = new ColumnVector[fileOids.length];
    for (int c = 0; c < row.length; c++) {
      row[c] = new ColumnVector(1);
    }
    return row;
  }

  private SeenRun begin(int level) {
    SeenRun run = new SeenRun(MaterializedRows.kinds(fileOids), level, memory);
    runs.add(run);
    return run;
  }

  /// Merges the youngest runs.
  private void merge(List<SeenRun> youngest) {
    List<SeenRun> from = List.copyOf(youngest);
    SeenRun merged = begin(from.getLast().level() + 1);
    int hash = kinds.length;
    SortedRows.Merge rows =
        new SortedRows.Merge(
            from.stream().map(SeenRun::rows).toList(),
            (a, b) -> Long.compare(a.word(hash), b.word(hash)));
    ColumnVector[] row = newRow();
    SortedRows next = rows.next();
    for (long count = 0; next != null; count++) {
      memory.checkCanceled(count);
      next.show(row);
      merged.append(row);
      next = rows.next();
    }
    merged.finish();
    runs.removeAll(from);
    from.forEach(SeenRun::close);
  }

  @Override
  public void close() {
    recent.clear();
    known.clear();
    settled = 0;
    runs.forEach(SeenRun::close);
    runs.clear();
  }
}
