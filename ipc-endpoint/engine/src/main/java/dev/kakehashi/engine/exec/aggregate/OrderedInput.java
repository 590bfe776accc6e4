package dev.kakehashi.engine.exec.aggregate;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.sort.SortBreaker;
import dev.kakehashi.engine.plan.PlanNode.AggregateCall;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.aggregate.SerialAccumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of one aggregate call with ORDER BY, sorted when all are there: arguments, order columns, number of the group.
///
/// They are sorted by their groups first, so that an aggregate that keeps values gets those of one group at a time, see [#feed(int,
/// SerialAccumulator, Runnable)]. With DISTINCT the arguments are the last sort keys, so that equal rows of a group follow each other.
/// Confined to one task at a time.
final class OrderedInput {
  private final AggregateCall call;
  private final MemoryAccount memory;
  private final int[] columns;
  private final ColumnKind[] kinds;
  private final SortBreaker sort;
  private final Breaker.Collector run;

  /// Columns of the rows to add, and their groups.
  private final VectorBatch source;

  private final ColumnVector sourceGroup = new ColumnVector(VectorBatch.CAPACITY);

  /// Rows of each group whose last argument is not null, if the aggregate wants to know it.
  private final boolean counted;

  private long[] counts = {};

  // ---- while groups are fed one by one ----

  private @Nullable Operator sorted;
  private @Nullable VectorBatch batch;

  /// Row of the batch that comes next.
  private int next;

  private final ColumnVector[] values;
  private final int[] rows = new int[VectorBatch.CAPACITY];
  private final int[] groups = new int[VectorBatch.CAPACITY];

  /// With DISTINCT, the last row of the batch before; empty if there is none.
  private final VectorBatch last;

  /// @param grouped whether there may be several groups
  /// @param counted whether the aggregate wants to know how many values a group has
  OrderedInput(
      AggregateCall call, int[] inputOids, boolean grouped, boolean counted, MemoryAccount memory) {
    this.call = call;
    this.memory = memory;
    this.counted = counted;
    int arguments = call.arguments().length;
    this.columns = new int[arguments + call.order().size()];
    int[] oids = new int[columns.length + 1];
    List<SortKey> keys = new ArrayList<>();
    if (grouped) {
      keys.add(new SortKey(columns.length, false, false));
    }
    for (int i = 0; i < columns.length; i++) {
      columns[i] = i < arguments ? call.arguments()[i] : call.order().get(i - arguments).column();
      oids[i] = inputOids[columns[i]];
      if (i >= arguments) {
        SortKey key = call.order().get(i - arguments);
        keys.add(new SortKey(i, key.descending(), key.nullsFirst()));
      }
    }
    oids[columns.length] = TypeOid.INT4;
    for (int i = 0; call.distinct() && i < arguments; i++) {
      keys.add(new SortKey(i, false, false));
    }
    this.kinds = MaterializedRows.kinds(oids);
    this.sort = SortBreaker.of(oids, keys, memory);
    this.run = sort.newCollector();
    this.source = new VectorBatch(0, oids.length);
    this.values = new ColumnVector[arguments];
    this.last = VectorBatch.ofRows(oids.length, 1);
  }

  /// Adds rows of a batch.
  ///
  /// @param batchRows positions; null: `0 .. count-1`
  void add(VectorBatch from, int @Nullable [] batchRows, int[] rowGroups, int count) {
    for (int i = 0; i < columns.length; i++) {
      source.columns[i] = from.columns[columns[i]];
    }
    source.columns[columns.length] = sourceGroup;
    for (int k = 0; k < count; k++) {
      sourceGroup.words[batchRows == null ? k : batchRows[k]] = rowGroups[k];
    }
    source.size = batchRows == null ? count : from.size;
    source.selected = -1;
    if (batchRows != null) {
      source.selection = batchRows;
      source.selected = count;
    }
    if (counted) {
      count(batchRows, rowGroups, count);
    }
    run.accept(source);
  }

  private void count(int @Nullable [] batchRows, int[] rowGroups, int count) {
    ColumnVector value = source.columns[call.arguments().length - 1];
    for (int k = 0; k < count; k++) {
      if (!value.isNull(batchRows == null ? k : batchRows[k])) {
        count(rowGroups[k], 1);
      }
    }
  }

  private void count(int group, long more) {
    if (group >= counts.length) {
      int before = counts.length;
      counts = Arrays.copyOf(counts, Math.max(group + 1, before + (before >> 1)));
      memory.add(8L * (counts.length - before));
    }
    counts[group] += more;
  }

  /// Takes over the rows of another task, whose group i is our `map[i]`.
  void add(OrderedInput other, int[] map) {
    other.forEachBatch(from -> {
      long[] numbers = from.columns[columns.length].words;
      for (int row = 0; row < from.size; row++) {
        numbers[row] = map[(int) numbers[row]];
      }
      run.accept(from);
    });
    for (int group = 0; group < other.counts.length && group < map.length; group++) {
      if (other.counts[group] > 0) {
        count(map[group], other.counts[group]);
      }
    }
    other.clear();
  }

  private interface Batches {
    void take(VectorBatch batch);
  }

  private Operator open() {
    run.finish();
    sort.complete(List.of(run));
    Operator source = sort.source();
    sorted = source;
    source.open();
    return source;
  }

  private void forEachBatch(Batches batches) {
    Operator source = open();
    VectorBatch got = source.next();
    while (got != null) {
      Interrupts.check();
      batches.take(got);
      got = source.next();
    }
  }

  /// Gives all rows to an aggregate of all groups in their order.
  ///
  /// @param account called after each batch
  void feed(Accumulator accumulator, Runnable account) {
    forEachBatch(from -> {
      batch = from;
      int count = select(0, from.size);
      long[] numbers = from.columns[columns.length].words;
      for (int k = 0; k < count; k++) {
        groups[k] = (int) numbers[rows[k]];
      }
      keepLast(from);
      accumulator.add(values, rows, groups, count);
      account.run();
    });
    batch = null;
    closeSorted();
  }

  /// Goes before the first group.
  void begin() {
    batch = open().next();
    next = 0;
  }

  /// Gives one group's rows to an aggregate of one group in their order; groups come in the order of their numbers.
  ///
  /// @param account called after each batch
  void feed(int group, SerialAccumulator accumulator, Runnable account) {
    if (counted) {
      accumulator.expect(group < counts.length ? counts[group] : 0);
    }
    while (batch != null) {
      VectorBatch from = batch;
      long[] numbers = from.columns[columns.length].words;
      int first = next;
      while (next < from.size && numbers[next] == group) {
        next++;
      }
      if (next > first) {
        int count = select(first, next);
        accumulator.addAll(values, rows, count, 0);
      }
      if (next < from.size) {
        return;
      }
      Interrupts.check();
      account.run();
      keepLast(from);
      batch = sorted == null ? null : sorted.next();
      next = 0;
    }
  }

  /// Shows the arguments of the batch as `values` and puts those of its rows into `rows` that the aggregate gets.
  ///
  /// @return how many
  private int select(int first, int end) {
    VectorBatch from = batch;
    if (from == null) {
      return 0;
    }
    System.arraycopy(from.columns, 0, values, 0, values.length);
    int count = 0;
    for (int row = first; row < end; row++) {
      if (!call.distinct() || isNew(from, row)) {
        rows[count++] = row;
      }
    }
    return count;
  }

  /// Whether a row differs from the one before it.
  private boolean isNew(VectorBatch from, int row) {
    if (row == 0 && last.size == 0) {
      return true;
    }
    VectorBatch before = row == 0 ? last : from;
    int at = row == 0 ? 0 : row - 1;
    for (int c = 0; c < kinds.length; c++) {
      // Order columns are arguments, too.
      boolean compared = c < values.length || c == columns.length;
      if (compared
          && MaterializedRows.differ(kinds[c], from.columns[c], row, before.columns[c], at)) {
        return true;
      }
    }
    return false;
  }

  private void keepLast(VectorBatch from) {
    if (call.distinct() && from.size > 0) {
      last.reset();
      last.size = 1;
      MaterializedRows.copy(kinds, from.columns, from.size - 1, last, 0);
    }
  }

  private void closeSorted() {
    if (sorted != null) {
      sorted.close();
      sorted = null;
    }
  }

  void clear() {
    closeSorted();
    batch = null;
    last.close();
    sort.close();
    memory.add(-8L * counts.length);
    counts = new long[0];
  }
}
