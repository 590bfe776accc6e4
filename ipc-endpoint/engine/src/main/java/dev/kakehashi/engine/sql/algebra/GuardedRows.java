package dev.kakehashi.engine.sql.algebra;

import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.SingleRel;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexShuttle;
import org.jspecify.annotations.Nullable;

/// The input's rows where a column of the outer row is true, and none where it is not, without a look at the input: a subquery that stands
/// where an expression may not come to, as in a branch of CASE.
///
/// It is below a [Correlate] with no more than filters and projects between them. Nothing is moved through it, and such a Correlate becomes
/// no join.
public final class GuardedRows extends SingleRel {
  /// The outer column.
  private final RexFieldAccess guard;

  public GuardedRows(RelNode input, RexFieldAccess guard) {
    super(input.getCluster(), input.getCluster().traitSetOf(Convention.NONE), input);
    this.guard = guard;
  }

  /// The guard of the right side of a Correlate; null: it has none.
  public static @Nullable GuardedRows of(Correlate correlate) {
    RelNode rel = correlate.getRight();
    while (rel instanceof Project || rel instanceof Filter) {
      rel = rel.getInput(0);
    }
    return rel instanceof GuardedRows guarded
            && guarded.variable().equals(correlate.getCorrelationId())
        ? guarded
        : null;
  }

  /// The right side of the Correlate without this guard of it.
  public RelNode opened(Correlate correlate) {
    return BottomUp.rewrite(correlate.getRight(), each -> each.equals(this) ? getInput() : each);
  }

  /// Place of the guard among the columns of the outer row.
  public int column() {
    return guard.getField().getIndex();
  }

  private CorrelationId variable() {
    return ((RexCorrelVariable) guard.getReferenceExpr()).id;
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return new GuardedRows(sole(inputs), guard);
  }

  @Override
  public RelNode accept(RexShuttle shuttle) {
    return guard.accept(shuttle) instanceof RexFieldAccess changed && !changed.equals(guard)
        ? new GuardedRows(getInput(), changed)
        : this;
  }

  @Override
  public void collectVariablesUsed(Set<CorrelationId> variables) {
    variables.add(variable());
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer).item("guard", guard);
  }
}
