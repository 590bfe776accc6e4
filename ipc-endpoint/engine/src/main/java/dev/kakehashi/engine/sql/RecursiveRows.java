package dev.kakehashi.engine.sql;

import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rel.type.RelDataType;

/// WITH RECURSIVE. A leaf to Calcite's rules: its terms are optimised on their own.
final class RecursiveRows extends AbstractRelNode {
  private static final double ROWS = 1000;

  final RelNode anchor;
  final RelNode step;
  final boolean all;
  final int number;

  /// @param number of the work table that `step` reads
  RecursiveRows(RelNode anchor, RelNode step, boolean all, int number, RelDataType rowType) {
    super(anchor.getCluster(), anchor.getCluster().traitSetOf(Convention.NONE));
    this.rowType = rowType;
    this.anchor = anchor;
    this.step = step;
    this.all = all;
    this.number = number;
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return this;
  }

  @Override
  public double estimateRowCount(RelMetadataQuery metadata) {
    return ROWS;
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer).item("recursion", number);
  }
}
