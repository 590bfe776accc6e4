package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.expr.Expr;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A whole statement, ready to run. Immutable and shared by its executions.
public sealed interface PhysicalPlan {
  /// Rows of a query go to the client.
  ///
  /// @param changes whether the query locks or changes rows: its rows go out when it has succeeded as a whole
  record Query(PlanNode root, boolean changes) implements PhysicalPlan {
    public Query(PlanNode root) {
      this(root, false);
    }
  }

  /// A statement that changes rows of one table.
  ///
  /// Where the source has a row identifier in column `rowIdColumn` (see [PlanNode#ROW_ID]), it may be any plan, and a row that comes again is
  /// left out; with -1 it is a TableScan or IndexScan that outputs all columns of the table in order.
  sealed interface Change extends PhysicalPlan {
    Target target();

    PlanNode source();

    /// Expressions over the columns of the changed row, followed by the columns of the source; null: none.
    @Nullable List<Expr> returning();
  }

  /// A change that does the same with every row of its source.
  sealed interface UniformChange extends Change {}

  /// Names that error messages show.
  ///
  /// @param columns names of all columns of the table
  /// @param notNull whether column i refuses null
  /// @param checks CHECK constraints, in the order in which they are looked at
  record Target(
      long tableId,
      String schema,
      String table,
      List<String> columns,
      int[] typeOids,
      boolean[] notNull,
      List<Check> checks) {
    /// A table without CHECK constraints.
    public Target(
        long tableId,
        String schema,
        String table,
        List<String> columns,
        int[] typeOids,
        boolean[] notNull) {
      this(tableId, schema, table, columns, typeOids, notNull, List.of());
    }
  }

  /// A CHECK constraint.
  ///
  /// @param condition over the columns of the table
  record Check(String name, Expr condition) {}

  /// Inserts every row of the source, whose columns are all columns of the table in order, with their exact types
  /// (defaults and length checks are expressions of the source).
  ///
  /// @param conflict what becomes of a row that exists; null: it is refused
  record Insert(
      Target target, PlanNode source, @Nullable List<Expr> returning, @Nullable OnConflict conflict)
      implements UniformChange {
    /// An insert that refuses duplicates.
    public Insert(Target target, PlanNode source, @Nullable List<Expr> returning) {
      this(target, source, returning, null);
    }
  }

  /// ON CONFLICT: expressions are over the columns of the row that exists, followed by those of the row that was to be inserted.
  ///
  /// @param arbiters unique indexes whose duplicates are meant, by indexId
  /// @param values one per column of the table; null: DO NOTHING
  /// @param condition of DO UPDATE, or null
  record OnConflict(Set<Long> arbiters, @Nullable List<Expr> values, @Nullable Expr condition) {}

  /// Replaces rows by the values.
  ///
  /// @param values over the source, one per column of the table, with its exact type
  record Update(
      Target target,
      PlanNode source,
      int rowIdColumn,
      List<Expr> values,
      @Nullable List<Expr> returning)
      implements UniformChange {
    /// An update of the rows of one scan.
    public Update(
        Target target, PlanNode source, List<Expr> values, @Nullable List<Expr> returning) {
      this(target, source, -1, values, returning);
    }
  }

  /// Deletes rows. The source begins with all columns of the table in order; they are the changed row of RETURNING.
  record Delete(Target target, PlanNode source, int rowIdColumn, @Nullable List<Expr> returning)
      implements UniformChange {}

  /// MERGE.
  ///
  /// @param actionColumn column of the source, an int4: number of the clause that the row is for, from 1; 0: none
  record Merge(
      Target target,
      PlanNode source,
      int rowIdColumn,
      int actionColumn,
      List<MergeClause> clauses,
      @Nullable List<Expr> returning)
      implements Change {}

  /// A WHEN of MERGE.
  ///
  /// @param values over the source, one per column of the table: the new row, or for DELETE the old one; empty if nobody needs it
  record MergeClause(MergeKind kind, List<Expr> values) {}

  /// What a WHEN of MERGE does.
  enum MergeKind {
    INSERT,
    UPDATE,
    DELETE,
    NOTHING
  }
}
