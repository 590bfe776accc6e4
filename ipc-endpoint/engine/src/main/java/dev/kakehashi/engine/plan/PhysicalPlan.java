package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.store.api.LockStrength;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A whole statement, ready to run. Immutable and shared by its executions.
public sealed interface PhysicalPlan {
  /// Where the rows come from that the statement sends or changes.
  PlanNode source();

  /// Changes that are made first; each sees what was there when the statement began.
  default List<Part> parts() {
    return List.of();
  }

  /// The plan without its parts.
  default PhysicalPlan body() {
    return this;
  }

  /// Whether an execution locks or changes rows, so that it may meet conflicts and is undone when it fails.
  boolean changesRows();

  /// A query of WITH that changes rows.
  ///
  /// @param workTable number of the [PlanNode.WorkTable] by which the plan reads what it returns
  record Part(String name, Change change, int workTable) {}

  /// WITH whose queries change rows.
  record WithChanges(List<Part> parts, PhysicalPlan body) implements PhysicalPlan {
    @Override
    public PlanNode source() {
      return body.source();
    }

    @Override
    public boolean changesRows() {
      return true;
    }
  }

  /// Rows of a query go to the client.
  ///
  /// @param changesRows whether the query locks or changes rows, or a part of the statement does: its rows go out when it has succeeded as
  ///     a whole
  record Query(PlanNode source, boolean changesRows) implements PhysicalPlan {
    public Query(PlanNode source) {
      this(source, false);
    }
  }

  /// A statement that changes rows of one table.
  ///
  /// Where the source has a row identifier in column `rowIdColumn` (see [PlanNode#ROW_ID]), it may be any plan, and a row that comes again
  /// is left out; with -1 it is a scan of the table that outputs all its columns in order first.
  sealed interface Change extends PhysicalPlan {
    Target target();

    @Override
    default boolean changesRows() {
      return true;
    }

    /// Whether its source is a scan that has to give row identifiers.
    default boolean takesRowIds() {
      return false;
    }

    /// Expressions over the columns of the changed row, followed by the columns of the source, and for ON CONFLICT that takes the row that
    /// exists by those of this row, which are null for a row that was inserted; null: none.
    @Nullable List<Expr> returning();
  }

  /// A change that does the same with every row of its source.
  sealed interface UniformChange extends Change {}

  /// Names that error messages show.
  ///
  /// @param columns names of all columns of the table
  /// @param notNull whether column i refuses null
  /// @param checks CHECK constraints, in the order in which they are looked at
  /// @param references foreign keys that its changes concern; null: none
  /// @param generated columns whose values are computed from the others, whatever the plan gives for them
  /// @param deferrableKeys unique keys that are looked at when all changes are made
  record Target(
      long tableId,
      String schema,
      String table,
      List<String> columns,
      int[] typeOids,
      boolean[] notNull,
      List<Check> checks,
      @Nullable References references,
      List<Generated> generated,
      List<UniqueKey> deferrableKeys) {
    /// A table without CHECK constraints.
    public Target(
        long tableId,
        String schema,
        String table,
        List<String> columns,
        int[] typeOids,
        boolean[] notNull) {
      this(
          tableId, schema, table, columns, typeOids, notNull, List.of(), null, List.of(),
          List.of());
    }
  }

  /// A generated column.
  ///
  /// @param value over the columns of the table, with the column's exact type
  record Generated(int column, Expr value) {}

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

  /// ON CONFLICT.
  ///
  /// @param arbiters unique indexes whose duplicates are meant, by indexId
  /// @param computed columns of the source behind those of the table
  record OnConflict(Set<Long> arbiters, ConflictAction action, int computed) {
    /// Whether it does more with a row that exists than to leave it.
    public boolean takesExisting() {
      return !(action instanceof LeaveExisting);
    }
  }

  /// The fate of a row that exists. Expressions are over its columns, followed by those of the row that was to be inserted and by what
  /// the source has computed for both.
  sealed interface ConflictAction {}

  /// DO NOTHING.
  record LeaveExisting() implements ConflictAction {}

  /// DO SELECT: the row is one of the statement's result.
  ///
  /// @param lock how it is locked before; null: not at all
  /// @param condition of WHERE, or null
  record SelectExisting(@Nullable LockStrength lock, @Nullable Expr condition)
      implements ConflictAction {}

  /// DO UPDATE.
  ///
  /// @param values one per column of the table
  /// @param condition of WHERE, or null
  record UpdateExisting(List<Expr> values, @Nullable Expr condition) implements ConflictAction {}

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

    @Override
    public boolean takesRowIds() {
      return rowIdColumn < 0;
    }
  }

  /// Deletes rows. The source begins with all columns of the table in order; they are the changed row of RETURNING.
  record Delete(Target target, PlanNode source, int rowIdColumn, @Nullable List<Expr> returning)
      implements UniformChange {
    @Override
    public boolean takesRowIds() {
      return rowIdColumn < 0;
    }
  }

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

  /// Action of a WHEN of MERGE.
  enum MergeKind {
    INSERT,
    UPDATE,
    DELETE,
    NOTHING
  }
}
