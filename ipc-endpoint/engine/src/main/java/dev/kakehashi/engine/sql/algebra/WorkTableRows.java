package dev.kakehashi.engine.sql.algebra;

import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rel.type.RelDataType;
import org.jspecify.annotations.Nullable;

/// Rows that were made before and are known by a number: those of a recursion's step before, of a query of WITH, or what a statement of
/// WITH returns.
public final class WorkTableRows extends AbstractRelNode {
  private static final double ROWS_OF_A_STEP = 100;

  public final int number;

  /// The query of WITH, or null.
  final @Nullable RelNode common;

  private final double rows;

  public WorkTableRows(RelOptCluster cluster, RelDataType rowType, int number) {
    this(cluster, rowType, number, ROWS_OF_A_STEP);
  }

  /// @param rows that are expected
  public WorkTableRows(RelOptCluster cluster, RelDataType rowType, int number, double rows) {
    this(cluster, rowType, number, rows, null);
  }

  /// Rows of a query of WITH.
  public WorkTableRows(RelNode common, int number) {
    this(
        common.getCluster(),
        common.getRowType(),
        number,
        common.getCluster().getMetadataQuery().getRowCount(common),
        common);
  }

  private WorkTableRows(
      RelOptCluster cluster,
      RelDataType rowType,
      int number,
      double rows,
      @Nullable RelNode common) {
    super(cluster, cluster.traitSetOf(Convention.NONE));
    this.rowType = rowType;
    this.number = number;
    this.rows = rows;
    this.common = common;
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return this;
  }

  @Override
  public double estimateRowCount(RelMetadataQuery metadata) {
    return rows;
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer).item("number", number);
  }
}
