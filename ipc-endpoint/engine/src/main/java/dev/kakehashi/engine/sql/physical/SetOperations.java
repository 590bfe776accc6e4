package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Union;

/// UNION, INTERSECT and EXCEPT as groupings of all inputs' rows.
final class SetOperations {
  private final PlanTranslator plans;

  SetOperations(PlanTranslator plans) {
    this.plans = plans;
  }

  PlanNode union(Union union) {
    List<PlanNode> inputs = new ArrayList<>();
    for (RelNode input : union.getInputs()) {
      inputs.add(plans.translate(input));
    }
    PlanNode all = new PlanNode.UnionAll(inputs);
    if (union.all) {
      return all;
    }
    int[] keys = IntStream.range(0, all.typeOids().length).toArray();
    return new PlanNode.Aggregate(all, keys, List.of(), all.typeOids());
  }

  PlanNode counted(List<RelNode> inputs, boolean intersect, boolean all) {
    PlanNode result = plans.translate(inputs.getFirst());
    for (RelNode input : inputs.subList(1, inputs.size())) {
      PlanNode counted = counted(result, plans.translate(input));
      plans.expect(counted, PlanTranslator.rows(inputs.getFirst()));
      result = new PlanNode.SetOperation(counted, intersect, all);
    }
    return result;
  }

  /// The distinct rows of two inputs, and how often each is in the one and in the other.
  private static PlanNode counted(PlanNode left, PlanNode right) {
    int columns = left.typeOids().length;
    PlanNode both = new PlanNode.UnionAll(List.of(marked(left, 0), marked(right, 1)));
    int[] keys = IntStream.range(0, columns).toArray();
    int[] oids = Arrays.copyOf(left.typeOids(), columns + 2);
    List<PlanNode.AggregateCall> counts = new ArrayList<>();
    for (int side = 0; side < 2; side++) {
      oids[columns + side] = TypeOid.INT8;
      counts.add(
          new PlanNode.AggregateCall(
              "count",
              new int[] {columns + side},
              new int[] {TypeOid.INT4},
              false,
              -1,
              TypeOid.INT8));
    }
    return new PlanNode.Aggregate(both, keys, counts, oids);
  }

  /// The rows with two more columns: one that is not null if they come from the left, and one for the right.
  private static PlanNode marked(PlanNode input, int side) {
    List<Expr> output = new ArrayList<>();
    int[] oids = input.typeOids();
    for (int i = 0; i < oids.length; i++) {
      output.add(new Expr.Column(i, oids[i]));
    }
    for (int i = 0; i < 2; i++) {
      output.add(
          i == side ? Expr.Constant.of(TypeOid.INT4, 1) : Expr.Constant.nullOf(TypeOid.INT4));
    }
    return new PlanNode.Project(input, output);
  }
}
