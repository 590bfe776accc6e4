package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A node of a physical query plan. Its rows have the columns `typeOids()`, and expressions above it name them by position.
public sealed interface PlanNode {
  /// In place of a scan's column: the row's identifier, an int8; only as the last column.
  int ROW_ID = -1;

  /// PostgreSQL's type OIDs of the output columns.
  int[] typeOids();

  /// Nodes that this one reads, the left one first.
  default List<PlanNode> inputs() {
    return switch (this) {
      case TableScan scan -> List.of();
      case IndexScan scan -> List.of();
      case SampleScan scan -> List.of();
      case IdentityScan scan -> List.of();
      case Values values -> List.of();
      case FunctionScan scan -> List.of();
      case SystemScan scan -> List.of();
      case ParameterRows rows -> List.of();
      case WorkTable table -> List.of();
      case Filter filter -> List.of(filter.input);
      case Project project -> List.of(project.input);
      case Aggregate aggregate -> List.of(aggregate.input);
      case Expand expand -> List.of(expand.input);
      case Sort sort -> List.of(sort.input);
      case Limit limit -> List.of(limit.input);
      case LockRows lock -> List.of(lock.input);
      case Window window -> List.of(window.input);
      case HashJoin join -> List.of(join.left, join.right);
      case NestedLoopJoin join -> List.of(join.left, join.right);
      case Correlate correlate -> List.of(correlate.left, correlate.right);
      case Recursion recursion -> List.of(recursion.anchor, recursion.step);
      case SetOperation operation -> List.of(operation.input);
      case With with -> List.of(with.common, with.body);
      case UnionAll union -> union.inputs;
    };
  }

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
  /// @param equals one value per leading key column, of exactly the column's type; constant null for the column of `anyOf`
  /// @param anyOf several values for one of these columns, or null; then the rows come in no order
  /// @param lower bound of the key column after those, or null
  /// @param upper bound of the same column, or null
  /// @param filter over the output columns, or null
  /// @param expectedRows that the optimiser expects in the range, before they are filtered; negative: it expects nothing
  record IndexScan(
      long tableId,
      int index,
      List<Expr> equals,
      @Nullable AnyOf anyOf,
      @Nullable Bound lower,
      @Nullable Bound upper,
      boolean reverse,
      int[] columns,
      int[] typeOids,
      @Nullable Expr filter,
      double expectedRows)
      implements PlanNode {}

  /// A random sample of a table's visible rows: each with the same probability.
  ///
  /// @param seed gives the same rows again while the table does not change; null: other rows each time
  record SampleScan(
      long tableId, double fraction, @Nullable Long seed, int[] columns, int[] typeOids)
      implements PlanNode {}

  /// The row with an identity (see [dev.kakehashi.engine.store.api.TableStore#identity]), if it is there and satisfies the filter.
  ///
  /// @param identity an int8 without columns; null: no row
  /// @param filter over the output columns; null: every row
  record IdentityScan(
      long tableId, Expr identity, int[] columns, int[] typeOids, @Nullable Expr filter)
      implements PlanNode {}

  /// A key column that equals one of several values.
  ///
  /// @param position in the key
  /// @param set an [Expr.InList] or [Expr.InArray]; its argument is the column
  record AnyOf(int position, Expr set) {}

  /// A bound of an index scan.
  record Bound(Expr value, boolean inclusive) {}

  /// Rows computed from expressions without columns.
  record Values(List<List<Expr>> rows, int[] typeOids) implements PlanNode {}

  /// Rows of a function of expressions without columns.
  ///
  /// @param ordinality whether one more column numbers the rows from 1
  record FunctionScan(RowFunction function, List<Expr> arguments, boolean ordinality)
      implements PlanNode {
    @Override
    public int[] typeOids() {
      int[] oids = function.columns().stream().mapToInt(RowFunction.Column::oid).toArray();
      if (ordinality) {
        oids = java.util.Arrays.copyOf(oids, oids.length + 1);
        oids[oids.length - 1] = TypeOid.INT8;
      }
      return oids;
    }
  }

  /// Rows that are made when the first one is asked for: what describes the catalogue and the server.
  ///
  /// @param columns of these rows that are output
  /// @param schema text that the schema's name is to equal, an expression without columns; null: any. Only narrows: what else is asked of
  ///     the rows, and this again, is a filter's above
  /// @param name the same of the object's name
  record SystemScan(
      String table,
      SystemRows rows,
      int[] columns,
      @Nullable Expr schema,
      @Nullable Expr name,
      int[] typeOids)
      implements PlanNode {}

  /// Makes the rows of a system scan. Thread-safe.
  interface SystemRows {
    /// Values are String, Long (any integer or time), Double, Boolean or null.
    ///
    /// @param viewer who reads them: the plan is everybody's, and its rows are not
    /// @param schema of the objects that are asked for; null: all
    /// @param name of the objects that are asked for; null: all
    List<@Nullable Object[]> of(Viewer viewer, @Nullable String schema, @Nullable String name);
  }

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
  ///
  /// @param emptySets values of the last key, an int4, that have a group (with the other keys null) even without input
  record Aggregate(
      PlanNode input, int[] keys, List<AggregateCall> calls, int[] typeOids, int[] emptySets)
      implements PlanNode {
    public Aggregate {
      for (int key = 0; key < keys.length; key++) {
        Types.requireEquality(typeOids[key]);
      }
    }

    public Aggregate(PlanNode input, int[] keys, List<AggregateCall> calls, int[] typeOids) {
      this(input, keys, calls, typeOids, new int[0]);
    }
  }

  /// Every input row once per grouping set. Output: the keys, null where the set does not have them, the number of the set (int4), then the
  /// input's columns.
  ///
  /// @param sets whether key k belongs to set s: `sets[s][k]`
  record Expand(PlanNode input, int[] keys, boolean[][] sets) implements PlanNode {
    @Override
    public int[] typeOids() {
      int[] inputOids = input.typeOids();
      int[] oids = new int[keys.length + 1 + inputOids.length];
      for (int i = 0; i < keys.length; i++) {
        oids[i] = inputOids[keys[i]];
      }
      oids[keys.length] = TypeOid.INT4;
      System.arraycopy(inputOids, 0, oids, keys.length + 1, inputOids.length);
      return oids;
    }
  }

  /// One aggregate function.
  ///
  /// @param name PostgreSQL's; `count` with no argument counts rows
  /// @param arguments input columns
  /// @param distinct each combination of argument values once per group
  /// @param filter boolean input column, or -1: only rows where it is true
  /// @param order input columns by which a group's rows are ordered before they are aggregated; may be empty
  /// @param own the aggregate of a native application; null: the name finds it
  record AggregateCall(
      String name,
      int[] arguments,
      int[] argumentOids,
      boolean distinct,
      int filter,
      int typeOid,
      List<SortKey> order,
      @Nullable AggregateFunction own) {
    public AggregateCall {
      if (distinct) {
        Arrays.stream(argumentOids).forEach(Types::requireEquality);
      }
    }

    public AggregateCall(
        String name,
        int[] arguments,
        int[] argumentOids,
        boolean distinct,
        int filter,
        int typeOid) {
      this(name, arguments, argumentOids, distinct, filter, typeOid, List.of(), null);
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
  record LockRows(PlanNode input, List<RowLock> locks) implements PlanNode {
    @Override
    public int[] typeOids() {
      return input.typeOids();
    }
  }

  /// Rows to lock.
  ///
  /// @param rowIdColumn column of the row's identifier; null there: no row (outer join)
  record RowLock(
      long tableId, String table, int rowIdColumn, LockStrength strength, LockWait policy) {}

  /// Policy for a row that is locked. If one table has several, the one that stands last here holds.
  enum LockWait {
    /// To wait, and to give what a later command of the client's transaction has changed as it was: the change for which it is locked fails
    /// then, if it comes to that.
    TO_CHANGE,
    WAIT,
    SKIP_LOCKED,
    NOWAIT
  }

  /// Window functions over partitions of the input in an order; output: the input's columns, then one per call.
  ///
  /// @param order within a partition; rows that are equal in it are peers
  record Window(
      PlanNode input, int[] partition, List<SortKey> order, List<WindowCall> calls, int[] typeOids)
      implements PlanNode {
    public Window {
      for (int column : partition) {
        Types.requireEquality(typeOids[column]);
      }
      for (SortKey key : order) {
        Types.requireOrder(typeOids[key.column()]);
      }
    }
  }

  /// One window function or aggregate.
  ///
  /// @param arguments input columns
  /// @param aggregate whether it is an aggregate over the frame
  /// @param ignoresNulls whether it leaves out rows whose first argument is null; not of aggregates
  /// @param filter boolean input column, or -1: an aggregate takes only rows where it is true
  /// @param own the aggregate of a native application; null: the name finds it
  record WindowCall(
      String name,
      int[] arguments,
      int[] argumentOids,
      boolean aggregate,
      boolean ignoresNulls,
      int filter,
      Frame frame,
      int typeOid,
      @Nullable AggregateFunction own) {}

  /// Rows that a window function sees, relative to the current one.
  record Frame(FrameMode mode, FrameBound start, FrameBound end, FrameExclusion exclusion) {}

  /// Unit of the offsets of a frame.
  enum FrameMode {
    ROWS,
    GROUPS,
    RANGE
  }

  /// Rows that are left out of a frame.
  enum FrameExclusion {
    NO_OTHERS,
    CURRENT_ROW,
    GROUP,
    TIES
  }

  /// One end of a frame.
  ///
  /// @param offset int8 without columns, of ROWS and GROUPS; else null
  /// @param negative with an offset: boolean without columns, whether it is negative; null there: the offset is null
  /// @param keyColumn of RANGE with an offset: input column with the order's value, or -1
  /// @param limitColumn of RANGE with an offset: input column with the greatest or least value that belongs to the frame, of the same type;
  ///     null there: it is beyond all keys
  record FrameBound(
      FrameBoundKind kind,
      @Nullable Expr offset,
      @Nullable Expr negative,
      int keyColumn,
      int limitColumn) {
    /// A bound without offset.
    public static FrameBound of(FrameBoundKind kind) {
      return new FrameBound(kind, null, null, -1, -1);
    }
  }

  /// Where a frame begins or ends.
  enum FrameBoundKind {
    UNBOUNDED_PRECEDING,
    PRECEDING,
    CURRENT_ROW,
    FOLLOWING,
    UNBOUNDED_FOLLOWING
  }

  /// For each row of the left side, the right side with values of that row as parameters. SEMI and ANTI output the left columns only.
  ///
  /// @param leftColumns their values are the right side's parameters from `firstParameter` on
  /// @param guard column of the left side; where it is not true the right side is not run and has no rows; -1: none
  /// @param once whether the right side has one row at most, and the same one for all rows of the left
  record Correlate(
      PlanNode left,
      PlanNode right,
      JoinKind kind,
      int[] leftColumns,
      int firstParameter,
      int guard,
      boolean once)
      implements PlanNode {
    /// Without a guard.
    public Correlate(
        PlanNode left, PlanNode right, JoinKind kind, int[] leftColumns, int firstParameter) {
      this(left, right, kind, leftColumns, firstParameter, -1, false);
    }

    @Override
    public int[] typeOids() {
      return joined(left, right, kind);
    }
  }

  /// WITH RECURSIVE: the rows of `anchor`, then again and again those that `step` makes of the rows before, until there are none.
  ///
  /// @param all false: rows that were there already are left out
  /// @param number of the [WorkTable] with which `step` reads the rows before
  record Recursion(PlanNode anchor, PlanNode step, boolean all, int number) implements PlanNode {
    public Recursion {
      if (!all) {
        Arrays.stream(anchor.typeOids()).forEach(Types::requireEquality);
      }
    }

    @Override
    public int[] typeOids() {
      return anchor.typeOids();
    }
  }

  /// The rows of `body`, which reads those of `common`, a query of WITH, any number of times; they are made once, before it begins.
  ///
  /// @param number of the [WorkTable]s with which `body` reads them
  record With(PlanNode common, String name, int number, PlanNode body) implements PlanNode {
    @Override
    public int[] typeOids() {
      return body.typeOids();
    }
  }

  /// Rows that were made before: those of a recursion's step, of a query of WITH, or what a statement of WITH returns.
  record WorkTable(int number, int[] typeOids) implements PlanNode {}

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

  /// Join on equality of key columns, plus a condition over left columns followed by right columns. The right side is built into a hash
  /// table.
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

  /// INTERSECT or EXCEPT, [ALL]. The input has the distinct rows of both sides, and as its last two columns how often each is on the left
  /// and on the right (int8).
  record SetOperation(PlanNode input, boolean intersect, boolean all) implements PlanNode {
    @Override
    public int[] typeOids() {
      int[] oids = input.typeOids();
      return Arrays.copyOf(oids, oids.length - 2);
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
