package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.expr.Expr;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A whole statement, ready to run. Immutable and shared by its executions.
public sealed interface PhysicalPlan {
  /// Rows of a query go to the client.
  record Query(PlanNode root) implements PhysicalPlan {}

  /// Names that error messages show.
  ///
  /// @param columns names of all columns of the table
  /// @param notNull whether column i refuses null
  record Target(
      long tableId,
      String schema,
      String table,
      List<String> columns,
      int[] typeOids,
      boolean[] notNull) {}

  /// Inserts every row of the source, whose columns are all columns of the table in order, with their exact types
  /// (defaults and length checks are expressions of the source).
  ///
  /// @param returning over the inserted row; null: none
  /// @param skipDuplicatesOf unique indexes whose duplicates are left out instead of refused (ON CONFLICT DO NOTHING), by indexId
  record Insert(
      Target target, PlanNode source, @Nullable List<Expr> returning, Set<Long> skipDuplicatesOf)
      implements PhysicalPlan {
    /// An insert that refuses duplicates.
    public Insert(Target target, PlanNode source, @Nullable List<Expr> returning) {
      this(target, source, returning, Set.of());
    }
  }

  /// Scans `source` (a TableScan or IndexScan that outputs all columns of the table in order), and replaces each row by the values.
  ///
  /// @param values over the old row, one per column of the table, with its exact type
  /// @param returning over the new row; null: none
  record Update(Target target, PlanNode source, List<Expr> values, @Nullable List<Expr> returning)
      implements PhysicalPlan {}

  /// Scans `source` (a TableScan or IndexScan that outputs all columns of the table in order), and deletes each row.
  ///
  /// @param returning over the deleted row; null: none
  record Delete(Target target, PlanNode source, @Nullable List<Expr> returning)
      implements PhysicalPlan {}
}
