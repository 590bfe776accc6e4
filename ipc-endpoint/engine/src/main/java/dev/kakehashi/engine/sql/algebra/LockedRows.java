package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.PlanNode.LockWait;
import dev.kakehashi.engine.store.api.LockStrength;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.SingleRel;

/// SELECT ... FOR UPDATE and its relatives: rows of the input, which has row identifiers of the tables to lock.
public final class LockedRows extends SingleRel {
  /// @param column of the input with the row identifier
  public record Lock(Table table, int column, LockStrength strength, LockWait policy) {}

  public final List<Lock> locks;

  /// Whether it is FOR UPDATE of a query around it that locks the rows.
  public final boolean inherited;

  public LockedRows(RelNode input, List<Lock> locks, boolean inherited) {
    super(input.getCluster(), input.getTraitSet(), input);
    this.inherited = inherited;
    this.locks = List.copyOf(locks);
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return new LockedRows(inputs.getFirst(), locks, inherited);
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer).item("locks", locks).item("inherited", inherited);
  }
}
