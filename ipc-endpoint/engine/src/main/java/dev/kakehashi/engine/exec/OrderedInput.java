package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.plan.PlanNode.AggregateCall;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of one aggregate call with ORDER BY, kept until all are there: arguments, order columns, number of the group.
final class OrderedInput {
  private final AggregateCall call;
  private final MemoryAccount memory;
  private final int[] columns;
  private final int[] oids;
  private final MaterializedRows rows;
  private final RowOrder order;
  private final ColumnVector[] source;

  OrderedInput(AggregateCall call, int[] inputOids, MemoryAccount memory) {
    this.call = call;
    this.memory = memory;
    int arguments = call.arguments().length;
    int keys = call.order().size();
    this.columns = new int[arguments + keys];
    this.oids = new int[columns.length + 1];
    List<SortKey> sortKeys = new ArrayList<>();
    for (int i = 0; i < columns.length; i++) {
      columns[i] = i < arguments ? call.arguments()[i] : call.order().get(i - arguments).column();
      oids[i] = inputOids[columns[i]];
      if (i >= arguments) {
        SortKey key = call.order().get(i - arguments);
        sortKeys.add(new SortKey(i, key.descending(), key.nullsFirst()));
      }
    }
    oids[columns.length] = TypeOid.INT4;
    this.rows = new MaterializedRows(oids, memory);
    this.order = new RowOrder(sortKeys, memory);
    this.source = new ColumnVector[oids.length];
    this.source[columns.length] = new ColumnVector(VectorBatch.CAPACITY);
  }

  void add(VectorBatch batch, int @Nullable [] batchRows, int[] groups, int count) {
    for (int i = 0; i < columns.length; i++) {
      source[i] = batch.columns[columns[i]];
    }
    ColumnVector group = source[columns.length];
    for (int k = 0; k < count; k++) {
      int row = batchRows == null ? k : batchRows[k];
      group.words[row] = groups[k];
      rows.append(source, row);
    }
    rows.account();
  }

  /// Takes over the rows of another task, whose group i is our `groups[i]`.
  void add(OrderedInput other, int[] groups) {
    try (VectorBatch one = new VectorBatch(oids.length)) {
      for (int row = 0; row < other.rows.size(); row++) {
        one.reset();
        other.rows.read(row, one, 0, 0);
        one.columns[columns.length].words[0] = groups[(int) one.columns[columns.length].words[0]];
        rows.append(one.columns, 0);
      }
    }
    rows.account();
    other.clear();
  }

  /// Gives the rows to the aggregate in their order. They stay until [#clear()], because aggregates may keep their addresses.
  void feed(Accumulator accumulator) {
    int[] sorted = order.sort(rows);
    int arguments = call.arguments().length;
    GroupTable seen = call.distinct() ? new GroupTable(distinctOids(arguments), memory) : null;
    int[] groups = new int[VectorBatch.CAPACITY];
    ColumnVector[] values = new ColumnVector[arguments];
    try (VectorBatch batch = new VectorBatch(oids.length)) {
      System.arraycopy(batch.columns, 0, values, 0, arguments);
      int next = 0;
      while (next < sorted.length) {
        batch.reset();
        int count = 0;
        while (next < sorted.length && count < VectorBatch.CAPACITY) {
          int row = sorted[next++];
          rows.read(row, batch, count, 0);
          if (seen == null || isNew(seen, batch, count, arguments)) {
            groups[count] = (int) rows.word(columns.length, row);
            count++;
          } else {
            forget(batch, count);
          }
        }
        accumulator.add(values, null, groups, count);
      }
    } finally {
      if (seen != null) {
        seen.clear();
      }
    }
  }

  private int[] distinctOids(int arguments) {
    int[] distinct = java.util.Arrays.copyOf(oids, arguments + 1);
    distinct[arguments] = TypeOid.INT4;
    return distinct;
  }

  private final int[] number = new int[1];

  private boolean isNew(GroupTable seen, VectorBatch batch, int row, int arguments) {
    ColumnVector[] key = java.util.Arrays.copyOf(batch.columns, arguments + 1);
    key[arguments] = batch.columns[columns.length];
    int size = batch.size;
    batch.size = row + 1;
    batch.selection[0] = row;
    batch.selected = 1;
    int before = seen.size();
    seen.find(key, batch, number);
    batch.size = size;
    batch.selected = -1;
    return seen.size() > before;
  }

  /// Makes a row that was read free for the next one.
  private static void forget(VectorBatch batch, int row) {
    for (ColumnVector column : batch.columns) {
      if (column.hasNulls) {
        column.nulls[row >>> 6] &= ~(1L << (row & 63));
      }
    }
  }

  void clear() {
    rows.clear();
  }
}
