package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.Branches;
import dev.kakehashi.engine.sql.cost.CorrelationCost;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelVisitor;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.jspecify.annotations.Nullable;

/// Calls of a subquery that it computes from the outer row alone. Where the subquery becomes a join, these calls become columns of the
/// outer query, for all its rows. That includes rows from which a condition of the subquery on the outer row, or a branch of an expression,
/// keeps them: `(SELECT max(b) FROM u WHERE t.b <> 0 AND u.b > 10 / t.b)`.
final class OuterCalls {
  private final Branches branches;

  /// Conditions on the outer row alone.
  private int guards;

  /// Numbers of these conditions, one for each call that may fail: conditions in its filter that are not before it.
  private final List<Integer> guardsBehind = new ArrayList<>();

  private boolean inBranch;

  private OuterCalls(RexBuilder rex) {
    this.branches = new Branches(rex);
  }

  /// Whether the subquery may be without a value that would be an error for the row.
  static boolean mayBeLeftOut(Correlate correlate) {
    OuterCalls found = new OuterCalls(correlate.getCluster().getRexBuilder());
    new RelVisitor() {
      @Override
      public void visit(RelNode node, int ordinal, @Nullable RelNode parent) {
        found.collect(node);
        super.visit(node, ordinal, parent);
      }
    }.go(correlate.getRight());
    return found.inBranch || found.guardsBehind.stream().anyMatch(behind -> found.guards > behind);
  }

  private void collect(RelNode node) {
    if (node instanceof Filter filter) {
      int before = 0;
      List<Integer> failing = new ArrayList<>();
      for (RexNode term : RelOptUtil.conjunctions(filter.getCondition())) {
        if (mayFail(term)) {
          failing.add(before);
          inBranch |= failsInBranch(term);
        }
        before += CorrelationCost.isOuter(term) ? 1 : 0;
      }
      guards += before;
      for (int earlier : failing) {
        guardsBehind.add(before - earlier);
      }
      return;
    }
    node.accept(
        new RexShuttle() {
          @Override
          public RexNode visitCall(RexCall call) {
            if (mayFail(call)) {
              guardsBehind.add(0);
              inBranch |= failsInBranch(call);
            }
            return call;
          }
        });
  }

  /// Whether a call of outer columns alone in it may fail.
  private static boolean mayFail(RexNode node) {
    return CorrelationCost.isOuter(node)
        ? Failures.mayFail(node)
        : node instanceof RexCall call && call.getOperands().stream().anyMatch(OuterCalls::mayFail);
  }

  /// Whether such a call is in a branch of one that is not computed from the outer row alone.
  private boolean failsInBranch(RexNode node) {
    if (!(node instanceof RexCall call) || CorrelationCost.isOuter(call)) {
      return false;
    }
    for (int i = 0; i < call.getOperands().size(); i++) {
      RexNode operand = call.getOperands().get(i);
      if (mayFail(operand)
          && (failsInBranch(operand) || !branches.conditions(call, i, false).isEmpty())) {
        return true;
      }
    }
    return false;
  }
}
