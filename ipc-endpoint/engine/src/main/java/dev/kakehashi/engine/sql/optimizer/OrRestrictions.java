package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.JoinSides;
import dev.kakehashi.engine.sql.cardinality.Selectivity;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;

/// Restrictions of one side of a join by a disjunction over both sides, as a filter of that side: from
/// `(a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4)` follow `a.x = 1 OR a.x = 3` and `b.y = 2 OR b.y = 4`. The condition of the join stays.
/// PostgreSQL's `extract_restriction_or_clauses`.
final class OrRestrictions {
  private final RexBuilder rex;
  private boolean found;

  private OrRestrictions(RexBuilder rex) {
    this.rex = rex;
  }

  /// Adds the filters; the same relation if there are none.
  static RelNode add(RelNode rel) {
    OrRestrictions restrictions = new OrRestrictions(rel.getCluster().getRexBuilder());
    RelNode added = JoinSides.rewrite(rel, restrictions::restrict);
    return restrictions.found ? added : rel;
  }

  private RelNode restrict(Join join) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    int count = leftCount + join.getRight().getRowType().getFieldCount();
    RelNode left = join.getLeft();
    RelNode right = join.getRight();
    for (RexNode term : RelOptUtil.conjunctions(join.getCondition())) {
      if (term.getKind() != SqlKind.OR || !RexUtil.isDeterministic(term)) {
        continue;
      }
      if (join.getJoinType().canPushLeftFromWithin()) {
        left = filtered(left, restriction(term, ImmutableBitSet.range(leftCount), 0));
      }
      if (join.getJoinType().canPushRightFromWithin()) {
        right =
            filtered(right, restriction(term, ImmutableBitSet.range(leftCount, count), leftCount));
      }
    }
    return withInputs(join, left, right);
  }

  @SuppressWarnings("ReferenceEquality") // unchanged inputs are the same objects
  private static RelNode withInputs(Join join, RelNode left, RelNode right) {
    return left == join.getLeft() && right == join.getRight()
        ? join
        : join.copy(join.getTraitSet(), List.of(left, right));
  }

  /// Restriction of the columns by the disjunction, where they are numbered from 0; TRUE if there is none.
  private RexNode restriction(RexNode disjunction, ImmutableBitSet columns, int first) {
    List<RexNode> alternatives = new ArrayList<>();
    for (RexNode alternative : RelOptUtil.disjunctions(disjunction)) {
      List<RexNode> terms = new ArrayList<>();
      for (RexNode term : RelOptUtil.conjunctions(alternative)) {
        ImmutableBitSet used = RelOptUtil.InputFinder.bits(term);
        RexNode part =
            term.getKind() == SqlKind.OR
                ? restriction(term, columns, 0)
                : !used.isEmpty() && columns.contains(used) ? term : rex.makeLiteral(true);
        if (!part.isAlwaysTrue()) {
          terms.add(part);
        }
      }
      if (terms.isEmpty()) {
        return rex.makeLiteral(true);
      }
      alternatives.add(RexUtil.composeConjunction(rex, terms));
    }
    return RexUtil.shift(RexUtil.composeDisjunction(rex, alternatives), -first);
  }

  /// The relation with the filter, which goes as far down through joins as its columns let it, and then further for what it says of a part
  /// of them.
  private RelNode filtered(RelNode rel, RexNode restriction) {
    if (restriction.isAlwaysTrue() || Selectivity.of(rel, restriction) > Selectivity.WORTHWHILE) {
      return rel;
    }
    if (rel instanceof Join join && join.getJoinType() != JoinRelType.FULL) {
      return belowJoin(join, restriction);
    }
    found = true;
    return LogicalFilter.create(rel, restriction);
  }

  private RelNode belowJoin(Join join, RexNode restriction) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    int count = join.getRowType().getFieldCount();
    RelNode left = join.getLeft();
    RelNode right = join.getRight();
    if (join.getJoinType().canPushLeftFromAbove()) {
      left = filtered(left, restriction(restriction, ImmutableBitSet.range(leftCount), 0));
    }
    if (join.getJoinType().canPushRightFromAbove()) {
      RexNode ofRight =
          restriction(
              restriction, ImmutableBitSet.range(leftCount, Math.max(leftCount, count)), leftCount);
      right = filtered(right, ofRight);
    }
    return withInputs(join, left, right);
  }
}
