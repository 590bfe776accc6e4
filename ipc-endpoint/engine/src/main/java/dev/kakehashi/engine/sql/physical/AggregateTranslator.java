package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.PgOperators.AggregateOperator;
import dev.kakehashi.engine.sql.algebra.PgOperators.AggregateOrder;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;

/// Turns an aggregation into a plan; one with several grouping sets groups by the number of the set, too, over an input that has each row
/// once per set.
final class AggregateTranslator {
  private final Aggregate aggregate;
  private final PlanNode input;
  private final int[] keys;
  private final boolean simple;

  /// Where the input's columns begin in what is aggregated.
  private final int shift;

  AggregateTranslator(Aggregate aggregate, PlanNode input) {
    this.aggregate = aggregate;
    this.input = input;
    this.keys = aggregate.getGroupSet().toArray();
    this.simple = aggregate.getGroupType() == Aggregate.Group.SIMPLE;
    this.shift = simple ? 0 : keys.length + 1;
  }

  PlanNode translate() {
    int[] inputOids = input.typeOids();
    int keyCount = simple ? keys.length : keys.length + 1;
    List<PlanNode.AggregateCall> calls = new ArrayList<>();
    List<Expr> output = new ArrayList<>();
    for (int key : keys) {
      output.add(new Expr.Column(output.size(), inputOids[key]));
    }
    boolean computed = !simple;
    for (AggregateCall call : aggregate.getAggCallList()) {
      SqlKind kind = call.getAggregation().getKind();
      if (kind == SqlKind.LITERAL_AGG) {
        // The same constant in every group; made by Calcite for IN.
        output.add(ExprTranslator.translate(call.rexList.getFirst()));
        computed = true;
      } else if (kind == SqlKind.GROUPING) {
        output.add(grouping(call.getArgList()));
        computed = true;
      } else {
        output.add(new Expr.Column(keyCount + calls.size(), PgType.of(call.getType()).oid()));
        calls.add(call(call, inputOids));
      }
    }
    PlanNode plan = simple ? grouped(inputOids, calls) : expanded(inputOids, calls);
    return computed ? new PlanNode.Project(plan, output) : plan;
  }

  /// As PostgreSQL calls the function.
  static String name(AggregateCall call) {
    return call.getAggregation() instanceof AggregateOperator operator
        ? operator.aggregate.name()
        : call.getAggregation().getName().toLowerCase(Locale.ROOT);
  }

  private PlanNode.AggregateCall call(AggregateCall call, int[] inputOids) {
    List<SortKey> order = new ArrayList<>();
    int count = call.getArgList().size();
    if (call.getAggregation() instanceof AggregateOperator operator) {
      count -= operator.order.size();
      for (int i = 0; i < operator.order.size(); i++) {
        AggregateOrder key = operator.order.get(i);
        order.add(
            new SortKey(
                call.getArgList().get(count + i) + shift, key.descending(), key.nullsFirst()));
      }
    }
    if (call.getAggregation().getKind() == SqlKind.COUNT && count > 1) {
      // Calcite's, of rows without nulls: with them it takes a row that differs in another entry
      // for unknown.
      throw ExprTranslator.unsupported(
          "IN of rows and a query, other than as a condition that has to be true,");
    }
    int[] arguments =
        call.getArgList().subList(0, count).stream().mapToInt(Integer::intValue).toArray();
    int[] oids = new int[arguments.length];
    for (int i = 0; i < oids.length; i++) {
      oids[i] = inputOids[arguments[i]];
      arguments[i] += shift;
    }
    String name = name(call);
    AggregateFunction own = null;
    if (call.getAggregation() instanceof AggregateOperator operator) {
      oids = operator.aggregate.argumentOids();
      own = operator.aggregate.isOfApplication() ? operator.aggregate : null;
    }
    for (RelFieldCollation field : call.getCollation().getFieldCollations()) {
      order.add(
          new SortKey(
              field.getFieldIndex() + shift,
              field.getDirection().isDescending(),
              field.nullDirection == RelFieldCollation.NullDirection.FIRST));
    }
    return new PlanNode.AggregateCall(
        name,
        arguments,
        oids,
        call.isDistinct(),
        call.filterArg < 0 ? -1 : call.filterArg + shift,
        PgType.of(call.getType()).oid(),
        order,
        own);
  }

  private PlanNode grouped(int[] inputOids, List<PlanNode.AggregateCall> calls) {
    int[] oids = new int[keys.length];
    for (int i = 0; i < oids.length; i++) {
      oids[i] = inputOids[keys[i]];
    }
    return new PlanNode.Aggregate(input, keys, calls, typeOids(oids, calls));
  }

  private PlanNode expanded(int[] inputOids, List<PlanNode.AggregateCall> calls) {
    List<ImmutableBitSet> groupSets = aggregate.getGroupSets();
    boolean[][] sets = new boolean[groupSets.size()][keys.length];
    int[] empty = new int[groupSets.size()];
    int empties = 0;
    for (int s = 0; s < sets.length; s++) {
      for (int k = 0; k < keys.length; k++) {
        sets[s][k] = groupSets.get(s).get(keys[k]);
      }
      if (groupSets.get(s).isEmpty()) {
        empty[empties++] = s;
      }
    }
    int[] groupKeys = new int[keys.length + 1];
    int[] oids = new int[groupKeys.length];
    for (int i = 0; i < groupKeys.length; i++) {
      groupKeys[i] = i;
      oids[i] = i < keys.length ? inputOids[keys[i]] : TypeOid.INT4;
    }
    return new PlanNode.Aggregate(
        new PlanNode.Expand(input, keys, sets),
        groupKeys,
        calls,
        typeOids(oids, calls),
        Arrays.copyOf(empty, empties));
  }

  private static int[] typeOids(int[] keyOids, List<PlanNode.AggregateCall> calls) {
    int[] oids = Arrays.copyOf(keyOids, keyOids.length + calls.size());
    for (int i = 0; i < calls.size(); i++) {
      oids[keyOids.length + i] = calls.get(i).typeOid();
    }
    return oids;
  }

  /// The bits of GROUPING by the number of the set.
  private Expr grouping(List<Integer> arguments) {
    if (simple) {
      return Expr.Constant.of(TypeOid.INT8, 0);
    }
    Expr number = new Expr.Column(keys.length, TypeOid.INT4);
    List<Expr> conditions = new ArrayList<>();
    List<Expr> values = new ArrayList<>();
    for (int s = 0; s < aggregate.getGroupSets().size(); s++) {
      long bits = 0;
      for (int argument : arguments) {
        bits = bits << 1 | (aggregate.getGroupSets().get(s).get(argument) ? 0 : 1);
      }
      int[] oids = {TypeOid.INT4, TypeOid.INT4};
      conditions.add(
          new Expr.Call(
              Objects.requireNonNull(Functions.resolve("=", oids)),
              List.of(number, Expr.Constant.of(TypeOid.INT4, s))));
      values.add(Expr.Constant.of(TypeOid.INT8, bits));
    }
    return new Expr.Case(TypeOid.INT8, conditions, values, Expr.Constant.nullOf(TypeOid.INT8));
  }
}
