package dev.kakehashi.engine.exec.aggregate;

import dev.kakehashi.engine.exec.rows.HeapShare;
import dev.kakehashi.engine.exec.rows.MadeValues;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowOrder;
import dev.kakehashi.engine.exec.rows.SortedFiles;
import dev.kakehashi.engine.exec.rows.SortedRows;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.aggregate.KeepingAccumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Values that an aggregate without order keeps of the rows of all groups: in its accumulator, or, when the statement's memory gets tight,
/// in files.
///
/// Values of the groups then go to a file in the order of the groups' numbers, and the groups go on empty. The file has them as rows that
/// make the same of an empty group. At the end the files are merged. The results are made group by group, so that one group's values are in
/// memory at a time. Confined to one task at a time.
final class CollectedInput {
  /// Rows read from files between two looks at the memory; a power of two. A row has up to 8 kB, or one value.
  private static final int ROWS_OF_LOOK = 64;

  private final AggregateFunction function;
  private final KeepingAccumulator accumulator;
  private final MemoryAccount memory;
  private final int arguments;
  private final ColumnKind[] kinds;
  private final SortedFiles files;
  private final MadeValues made;
  private long accounted;

  /// Made when the first group goes to a file.
  private @Nullable VectorBatch replayed;

  // ---- while results are read from files ----

  private @Nullable KeepingAccumulator one;
  private SortedRows.@Nullable Merge merge;
  private @Nullable SortedRows head;
  private final ColumnVector[] row;
  private final ColumnVector[] values;

  /// @param accumulator of all groups; the caller closes it
  CollectedInput(AggregateFunction function, KeepingAccumulator accumulator, MemoryAccount memory) {
    this.function = function;
    this.accumulator = accumulator;
    this.memory = memory.user();
    this.made = new MadeValues(this.memory, HeapShare.OF_PROCESS);
    this.arguments = function.argumentOids().length;
    int[] oids = Arrays.copyOf(function.argumentOids(), arguments + 1);
    oids[arguments] = TypeOid.INT4;
    this.kinds = MaterializedRows.kinds(oids);
    RowOrder byGroup = new RowOrder(List.of(new SortKey(arguments, false, false)), this.memory);
    this.files = new SortedFiles(kinds, byGroup, this.memory, Long.MAX_VALUE);
    this.row = new ColumnVector[arguments + 1];
    for (int c = 0; c < row.length; c++) {
      row[c] = new ColumnVector(1);
    }
    this.values = Arrays.copyOf(row, arguments);
  }

  /// Adds rows to groups, see [KeepingAccumulator#add].
  ///
  /// @param groupCount groups that there are
  void add(ColumnVector[] columns, int @Nullable [] rows, int[] groups, int count, int groupCount) {
    accumulator.add(columns, rows, groups, count);
    account(groupCount);
  }

  /// Brings the statement's account up to date, and writes what the groups have if there is no room for it.
  private void account(int groupCount) {
    setAccounted(bytes());
    if (memory.wantsBack(accounted, 0)) {
      spill(groupCount);
    }
  }

  private long bytes() {
    KeepingAccumulator read = one;
    return accumulator.memoryBytes() + (read == null ? 0 : read.memoryBytes());
  }

  private void setAccounted(long bytes) {
    long more = bytes - accounted;
    accounted = bytes;
    if (more != 0) {
      memory.add(more);
    }
    KeepingAccumulator read = one;
    made.hold(accumulator.heapBytes() + (read == null ? 0 : read.heapBytes()));
  }

  private void spill(int groupCount) {
    VectorBatch batch = replayed;
    if (batch == null) {
      batch = new VectorBatch(arguments, arguments + 1);
      batch.columns[arguments] = new ColumnVector(VectorBatch.CAPACITY);
      replayed = batch;
    }
    VectorBatch out = batch;
    SpillFile file = files.begin();
    for (int group = 0; group < groupCount; group++) {
      int number = group;
      memory.checkCanceled(group);
      out.reset();
      accumulator.replay(group, out, () -> write(out, number, file));
      write(out, number, file);
    }
    out.close();
    accumulator.clear();
    setAccounted(bytes());
    files.end();
  }

  private void write(VectorBatch out, int group, SpillFile file) {
    memory.checkCanceled();
    for (int k = 0; k < out.size; k++) {
      out.columns[arguments].words[k] = group;
      file.append(out.columns, k);
    }
    out.reset();
  }

  /// Takes over what another task has, whose group i is our `map[i]`, for `0 <= i < count`; its rows come after ours.
  ///
  /// @param groupCount groups that there are
  void merge(CollectedInput other, int[] map, int count, int groupCount) {
    if (memory.wantsBack(accounted, other.accounted)) {
      // Both at once would be too much: rows of files come one by one.
      other.spill(count);
    }
    SortedRows.Merge rows = other.mergeFiles();
    SortedRows next = rows.next();
    for (long k = 0; next != null; k++) {
      boolean looks = k % ROWS_OF_LOOK == 0;
      if (looks) {
        Interrupts.check();
      }
      if (looks || bytes() - accounted > KeepingAccumulator.REPLAY_BYTES) {
        account(groupCount);
      }
      next.show(row);
      accumulator.addAll(values, null, 1, map[(int) row[arguments].words[0]]);
      next = rows.next();
    }
    account(groupCount);
    if (memory.wantsBack(accounted, other.accounted)) {
      spill(groupCount);
    }
    accumulator.merge(other.accumulator, map, count);
    other.clear();
    account(groupCount);
  }

  private SortedRows.Merge mergeFiles() {
    files.reduce();
    return files.merge(memory.bufferBytes());
  }

  /// Goes before the first group: all rows have come. Does nothing if they are in memory.
  ///
  /// @param groupCount groups that there are
  void begin(int groupCount) {
    if (files.isEmpty()) {
      return;
    }
    spill(groupCount);
    KeepingAccumulator fresh = (KeepingAccumulator) function.newAccumulator();
    fresh.resize(1);
    one = fresh;
    SortedRows.Merge rows = mergeFiles();
    merge = rows;
    head = rows.next();
  }

  /// Sets row `outRow` of a column to a group's result; groups come in the order of their numbers.
  void result(int group, ColumnVector out, int outRow, FunctionContext context) {
    KeepingAccumulator of = one;
    SortedRows.Merge rows = merge;
    if (of == null || rows == null) {
      made.make(accumulator, group, out, outRow, context);
      return;
    }
    for (long k = 1; head != null && head.word(arguments) == group; k++) {
      head.show(row);
      of.addAll(values, null, 1, 0);
      head = rows.next();
      if (k % ROWS_OF_LOOK == 0) {
        Interrupts.check();
        setAccounted(bytes());
      }
    }
    setAccounted(bytes());
    made.make(of, 0, out, outRow, context);
    of.clear();
    setAccounted(bytes());
  }

  /// Forgets all rows and frees what they take but for the accumulator.
  void clear() {
    KeepingAccumulator read = one;
    if (read != null) {
      read.close();
      one = null;
    }
    merge = null;
    head = null;
    if (replayed != null) {
      replayed.close();
    }
    files.close();
    memory.add(-accounted);
    accounted = 0;
    made.hold(0);
  }
}
