package dev.kakehashi.engine.sql.cost;

import dev.kakehashi.engine.sql.algebra.ColumnOrigin;
import dev.kakehashi.engine.sql.algebra.ScanShape;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexInputRef;
import org.jspecify.annotations.Nullable;

/// A column of a filtered table whose values restrict a grouping that it is joined with.
public record RestrictingKeys(RelNode rel, int column, ColumnOrigin origin) {
  /// The filtered table that a column comes from: it has all the column's values but null.
  public static @Nullable RestrictingKeys of(RelNode rel, int column, RexBuilder rex) {
    ScanShape shape = ScanShape.of(rel, rex);
    if (shape != null) {
      ColumnOrigin origin = ColumnOrigin.of(rel, column);
      return origin == null || shape.conjuncts().isEmpty() || shape.table().isSystem()
          ? null
          : new RestrictingKeys(rel, column, origin);
    }
    return switch (rel) {
      case Filter filter -> of(filter.getInput(), column, rex);
      case Project project ->
          project.getProjects().get(column) instanceof RexInputRef reference
              ? of(project.getInput(), reference.getIndex(), rex)
              : null;
      case Join join -> {
        int leftCount = join.getLeft().getRowType().getFieldCount();
        yield column < leftCount
            ? of(join.getLeft(), column, rex)
            : of(join.getRight(), column - leftCount, rex);
      }
      default -> null;
    };
  }

  /// Cost of reading the keys, in the unit of [JoinCost].
  public double cost() {
    return origin.tableRows() * JoinCost.READ_ROW;
  }
}
