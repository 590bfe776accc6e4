package dev.kakehashi.engine.plan;

import java.util.HashSet;
import java.util.Set;

/// Tables of a plan.
///
/// @param reads scanned, by tableId
/// @param changes changed or locked
public record TouchedTables(Set<Long> reads, Set<Long> changes) {
  /// Tables of a statement without a plan.
  public static final TouchedTables NONE = new TouchedTables(Set.of(), Set.of());

  public static TouchedTables of(PhysicalPlan plan) {
    TouchedTables tables = new TouchedTables(new HashSet<>(), new HashSet<>());
    plan.parts().forEach(part -> tables.add(part.change()));
    tables.add(plan.body());
    return tables;
  }

  private void add(PhysicalPlan plan) {
    if (plan instanceof PhysicalPlan.Change change) {
      changes.add(change.target().tableId());
      References references = change.target().references();
      if (references != null) {
        boolean inserts = change instanceof PhysicalPlan.Insert insert && insert.conflict() == null;
        references.touched(change.target().tableId(), inserts, this);
      }
    }
    add(plan.source());
  }

  private void add(PlanNode node) {
    switch (node) {
      case PlanNode.TableScan scan -> reads.add(scan.tableId());
      case PlanNode.IndexScan scan -> reads.add(scan.tableId());
      case PlanNode.SampleScan scan -> reads.add(scan.tableId());
      case PlanNode.IdentityScan scan -> reads.add(scan.tableId());
      case PlanNode.LockRows lock -> lock.locks().forEach(each -> changes.add(each.tableId()));
      default -> {}
    }
    node.inputs().forEach(this::add);
  }
}
