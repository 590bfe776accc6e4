package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.catalog.Table;
import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.metadata.RelMetadataQuery;

/// A random sample of a table's rows, with all columns.
public final class SampledRows extends AbstractRelNode {
  final CatalogTable source;
  public final Sample sample;

  public SampledRows(RelOptCluster cluster, CatalogTable source, Sample sample) {
    super(cluster, cluster.traitSetOf(Convention.NONE));
    this.source = source;
    this.sample = sample;
    this.rowType = source.getRowType();
  }

  public Table table() {
    return source.table();
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return this;
  }

  @Override
  public double estimateRowCount(RelMetadataQuery query) {
    return source.getRowCount() * sample.fraction();
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    // Two samples of one table are not the same rows.
    return super.explainTerms(writer)
        .item("table", source.getQualifiedName())
        .item("sample", sample)
        .item("id", getId());
  }
}
