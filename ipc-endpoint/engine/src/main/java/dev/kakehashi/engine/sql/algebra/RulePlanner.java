package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.vector.Interrupts;
import org.apache.calcite.plan.Contexts;
import org.apache.calcite.plan.RelOptCostFactory;
import org.apache.calcite.plan.hep.HepPlanner;
import org.apache.calcite.plan.hep.HepProgram;
import org.apache.calcite.rel.RelNode;
import org.jspecify.annotations.Nullable;

/// Applies rules, and ends with its statement: that is asked before each rule that fires and for each relation that comes to it.
///
/// Calcite's own flag is one bit that somebody has to set; a deadline and a transaction that ends are no such bit.
public final class RulePlanner extends HepPlanner {
  public RulePlanner(HepProgram program, RelOptCostFactory costs) {
    super(program, Contexts.empty(), true, null, costs);
  }

  @Override
  public void checkCancel() {
    Interrupts.check();
  }

  @Override
  public RelNode ensureRegistered(RelNode rel, @Nullable RelNode equivalent) {
    Interrupts.check();
    return super.ensureRegistered(rel, equivalent);
  }
}
