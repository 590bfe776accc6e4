package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.vector.Interrupts;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.util.ImmutableBitSet;

/// Moves conditions that name queries further out below the subqueries that are evaluated by row, so that they are evaluated for the rows
/// that are left, and an index may find these. Calcite's rules leave such conditions where they are, for its decorrelator's sake.
final class OuterConditions {
  private OuterConditions() {}

  static RelNode push(RelNode rel) {
    return new RelHomogeneousShuttle() {
      @Override
      public RelNode visit(RelNode other) {
        Interrupts.check();
        return super.visit(other instanceof Filter filter ? pushed(filter) : other);
      }
    }.visit(rel);
  }

  private static RelNode pushed(Filter filter) {
    return switch (filter.getInput()) {
      case Correlate correlate -> pushed(filter, correlate);
      case Project project
          when RexUtil.containsCorrelation(filter.getCondition())
              && !project.containsOver()
              && project.getProjects().stream().allMatch(RexUtil::isDeterministic) ->
          project.copy(project.getTraitSet(), List.of(pushed(below(filter, project))));
      default -> filter;
    };
  }

  private static LogicalFilter below(Filter filter, Project project) {
    return LogicalFilter.create(
        project.getInput(), RelOptUtil.pushPastProject(filter.getCondition(), project));
  }

  private static RelNode pushed(Filter filter, Correlate correlate) {
    RelNode left = correlate.getLeft();
    ImmutableBitSet columns = ImmutableBitSet.range(left.getRowType().getFieldCount());
    List<RexNode> below = new ArrayList<>();
    List<RexNode> above = new ArrayList<>();
    for (RexNode term : RelOptUtil.conjunctions(filter.getCondition())) {
      boolean moves =
          RexUtil.containsCorrelation(term)
              && RexUtil.isDeterministic(term)
              && columns.contains(RelOptUtil.InputFinder.bits(term));
      (moves ? below : above).add(term);
    }
    if (below.isEmpty()) {
      return filter;
    }
    RexBuilder rex = filter.getCluster().getRexBuilder();
    RelNode narrowed = LogicalFilter.create(left, RexUtil.composeConjunction(rex, below));
    RelNode moved =
        correlate.copy(correlate.getTraitSet(), List.of(narrowed, correlate.getRight()));
    return above.isEmpty()
        ? moved
        : LogicalFilter.create(moved, RexUtil.composeConjunction(rex, above));
  }
}
