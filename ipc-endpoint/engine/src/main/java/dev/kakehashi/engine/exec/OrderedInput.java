package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.plan.PlanNode.AggregateCall;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of one aggregate call with ORDER BY, sorted when all are there: arguments, order columns, number of the group.
///
/// With DISTINCT the other arguments and the group are the last sort keys, so that equal rows of a group follow each other.
final class OrderedInput {
  private final AggregateCall call;
  private final int[] columns;
  private final ColumnKind[] kinds;
  private final SortBreaker sort;
  private final Breaker.Collector run;

  /// Columns of the rows to add, and their groups.
  private final VectorBatch source;

  private final ColumnVector sourceGroup = new ColumnVector(VectorBatch.CAPACITY);

  OrderedInput(AggregateCall call, int[] inputOids, MemoryAccount memory) {
    this.call = call;
    int arguments = call.arguments().length;
    this.columns = new int[arguments + call.order().size()];
    int[] oids = new int[columns.length + 1];
    List<SortKey> keys = new ArrayList<>();
    for (int i = 0; i < columns.length; i++) {
      columns[i] = i < arguments ? call.arguments()[i] : call.order().get(i - arguments).column();
      oids[i] = inputOids[columns[i]];
      if (i >= arguments) {
        SortKey key = call.order().get(i - arguments);
        keys.add(new SortKey(i, key.descending(), key.nullsFirst()));
      }
    }
    oids[columns.length] = TypeOid.INT4;
    for (int i = 0; call.distinct() && i <= arguments; i++) {
      keys.add(new SortKey(i < arguments ? i : columns.length, false, false));
    }
    this.kinds = MaterializedRows.kinds(oids);
    this.sort = SortBreaker.of(oids, keys, memory);
    this.run = sort.newCollector();
    this.source = new VectorBatch(0, oids.length);
  }

  /// Adds rows of a batch.
  ///
  /// @param batchRows positions; null: `0 .. count-1`
  void add(VectorBatch batch, int @Nullable [] batchRows, int[] groups, int count) {
    for (int i = 0; i < columns.length; i++) {
      source.columns[i] = batch.columns[columns[i]];
    }
    source.columns[columns.length] = sourceGroup;
    for (int k = 0; k < count; k++) {
      sourceGroup.words[batchRows == null ? k : batchRows[k]] = groups[k];
    }
    source.size = batchRows == null ? count : batch.size;
    source.selected = -1;
    if (batchRows != null) {
      source.selection = batchRows;
      source.selected = count;
    }
    run.accept(source);
  }

  /// Takes over the rows of another task, whose group i is our `groups[i]`.
  void add(OrderedInput other, int[] groups) {
    other.forEachBatch(batch -> {
      long[] numbers = batch.columns[columns.length].words;
      for (int row = 0; row < batch.size; row++) {
        numbers[row] = groups[(int) numbers[row]];
      }
      run.accept(batch);
    });
    other.clear();
  }

  private interface Batches {
    void take(VectorBatch batch);
  }

  private void forEachBatch(Batches batches) {
    run.finish();
    sort.complete(List.of(run));
    Operator sorted = sort.source();
    try {
      sorted.open();
      VectorBatch batch = sorted.next();
      while (batch != null) {
        Interrupts.check();
        batches.take(batch);
        batch = sorted.next();
      }
    } finally {
      sorted.close();
    }
  }

  /// Gives the rows to the aggregate in their order.
  ///
  /// @param account called after each batch
  void feed(Accumulator accumulator, Runnable account) {
    int arguments = call.arguments().length;
    int[] groups = new int[VectorBatch.CAPACITY];
    int[] rows = new int[VectorBatch.CAPACITY];
    ColumnVector[] values = new ColumnVector[arguments];
    try (VectorBatch last = new VectorBatch(kinds.length)) {
      forEachBatch(batch -> {
        System.arraycopy(batch.columns, 0, values, 0, arguments);
        long[] numbers = batch.columns[columns.length].words;
        int count = 0;
        for (int row = 0; row < batch.size; row++) {
          if (!call.distinct() || isNew(batch, row, last)) {
            groups[count] = (int) numbers[row];
            rows[count++] = row;
          }
        }
        if (call.distinct()) {
          keepLast(batch, batch.size - 1, last);
        }
        accumulator.add(values, rows, groups, count);
        account.run();
      });
    }
  }

  /// Whether a row differs from the one before it.
  ///
  /// @param last the last row of the batch before; empty if there is none
  private boolean isNew(VectorBatch batch, int row, VectorBatch last) {
    if (row == 0 && last.size == 0) {
      return true;
    }
    VectorBatch before = row == 0 ? last : batch;
    int at = row == 0 ? 0 : row - 1;
    for (int c = 0; c < kinds.length; c++) {
      // Order columns are arguments, too.
      boolean compared = c < call.arguments().length || c == columns.length;
      if (compared
          && MaterializedRows.differ(kinds[c], batch.columns[c], row, before.columns[c], at)) {
        return true;
      }
    }
    return false;
  }

  private void keepLast(VectorBatch batch, int row, VectorBatch last) {
    last.reset();
    last.size = 1;
    MaterializedRows.copy(kinds, batch.columns, row, last, 0);
  }

  void clear() {
    sort.close();
  }
}
