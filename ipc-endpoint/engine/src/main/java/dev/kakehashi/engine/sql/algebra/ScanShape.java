package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.PlanNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

/// A scan with column choice and filters over it, in whatever order they stand.
///
/// @param columns of the table that are output
/// @param conjuncts over the output columns
public record ScanShape(Table table, int[] columns, List<RexNode> conjuncts) {
  public static @Nullable ScanShape of(RelNode rel, RexBuilder rex) {
    return switch (rel) {
      case TableScan scan -> {
        Table table = ((CatalogTable) scan.getTable()).table();
        int[] columns = new int[scan.getRowType().getFieldCount()];
        for (int i = 0; i < columns.length; i++) {
          columns[i] = i < table.columns().size() ? i : PlanNode.ROW_ID;
        }
        yield new ScanShape(table, columns, List.of());
      }
      case Filter filter -> {
        ScanShape below = of(filter.getInput(), rex);
        if (below == null) {
          yield null;
        }
        List<RexNode> conjuncts = new ArrayList<>(below.conjuncts);
        conjuncts.addAll(RelOptUtil.conjunctions(filter.getCondition()));
        yield new ScanShape(below.table, below.columns, conjuncts);
      }
      case Project project -> projected(project, rex);
      default -> null;
    };
  }

  private static @Nullable ScanShape projected(Project project, RexBuilder rex) {
    ScanShape below = of(project.getInput(), rex);
    if (below == null || !below.conjuncts.isEmpty()) {
      return null;
    }
    int[] columns = new int[project.getProjects().size()];
    for (int i = 0; i < columns.length; i++) {
      if (!(project.getProjects().get(i) instanceof RexInputRef reference)) {
        return null;
      }
      columns[i] = below.columns[reference.getIndex()];
      if (columns[i] == PlanNode.ROW_ID && i < columns.length - 1) {
        return null;
      }
    }
    return new ScanShape(below.table, columns, List.of());
  }
}
