package dev.kakehashi.engine.sql.algebra;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;

/// VALUES: rows computed from expressions that name no columns.
public final class ExpressionRows extends AbstractRelNode {
  public final List<List<RexNode>> rows;

  public ExpressionRows(RelOptCluster cluster, RelDataType rowType, List<List<RexNode>> rows) {
    super(cluster, cluster.traitSetOf(Convention.NONE));
    this.rowType = rowType;
    this.rows = rows;
  }

  @Override
  public RelNode copy(org.apache.calcite.plan.RelTraitSet traitSet, List<RelNode> inputs) {
    return this;
  }

  /// Outer columns of a correlated subquery are replaced this way.
  @Override
  public RelNode accept(RexShuttle shuttle) {
    List<List<RexNode>> changed = new ArrayList<>();
    for (List<RexNode> row : rows) {
      changed.add(shuttle.apply(row));
    }
    return changed.equals(rows) ? this : new ExpressionRows(getCluster(), getRowType(), changed);
  }

  @Override
  public double estimateRowCount(RelMetadataQuery metadata) {
    return rows.size();
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer).item("type", rowType).item("rows", rows);
  }
}
