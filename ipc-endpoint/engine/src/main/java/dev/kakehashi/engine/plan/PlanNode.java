package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.type.Types;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A node of a physical query plan. Its rows have the columns `typeOids()`, and expressions above it name them by position.
public sealed interface PlanNode {
  /// In place of a scan's column: the row's identifier, an int8; only as the last column.
  int ROW_ID = -1;

  /// PostgreSQL's type OIDs of the output columns.
  int[] typeOids();

  /// All visible rows of a table that satisfy the filter.
  ///
  /// @param columns positions of the table's columns that are output, in that order
  /// @param filter over the output columns; null: every row
  record TableScan(long tableId, int[] columns, int[] typeOids, @Nullable Expr filter)
      implements PlanNode {}

  /// Rows in a range of an index, in its order (or in reverse).
  ///
  /// The values of bounds contain no columns. A bound that is null at run time means no rows.
  ///
  /// @param index position in the table definition's indexes
  /// @param equals one value per leading key column, of exactly the column's type
  /// @param lower bound of the key column after those, or null
  /// @param upper bound of the same column, or null
  /// @param filter over the output columns, or null
  record IndexScan(
      long tableId,
      int index,
      List<Expr> equals,
      @Nullable Bound lower,
      @Nullable Bound upper,
      boolean reverse,
      int[] columns,
      int[] typeOids,
      @Nullable Expr filter)
      implements PlanNode {}

  /// A bound of an index scan.
  record Bound(Expr value, boolean inclusive) {}

  /// Rows computed from expressions without columns.
  record Values(List<List<Expr>> rows, int[] typeOids) implements PlanNode {}

  /// Rows of constants that are made when the scan is opened: what describes the catalogue and the server.
  record SystemScan(String table, Supplier<List<List<Expr>>> rows, int[] typeOids)
      implements PlanNode {}

  /// The statement's rows of parameters as input rows. Made by execution itself, for statements that insert their parameters.
  record ParameterRows(int[] typeOids) implements PlanNode {}

  /// Rows for which the predicate is true.
  record Filter(PlanNode input, Expr predicate) implements PlanNode {
    @Override
    public int[] typeOids() {
      return input.typeOids();
    }
  }

  /// One output column per expression.
  record Project(PlanNode input, List<Expr> expressions) implements PlanNode {
    @Override
    public int[] typeOids() {
      return expressions.stream().mapToInt(Expr::typeOid).toArray();
    }
  }

  /// Groups by key columns (nulls are equal) and aggregates; output: keys, then one column per call. Without keys there is exactly one row.
  /// Without calls it is DISTINCT.
  record Aggregate(PlanNode input, int[] keys, List<AggregateCall> calls, int[] typeOids)
      implements PlanNode {
    public Aggregate {
      for (int key = 0; key < keys.length; key++) {
        Types.requireEquality(typeOids[key]);
      }
    }
  }

  /// One aggregate function.
  ///
  /// @param name PostgreSQL's; `count` with no argument counts rows
  /// @param arguments input columns
  /// @param distinct each combination of argument values once per group
  /// @param filter boolean input column, or -1: only rows where it is true
  record AggregateCall(
      String name, int[] arguments, int[] argumentOids, boolean distinct, int filter, int typeOid) {
    public AggregateCall {
      if (distinct) {
        Arrays.stream(argumentOids).forEach(Types::requireEquality);
      }
    }
  }

  /// Rows in order; with a limit only the first ones.
  ///
  /// @param limit expressions without columns of type int8; null value or null: no limit
  record Sort(PlanNode input, List<SortKey> keys, @Nullable Expr offset, @Nullable Expr limit)
      implements PlanNode {
    public Sort {
      for (SortKey key : keys) {
        Types.requireOrder(input.typeOids()[key.column()]);
      }
    }

    @Override
    public int[] typeOids() {
      return input.typeOids();
    }
  }

  /// Locks rows and passes them on; a row whose lock another transaction holds is waited for by trying the whole statement again.
  record LockRows(PlanNode input, List<RowLock> locks, LockWait policy) implements PlanNode {
    @Override
    public int[] typeOids() {
      return input.typeOids();
    }
  }

  /// Rows to lock.
  ///
  /// @param rowIdColumn column of the row's identifier; null there: no row (outer join)
  record RowLock(long tableId, String table, int rowIdColumn) {}

  /// What to do about a row that is locked.
  enum LockWait {
    WAIT,
    NOWAIT,
    SKIP_LOCKED
  }

  /// A sort column.
  record SortKey(int column, boolean descending, boolean nullsFirst) {}

  /// Rows `offset .. offset + limit` in the order in which they come.
  record Limit(PlanNode input, @Nullable Expr offset, @Nullable Expr limit) implements PlanNode {
    @Override
    public int[] typeOids() {
      return input.typeOids();
    }
  }

  /// Kinds of joins. SEMI and ANTI output the left columns only; ANTI is NOT EXISTS (a null key finds nothing).
  enum JoinKind {
    INNER,
    LEFT,
    RIGHT,
    FULL,
    SEMI,
    ANTI
  }

  /// Join on equality of key columns, plus a condition over left columns followed by right columns. The right side is built into a hash table.
  record HashJoin(
      PlanNode left,
      PlanNode right,
      JoinKind kind,
      int[] leftKeys,
      int[] rightKeys,
      @Nullable Expr condition)
      implements PlanNode {
    @Override
    public int[] typeOids() {
      return joined(left, right, kind);
    }
  }

  /// Join on any condition over left columns followed by right columns; null: every pair. The right side is materialised.
  record NestedLoopJoin(PlanNode left, PlanNode right, JoinKind kind, @Nullable Expr condition)
      implements PlanNode {
    @Override
    public int[] typeOids() {
      return joined(left, right, kind);
    }
  }

  /// All rows of all inputs, which have the same columns.
  record UnionAll(List<PlanNode> inputs) implements PlanNode {
    @Override
    public int[] typeOids() {
      return inputs.get(0).typeOids();
    }
  }

  /// INTERSECT or EXCEPT, [ALL], of two inputs with the same columns; nulls are equal.
  record SetOperation(PlanNode left, PlanNode right, boolean intersect, boolean all)
      implements PlanNode {
    public SetOperation {
      Arrays.stream(left.typeOids()).forEach(Types::requireEquality);
    }

    @Override
    public int[] typeOids() {
      return left.typeOids();
    }
  }

  private static int[] joined(PlanNode left, PlanNode right, JoinKind kind) {
    if (kind == JoinKind.SEMI || kind == JoinKind.ANTI) {
      return left.typeOids();
    }
    int[] a = left.typeOids();
    int[] b = right.typeOids();
    int[] both = new int[a.length + b.length];
    System.arraycopy(a, 0, both, 0, a.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    return both;
  }
}
