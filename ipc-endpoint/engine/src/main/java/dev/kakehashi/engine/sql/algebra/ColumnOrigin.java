package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.statistics.ColumnStatistics;
import dev.kakehashi.engine.statistics.TableStatistics;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.rules.MultiJoin;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// The column of a table that a column of a relation is.
///
/// @param scan of the table, to tell two uses of it apart
/// @param column position in the table
public record ColumnOrigin(RelNode scan, CatalogTable table, int column) {
  /// PostgreSQL's DEFAULT_NUM_DISTINCT.
  public static final double DEFAULT_DISTINCT = 200;

  /// Null if the column is computed.
  public static @Nullable ColumnOrigin of(RelNode node, int index) {
    RelNode rel = node.stripped();
    return switch (rel) {
      case TableScan scan -> {
        CatalogTable table = (CatalogTable) scan.getTable();
        yield index < table.table().columns().size() ? new ColumnOrigin(scan, table, index) : null;
      }
      case Filter filter -> of(filter.getInput(), index);
      case Sort sort -> of(sort.getInput(), index);
      case LockedRows locked -> of(locked.getInput(), index);
      case Project project -> of(project.getInput(), project.getProjects().get(index));
      case Aggregate aggregate ->
          index < aggregate.getGroupCount()
              ? of(aggregate.getInput(), aggregate.getGroupSet().nth(index))
              : null;
      case Join join -> {
        int left = join.getLeft().getRowType().getFieldCount();
        yield index < left ? of(join.getLeft(), index) : of(join.getRight(), index - left);
      }
      case Correlate correlate -> {
        int left = correlate.getLeft().getRowType().getFieldCount();
        yield index < left
            ? of(correlate.getLeft(), index)
            : of(correlate.getRight(), index - left);
      }
      case MultiJoin join -> {
        int first = 0;
        int input = 0;
        while (index >= first + join.getInput(input).getRowType().getFieldCount()) {
          first += join.getInput(input++).getRowType().getFieldCount();
        }
        yield of(join.getInput(input), index - first);
      }
      case WorkTableRows rows -> rows.common == null ? null : of(rows.common, index);
      default -> null;
    };
  }

  /// Origin of an expression over a relation; null unless it is a column, perhaps under another type of the same form.
  public static @Nullable ColumnOrigin of(RelNode rel, RexNode expression) {
    int index = column(expression);
    return index < 0 ? null : of(rel, index);
  }

  /// Position of the column that an expression is; -1: it is none.
  public static int column(RexNode expression) {
    RexNode node = expression;
    while (node instanceof RexCall call
        && call.getOperator() instanceof PgOperators.RelabelOperator) {
      node = call.getOperands().getFirst();
    }
    return node instanceof RexInputRef reference ? reference.getIndex() : -1;
  }

  public @Nullable ColumnStatistics statistics() {
    TableStatistics statistics = table.statistics();
    return statistics == null ? null : statistics.columns().get(column);
  }

  /// Rows of the table.
  public double tableRows() {
    return table.getRowCount();
  }

  /// Whether the column alone is a key of the table.
  public boolean isUnique() {
    return table.isKey(ImmutableBitSet.of(column));
  }

  /// Distinct values in the table.
  public double distinct() {
    if (isUnique()) {
      return Math.max(1, tableRows());
    }
    ColumnStatistics statistics = statistics();
    double distinct = statistics == null ? 0 : statistics.distinctOf(tableRows());
    return Math.max(1, distinct > 0 ? distinct : Math.min(DEFAULT_DISTINCT, tableRows()));
  }

  public double nullFraction() {
    ColumnStatistics statistics = statistics();
    return statistics == null ? 0 : statistics.nullFraction();
  }
}
