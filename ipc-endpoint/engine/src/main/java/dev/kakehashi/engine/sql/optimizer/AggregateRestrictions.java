package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.ColumnOrigin;
import dev.kakehashi.engine.sql.algebra.JoinSides;
import dev.kakehashi.engine.sql.cardinality.RowEstimates;
import dev.kakehashi.engine.sql.cost.RestrictingKeys;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// A grouping that is joined by its group with few rows of a table reads only what belongs to these rows ("magic sets"; Mumick et al.
/// 1990): in `part JOIN (SELECT l_partkey, avg(l_quantity) FROM lineitem GROUP BY 1) ON p_partkey = l_partkey WHERE p_brand = ...`, which
/// is also what a correlated subquery becomes, the grouping's input is joined with the keys of the chosen parts first. These are read
/// twice.
final class AggregateRestrictions {
  /// One that leaves more of the groups than this is not worth its join.
  private static final double WORTHWHILE = 0.2;

  private final RexBuilder rex;
  private final RowEstimates estimates = new RowEstimates();
  private boolean found;

  private AggregateRestrictions(RexBuilder rex) {
    this.rex = rex;
  }

  /// Adds the joins; the same relation if there are none.
  static RelNode add(RelNode rel) {
    AggregateRestrictions restrictions =
        new AggregateRestrictions(rel.getCluster().getRexBuilder());
    RelNode added = JoinSides.rewrite(rel, restrictions::restrict);
    return restrictions.found ? added : rel;
  }

  private RelNode restrict(Join join) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    RelNode left = join.getLeft();
    RelNode right = join.getRight();
    for (RexNode term : RelOptUtil.conjunctions(join.getCondition())) {
      if (!(term instanceof RexCall call)
          || call.getKind() != SqlKind.EQUALS
          || !(call.getOperands().get(0) instanceof RexInputRef a)
          || !(call.getOperands().get(1) instanceof RexInputRef b)
          || (a.getIndex() < leftCount) == (b.getIndex() < leftCount)) {
        continue;
      }
      boolean leftFirst = a.getIndex() < leftCount;
      int ofLeft = (leftFirst ? a : b).getIndex();
      int ofRight = (leftFirst ? b : a).getIndex() - leftCount;
      if (join.getJoinType() != JoinRelType.RIGHT && join.getJoinType() != JoinRelType.FULL) {
        right = restricted(right, ofRight, RestrictingKeys.of(left, ofLeft, rex), call, leftFirst);
      }
      if (join.getJoinType() == JoinRelType.RIGHT || join.getJoinType() == JoinRelType.INNER) {
        left = restricted(left, ofLeft, RestrictingKeys.of(right, ofRight, rex), call, !leftFirst);
      }
    }
    return join.copy(join.getTraitSet(), List.of(left, right));
  }

  /// The relation with the grouping in it restricted whose group the column is, if there is one and it is worth it.
  ///
  /// @param equality of the column with the keys'
  /// @param keysFirst whether the keys' side comes first in it
  private RelNode restricted(
      RelNode rel,
      int column,
      @Nullable RestrictingKeys keys,
      RexCall equality,
      boolean keysFirst) {
    if (keys == null) {
      return rel;
    }
    return switch (rel) {
      case Filter filter ->
          RelOptUtil.replaceInput(
              rel, 0, restricted(filter.getInput(), column, keys, equality, keysFirst));
      case Project project ->
          project.containsOver()
                  || !(project.getProjects().get(column) instanceof RexInputRef reference)
              ? rel
              : RelOptUtil.replaceInput(
                  rel,
                  0,
                  restricted(project.getInput(), reference.getIndex(), keys, equality, keysFirst));
      case Join join -> ofJoin(join, column, keys, equality, keysFirst);
      case Aggregate aggregate -> ofGroup(aggregate, column, keys, equality, keysFirst);
      default -> rel;
    };
  }

  private RelNode ofJoin(
      Join join, int column, RestrictingKeys keys, RexCall equality, boolean keysFirst) {
    int leftCount = join.getLeft().getRowType().getFieldCount();
    if (column < leftCount) {
      return join.getJoinType().canPushLeftFromAbove()
          ? RelOptUtil.replaceInput(
              join, 0, restricted(join.getLeft(), column, keys, equality, keysFirst))
          : join;
    }
    return join.getJoinType().canPushRightFromAbove()
        ? RelOptUtil.replaceInput(
            join, 1, restricted(join.getRight(), column - leftCount, keys, equality, keysFirst))
        : join;
  }

  private RelNode ofGroup(
      Aggregate aggregate, int column, RestrictingKeys keys, RexCall equality, boolean keysFirst) {
    if (aggregate.getGroupType() != Aggregate.Group.SIMPLE || column >= aggregate.getGroupCount()) {
      return aggregate;
    }
    RelNode input = aggregate.getInput();
    int group = aggregate.getGroupSet().nth(column);
    ColumnOrigin origin = ColumnOrigin.of(input, group);
    double left =
        origin == null
            ? 1
            : estimates.getRowCount(keys.rel())
                / Math.max(1, Math.max(origin.distinct(), keys.origin().distinct()));
    double saved = estimates.getRowCount(input) * (1 - left);
    if (left > WORTHWHILE || saved < keys.cost()) {
      return aggregate;
    }
    found = true;
    RelNode values = values(keys);
    RexNode key = rex.makeInputRef(values, 0);
    RexNode member =
        rex.makeInputRef(input.getRowType().getFieldList().get(group).getType(), 1 + group);
    RelNode joined =
        LogicalJoin.create(
            values,
            input,
            List.of(),
            equality.clone(
                equality.getType(), keysFirst ? List.of(key, member) : List.of(member, key)),
            Set.of(),
            JoinRelType.INNER);
    RelNode chosen =
        LogicalProject.create(
            joined,
            List.of(),
            rex.identityProjects(joined.getRowType())
                .subList(1, joined.getRowType().getFieldCount()),
            input.getRowType().getFieldNames(),
            Set.of());
    return aggregate.copy(aggregate.getTraitSet(), List.of(chosen));
  }

  /// The distinct values of the keys.
  private RelNode values(RestrictingKeys keys) {
    RelNode column =
        LogicalProject.create(
            keys.rel(),
            List.of(),
            List.of(rex.makeInputRef(keys.rel(), keys.column())),
            List.of("key"),
            Set.of());
    return keys.origin().isUnique()
        ? column
        : LogicalAggregate.create(column, List.of(), ImmutableBitSet.of(0), null, List.of());
  }
}
