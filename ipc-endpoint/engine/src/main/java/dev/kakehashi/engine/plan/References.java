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
  /// @param referencing the table that has it, and its columns there
  /// @param referenced the table that is referenced, and the key there, column by column
  /// @param keyIndexId unique index over the key
  /// @param matchFull whether nulls come together only
  public record Rule(
      long constraintId,
      String name,
      Side referencing,
      Side referenced,
      long keyIndexId,
      Actions actions,
      boolean matchFull,
      ForeignKey.Timing timing)
      implements DeferrableConstraint {}

  /// Columns of a table that a foreign key compares.
  ///
  /// @param columns positions in the table, and names and types of the same columns
  public record Side(
      String schema,
      String table,
      long tableId,
      int[] columns,
      List<String> columnNames,
      int[] typeOids) {}

  /// Changes of rows that reference a key which changes or goes away.
  ///
  /// @param setColumns what SET NULL and SET DEFAULT set ON DELETE
  /// @param defaults one per column of the referencing side; empty unless an action sets them
  public record Actions(
      ForeignKey.Action onUpdate,
      ForeignKey.Action onDelete,
      Set<Integer> setColumns,
      List<Expr> defaults) {}

  /// Foreign keys of a table.
  public List<Rule> of(long tableId) {
    return rules.stream().filter(rule -> rule.referencing().tableId() == tableId).toList();
  }

  /// Foreign keys that reference a table.
  public List<Rule> to(long tableId) {
    return rules.stream().filter(rule -> rule.referenced().tableId() == tableId).toList();
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
    of(tableId).forEach(rule -> tables.changes().add(rule.referenced().tableId()));
    if (inserts) {
      return;
    }
    for (Rule rule : to(tableId)) {
      if (rule.actions().onDelete().changes() || rule.actions().onUpdate().changes()) {
        tables.changes().add(rule.referencing().tableId());
        touched(rule.referencing().tableId(), false, tables, seen);
      } else {
        tables.reads().add(rule.referencing().tableId());
      }
    }
  }
}
