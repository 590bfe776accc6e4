package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.expr.Expr;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Foreign keys that a statement may have to look at which changes a table: those of the table, those that reference it, and the same of
/// the tables that their actions change. Immutable.
///
/// @param targets of the tables that actions change, and the table itself, by tableId
/// @param rules in the order in which they are looked at
public record References(Map<Long, PhysicalPlan.Target> targets, List<Rule> rules) {
  /// One foreign key.
  ///
  /// @param constraintId number of the constraint
  /// @param tableId the table that has it
  /// @param columns its columns there
  /// @param typeOids of them
  /// @param referencedId the table that is referenced
  /// @param referencedColumns the key there, column by column
  /// @param referencedOids types of the key
  /// @param keyIndexId unique index over the key
  /// @param setColumns what SET NULL and SET DEFAULT set ON DELETE
  /// @param defaults one per column of `columns`; empty unless an action sets them
  public record Rule(
      long constraintId,
      String name,
      String schema,
      String table,
      long tableId,
      List<String> columnNames,
      int[] columns,
      int[] typeOids,
      String referencedTable,
      long referencedId,
      List<String> referencedNames,
      int[] referencedColumns,
      int[] referencedOids,
      long keyIndexId,
      ForeignKey.Action onUpdate,
      ForeignKey.Action onDelete,
      Set<Integer> setColumns,
      List<Expr> defaults,
      boolean matchFull,
      ForeignKey.Timing timing)
      implements DeferrableConstraint {}

  /// Foreign keys of a table.
  public List<Rule> of(long tableId) {
    return rules.stream().filter(rule -> rule.tableId() == tableId).toList();
  }

  /// Foreign keys that reference a table.
  public List<Rule> to(long tableId) {
    return rules.stream().filter(rule -> rule.referencedId() == tableId).toList();
  }

  /// Adds what a statement touches through foreign keys: rows that are referenced are locked, rows that reference what goes away are read
  /// or changed.
  ///
  /// @param inserts the statement only inserts rows
  void touched(long tableId, boolean inserts, TouchedTables tables) {
    touched(tableId, inserts, tables, new HashSet<>());
  }

  private void touched(long tableId, boolean inserts, TouchedTables tables, Set<Long> seen) {
    if (!seen.add(tableId)) {
      return;
    }
    of(tableId).forEach(rule -> tables.changes().add(rule.referencedId()));
    if (inserts) {
      return;
    }
    for (Rule rule : to(tableId)) {
      if (rule.onDelete().changes() || rule.onUpdate().changes()) {
        tables.changes().add(rule.tableId());
        touched(rule.tableId(), false, tables, seen);
      } else {
        tables.reads().add(rule.tableId());
      }
    }
  }
}
