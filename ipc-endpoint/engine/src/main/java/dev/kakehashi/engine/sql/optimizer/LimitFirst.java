package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.CountExpression;
import dev.kakehashi.engine.sql.algebra.GuardedRows;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.logical.LogicalSort;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Computes subqueries of a select list for the rows that LIMIT leaves only, as PostgreSQL does with what is expensive
/// (`make_sort_input_target`): where neither order nor number of the rows depends on them, rows are sorted and counted before they are
/// joined with the subqueries' values, and once more afterwards, because a join gives no order.
final class LimitFirst {
  private LimitFirst() {}

  /// Moves what can be moved; the same relation if there is nothing.
  static RelNode apply(RelNode rel) {
    return BottomUp.rewrite(
        rel, each -> each instanceof Sort sort && isMovable(sort) ? moved(sort) : each);
  }

  private static boolean isMovable(Sort sort) {
    // It is evaluated twice afterwards.
    RexNode count =
        sort.fetch instanceof CountExpression computed ? computed.expression : sort.fetch;
    return count != null && sort.offset == null && RexUtil.isDeterministic(count);
  }

  private static RelNode moved(Sort sort) {
    RelNode input = limited(sort.getInput(), sort, sort.getCollation());
    return input == null ? sort : sort.copy(sort.getTraitSet(), List.of(input));
  }

  /// The relation of which a sort's rows are made after they have been sorted and counted; null if that would not be the same.
  private static @Nullable RelNode limited(RelNode rel, Sort sort, RelCollation order) {
    return switch (rel) {
      case Project project -> {
        RelCollation below = project.containsOver() ? null : below(project, order);
        RelNode input = below == null ? null : limited(project.getInput(), sort, below);
        yield input == null ? null : project.copy(project.getTraitSet(), List.of(input));
      }
      case Correlate correlate when isScalar(correlate) && isOf(correlate.getLeft(), order) -> {
        RelNode left = correlate.getLeft();
        RelNode deeper = limited(left, sort, order);
        RelNode first = LogicalSort.create(deeper == null ? left : deeper, order, null, sort.fetch);
        yield correlate.copy(correlate.getTraitSet(), List.of(first, correlate.getRight()));
      }
      default -> null;
    };
  }

  private static @Nullable RelCollation below(Project project, RelCollation order) {
    List<RelFieldCollation> fields = new ArrayList<>();
    for (RelFieldCollation field : order.getFieldCollations()) {
      if (!(project.getProjects().get(field.getFieldIndex()) instanceof RexInputRef reference)) {
        return null;
      }
      fields.add(field.withFieldIndex(reference.getIndex()));
    }
    return RelCollations.of(fields);
  }

  private static boolean isOf(RelNode left, RelCollation order) {
    int columns = left.getRowType().getFieldCount();
    return order.getFieldCollations().stream().allMatch(field -> field.getFieldIndex() < columns);
  }

  /// Whether each row stays, once.
  private static boolean isScalar(Correlate correlate) {
    if (correlate.getJoinType() != JoinRelType.LEFT) {
      return false;
    }
    RelNode right = correlate.getRight();
    while (right instanceof Project || right instanceof GuardedRows) {
      right = right.getInput(0);
    }
    return right instanceof Aggregate aggregate
        && aggregate.getGroupSets().equals(List.of(ImmutableBitSet.of()));
  }
}
