package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.AggregateFunction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.SingleRel;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Window functions over one partitioning and order: the input's columns, then one per function.
public final class WindowedRows extends SingleRel {
  /// Columns of a frame bound with an offset in RANGE mode.
  public record BoundColumns(int key, int limit) {
    public static final BoundColumns NONE = new BoundColumns(-1, -1);

    private BoundColumns moved(int[] to) {
      return key < 0 ? this : new BoundColumns(to[key], to[limit]);
    }
  }

  /// A function; columns are the input's.
  ///
  /// @param ignoresNulls whether it leaves out rows whose first argument is null
  /// @param own the aggregate of a native application; null: the name finds it
  public record Call(
      String name,
      List<Integer> arguments,
      int[] argumentOids,
      boolean aggregate,
      boolean ignoresNulls,
      int filter,
      WindowFrame frame,
      BoundColumns start,
      BoundColumns end,
      RelDataType type,
      @Nullable AggregateFunction own) {
    private Call moved(int[] to) {
      return new Call(
          name,
          arguments.stream().map(column -> to[column]).toList(),
          argumentOids,
          aggregate,
          ignoresNulls,
          filter < 0 ? -1 : to[filter],
          frame,
          start.moved(to),
          end.moved(to),
          type,
          own);
    }
  }

  final List<Integer> partition;
  final List<SortOrder> order;
  public final List<Call> calls;

  private WindowedRows(
      RelNode input,
      List<Integer> partition,
      List<SortOrder> order,
      List<Call> calls,
      RelDataType rowType) {
    super(input.getCluster(), input.getTraitSet(), input);
    this.partition = partition;
    this.order = order;
    this.calls = calls;
    this.rowType = rowType;
  }

  public static WindowedRows of(
      RelNode input, List<Integer> partition, List<SortOrder> order, List<Call> calls) {
    RelDataTypeFactory types = input.getCluster().getTypeFactory();
    List<RelDataType> fieldTypes = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (RelDataTypeField field : input.getRowType().getFieldList()) {
      fieldTypes.add(field.getType());
      names.add(field.getName());
    }
    for (Call call : calls) {
      fieldTypes.add(call.type());
      names.add("window" + names.size());
    }
    return new WindowedRows(
        input, partition, order, calls, types.createStructType(fieldTypes, names));
  }

  /// Input columns that the functions read.
  public ImmutableBitSet inputColumns() {
    ImmutableBitSet.Builder used = ImmutableBitSet.builder();
    partition.forEach(used::set);
    order.forEach(key -> used.set(key.column()));
    for (Call call : calls) {
      call.arguments.forEach(used::set);
      for (int column :
          List.of(call.filter, call.start.key, call.start.limit, call.end.key, call.end.limit)) {
        if (column >= 0) {
          used.set(column);
        }
      }
    }
    return used.build();
  }

  /// The same over an input whose column i is `to[i]`.
  public WindowedRows moved(RelNode input, int[] to) {
    return of(
        input,
        partition.stream().map(column -> to[column]).toList(),
        order.stream()
            .map(key -> new SortOrder(to[key.column()], key.descending(), key.nullsFirst()))
            .toList(),
        calls.stream().map(call -> call.moved(to)).toList());
  }

  public PlanNode.Window plan(PlanNode input) {
    List<PlanNode.WindowCall> planned = new ArrayList<>();
    int[] inputOids = input.typeOids();
    int[] oids = Arrays.copyOf(inputOids, inputOids.length + calls.size());
    for (Call call : calls) {
      int oid = PgType.of(call.type).oid();
      oids[inputOids.length + planned.size()] = oid;
      planned.add(
          new PlanNode.WindowCall(
              call.name,
              call.arguments.stream().mapToInt(Integer::intValue).toArray(),
              call.argumentOids,
              call.aggregate,
              call.ignoresNulls,
              call.filter,
              new PlanNode.Frame(
                  call.frame.mode(),
                  bound(call.frame.start(), call.start),
                  bound(call.frame.end(), call.end),
                  call.frame.exclusion()),
              oid,
              call.own));
    }
    return new PlanNode.Window(
        input,
        partition.stream().mapToInt(Integer::intValue).toArray(),
        order.stream()
            .map(key -> new PlanNode.SortKey(key.column(), key.descending(), key.nullsFirst()))
            .toList(),
        planned,
        oids);
  }

  private static PlanNode.FrameBound bound(WindowFrame.Bound bound, BoundColumns columns) {
    @Nullable RexNode offset = bound.offset();
    @Nullable RexNode negative = bound.negative();
    return new PlanNode.FrameBound(
        bound.kind(),
        offset == null ? null : ExprTranslator.translate(offset),
        negative == null ? null : ExprTranslator.translate(negative),
        columns.key,
        columns.limit);
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return new WindowedRows(
        inputs.getFirst(), partition, order, calls, Objects.requireNonNull(rowType));
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer)
        .item("partition", partition)
        .item("order", order)
        .item("calls", calls);
  }
}
