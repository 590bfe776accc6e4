package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.FunctionRows;
import dev.kakehashi.engine.sql.algebra.JoinSides;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

/// Chooses how joins are run: index lookups, a hash table or a nested loop.
final class JoinTranslator {
  private final RexBuilder rex;
  private final PlanTranslator plans;

  JoinTranslator(RexBuilder rex, PlanTranslator plans) {
    this.rex = rex;
    this.plans = plans;
  }

  PlanNode translate(Join join) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    List<Integer> leftKeys = new ArrayList<>();
    List<Integer> rightKeys = new ArrayList<>();
    List<RexNode> rest = new ArrayList<>();
    for (RexNode conjunct : RelOptUtil.conjunctions(join.getCondition())) {
      if (!equiKey(conjunct, leftCount, leftKeys, rightKeys)) {
        rest.add(conjunct);
      }
    }
    JoinKind kind =
        switch (join.getJoinType()) {
          case INNER -> JoinKind.INNER;
          case LEFT -> JoinKind.LEFT;
          case RIGHT -> JoinKind.RIGHT;
          case FULL -> JoinKind.FULL;
          case SEMI -> JoinKind.SEMI;
          case ANTI -> JoinKind.ANTI;
          default -> throw ExprTranslator.unsupported("join " + join.getJoinType());
        };
    PlanNode lookups = IndexJoin.choose(join, kind, plans);
    if (lookups != null) {
      return lookups;
    }
    PlanNode left = plans.translate(join.getLeft());
    PlanNode right = plans.translate(join.getRight());
    if (leftKeys.isEmpty()) {
      return kind == JoinKind.INNER
              && rest.isEmpty()
              && join.getRight() instanceof FunctionRows rows
              && rows.areMany()
          // A nested loop would keep all its rows.
          ? new PlanNode.Correlate(left, right, kind, new int[0], plans.takeParameters(0))
          : new PlanNode.NestedLoopJoin(left, right, kind, condition(rest));
    }
    boolean symmetric =
        kind == JoinKind.INNER
            || kind == JoinKind.LEFT
            || kind == JoinKind.RIGHT
            || kind == JoinKind.FULL;
    if (symmetric && PlanTranslator.rows(join.getLeft()) < PlanTranslator.rows(join.getRight())) {
      return swapped(left, right, kind, leftKeys, rightKeys, rest);
    }
    return new PlanNode.HashJoin(
        left, right, kind, ints(leftKeys), ints(rightKeys), condition(rest));
  }

  /// The hash table is built from the right side, so the smaller one goes there.
  private PlanNode swapped(
      PlanNode left,
      PlanNode right,
      JoinKind kind,
      List<Integer> leftKeys,
      List<Integer> rightKeys,
      List<RexNode> rest) {
    int leftCount = left.typeOids().length;
    int rightCount = right.typeOids().length;
    JoinKind mirrored =
        kind == JoinKind.LEFT ? JoinKind.RIGHT : kind == JoinKind.RIGHT ? JoinKind.LEFT : kind;
    List<RexNode> condition =
        rest.stream().map(term -> JoinSides.swapped(term, leftCount, rightCount)).toList();
    PlanNode swapped =
        new PlanNode.HashJoin(
            right, left, mirrored, ints(rightKeys), ints(leftKeys), condition(condition));
    return JoinSides.swappedBack(swapped, leftCount, rightCount);
  }

  private static boolean equiKey(
      RexNode conjunct, int leftCount, List<Integer> leftKeys, List<Integer> rightKeys) {
    if (!(conjunct instanceof RexCall call)
        || call.getOperands().size() != 2
        || !(call.getOperands().get(0) instanceof RexInputRef a)
        || !(call.getOperands().get(1) instanceof RexInputRef b)) {
      return false;
    }
    boolean neverNull = !a.getType().isNullable() || !b.getType().isNullable();
    if (call.getKind() != SqlKind.EQUALS
        && !(call.getKind() == SqlKind.IS_NOT_DISTINCT_FROM && neverNull)) {
      return false;
    }
    RexInputRef left = a.getIndex() < leftCount ? a : b;
    RexInputRef right = a.getIndex() < leftCount ? b : a;
    if (left.getIndex() >= leftCount || right.getIndex() < leftCount) {
      return false;
    }
    leftKeys.add(left.getIndex());
    rightKeys.add(right.getIndex() - leftCount);
    return true;
  }

  private @Nullable Expr condition(List<RexNode> conjuncts) {
    RexNode all = RexUtil.composeConjunction(rex, conjuncts);
    return all.isAlwaysTrue() ? null : ExprTranslator.translate(all);
  }

  private static int[] ints(List<Integer> list) {
    return list.stream().mapToInt(Integer::intValue).toArray();
  }
}
