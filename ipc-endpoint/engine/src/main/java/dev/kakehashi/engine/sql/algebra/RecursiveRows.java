package dev.kakehashi.engine.sql.algebra;

import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexVisitorImpl;
import org.jspecify.annotations.Nullable;

/// WITH RECURSIVE. A leaf to Calcite's rules: its terms are optimised on their own, when it is known what columns of queries around it have
/// become.
public final class RecursiveRows extends AbstractRelNode {
  private static final double ROWS = 1000;

  private final RelNode anchor;
  private final RelNode step;

  /// Columns of queries around it that the terms name.
  private final List<RexNode> named;

  /// Expressions that these columns have become, in the same order.
  private final List<RexNode> outer;

  public final boolean all;
  public final int number;

  /// @param number of the work table that `step` reads
  public RecursiveRows(RelNode anchor, RelNode step, boolean all, int number, RelDataType rowType) {
    this(anchor, step, OuterColumns.of(anchor, step), null, all, number, rowType);
  }

  private RecursiveRows(
      RelNode anchor,
      RelNode step,
      List<RexNode> named,
      @Nullable List<RexNode> outer,
      boolean all,
      int number,
      RelDataType rowType) {
    super(anchor.getCluster(), anchor.getCluster().traitSetOf(Convention.NONE));
    this.rowType = rowType;
    this.anchor = anchor;
    this.step = step;
    this.named = named;
    this.outer = outer == null ? named : outer;
    this.all = all;
    this.number = number;
  }

  public RelNode anchor() {
    return OuterColumns.replaced(anchor, named, outer);
  }

  public RelNode step() {
    return OuterColumns.replaced(step, named, outer);
  }

  /// Whether it depends on a row of a query around it.
  public boolean isCorrelated() {
    return !outer.isEmpty();
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return this;
  }

  @Override
  public RelNode accept(RexShuttle shuttle) {
    List<RexNode> changed = shuttle.apply(outer);
    return changed.equals(outer)
        ? this
        : new RecursiveRows(anchor, step, named, changed, all, number, getRowType());
  }

  @Override
  public void collectVariablesUsed(Set<CorrelationId> variables) {
    for (RexNode column : outer) {
      column.accept(
          new RexVisitorImpl<@Nullable Void>(true) {
            @Override
            public @Nullable Void visitCorrelVariable(RexCorrelVariable variable) {
              variables.add(variable.id);
              return null;
            }
          });
    }
  }

  @Override
  public double estimateRowCount(RelMetadataQuery metadata) {
    return ROWS;
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer).item("recursion", number).item("outer", outer);
  }
}
