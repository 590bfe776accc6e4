package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.PlanNode.LockWait;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.SingleRel;

/// SELECT ... FOR UPDATE: rows of the input, which has row identifiers of the tables to lock.
public final class LockedRows extends SingleRel {
  /// @param column of the input with the row identifier
  public record Lock(Table table, int column) {}

  public final List<Lock> locks;
  public final LockWait policy;

  /// Whether it is FOR UPDATE of a query around it that locks the rows.
  public final boolean inherited;

  public LockedRows(RelNode input, List<Lock> locks, LockWait policy, boolean inherited) {
    super(input.getCluster(), input.getTraitSet(), input);
    this.inherited = inherited;
    this.locks = List.copyOf(locks);
    this.policy = policy;
  }

  @Override
  public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
    return new LockedRows(inputs.getFirst(), locks, policy, inherited);
  }

  @Override
  public RelWriter explainTerms(RelWriter writer) {
    return super.explainTerms(writer)
        .item("locks", locks)
        .item("policy", policy)
        .item("inherited", inherited);
  }
}
