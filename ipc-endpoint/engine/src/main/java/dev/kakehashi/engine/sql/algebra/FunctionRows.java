package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.type.RowFunction;
import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.AbstractRelNode;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.jspecify.annotations.Nullable;

/// Rows of a function in FROM; its arguments name no columns, but those of what is on the left of it.
public final class FunctionRows extends AbstractRelNode {
  /// Rows of a function whose arguments are not known, as PostgreSQL estimates.
  private static final double UNKNOWN_ROWS = 1000;

  /// Most rows that are kept for what they are joined to, not made anew for each of its rows.
  private static final double FEW_ROWS = 1000;

  public final RowFunction function;
  public final List<RexNode> arguments;

  /// Whether a second column numbers the rows from 1.
  public final boolean ordinality;

  public FunctionRows(
      RelOptCluster cluster,
      RelDataType rowType,
      RowFunction function,
      List<RexNode> arguments,
      boolean ordinality) {
    super(cluster, cluster.traitSetOf(Convention.NONE));
    this.rowType = rowType;
    this.function = function;
    this.arguments = arguments;
    this.ordinality = ordinality;
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return this;
  }

  @Override
  public RelNode accept(RexShuttle shuttle) {
    List<RexNode> changed = shuttle.apply(arguments);
    return changed.equals(arguments)
        ? this
        : new FunctionRows(getCluster(), getRowType(), function, changed, ordinality);
  }

  @Override
  public double estimateRowCount(RelMetadataQuery metadata) {
    if (function.body().rowEstimate() >= 0) {
      return Math.max(1, function.body().rowEstimate());
    }
    Double first = integer(0);
    Double last = integer(1);
    Double step = arguments.size() > 2 ? integer(2) : Double.valueOf(1);
    return first == null || last == null || step == null || step == 0
        ? UNKNOWN_ROWS
        : Math.max(1, Math.floor((last - first) / step) + 1);
  }

  /// Whether they are known to be so many that they are better made anew for each row that they are joined to.
  public boolean areMany() {
    return estimateRowCount(getCluster().getMetadataQuery()) > FEW_ROWS;
  }

  private @Nullable Double integer(int argument) {
    if (argument >= arguments.size()
        || !Comparison.isInteger(PgType.oidOf(arguments.get(argument)))) {
      return null;
    }
    Constant constant = Constant.of(arguments.get(argument));
    return constant == null || constant.isNull() ? null : (double) constant.word();
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer)
        .item("type", rowType)
        .item("function", function.name())
        .item("arguments", arguments)
        .item("ordinality", ordinality);
  }
}
