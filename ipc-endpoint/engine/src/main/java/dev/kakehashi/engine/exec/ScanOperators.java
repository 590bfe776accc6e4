package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.expr.ValueSet;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.KeyRange;
import dev.kakehashi.engine.store.PageCursor;
import dev.kakehashi.engine.store.RowCursor;
import dev.kakehashi.engine.store.TableStore;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The leaves of chains: tables, indexes, computed rows.
final class ScanOperators {
  private ScanOperators() {}

  /// The columns to read from the store; the row identifier is none of them.
  private static int[] stored(int[] columns) {
    return hasRowId(columns) ? Arrays.copyOf(columns, columns.length - 1) : columns;
  }

  private static boolean hasRowId(int[] columns) {
    return columns.length > 0 && columns[columns.length - 1] == PlanNode.ROW_ID;
  }

  private static void copyRowIds(VectorBatch batch) {
    ColumnVector last = batch.columns[batch.columns.length - 1];
    System.arraycopy(batch.rowIds, 0, last.words, 0, batch.size);
  }

  /// Pages of one table, handed out piece by piece to the tasks that scan it.
  static final class Morsels extends NodeState {
    /// Pages of one piece: large enough that taking it costs nothing, small enough that tasks end together.
    static final int PAGES = 8;

    /// Pieces of each task, of a table that is not large: so that they end together.
    private static final int PIECES = 4;

    final PlanNode.TableScan node;
    @Nullable TableStore table;
    long endPage;
    final AtomicLong nextPage = new AtomicLong();
    private int piecePages = PAGES;

    Morsels(PlanNode.TableScan node) {
      this.node = node;
    }

    @Override
    void open(Execution execution) {
      table = execution.scope().store().table(node.tableId());
      endPage = table.pageCount();
      nextPage.set(0);
      piecePages = PAGES;
    }

    /// Before the tasks that scan it begin: how many they are, if not one.
    void divide(int tasks) {
      piecePages = Math.clamp(endPage / ((long) PIECES * tasks), 1, PAGES);
    }

    @Override
    void close() {
      table = null;
    }
  }

  /// Scans the pages that it takes from the table's morsels.
  static final class TableScan extends Operator {
    private final Execution execution;
    private final Morsels morsels;
    private final boolean withRowIds;
    private final boolean rowIdColumn;
    private final int[] columns;
    private final VectorBatch batch;
    private final VarHeap heap = new VarHeap();
    private final EvalContext context;
    private final @Nullable RowFilter filter;
    private final RowsBeforeFailure before = new RowsBeforeFailure();

    /// Null until the first piece is taken, and after the last.
    private @Nullable PageCursor cursor;

    TableScan(Execution execution, Morsels morsels, EvalContext context, boolean withRowIds) {
      this.execution = execution;
      this.morsels = morsels;
      this.rowIdColumn = hasRowId(morsels.node.columns());
      this.withRowIds = withRowIds || rowIdColumn;
      this.columns = stored(morsels.node.columns());
      this.batch = new VectorBatch(morsels.node.columns().length);
      this.context = context;
      this.filter =
          morsels.node.filter() == null ? null : RowFilter.of(morsels.node.filter(), context);
    }

    @Override
    void open() {
      closeCursor();
      before.open();
    }

    @Override
    @Nullable VectorBatch next() {
      while (true) {
        before.check();
        PageCursor open = cursor;
        if (open == null || !open.next(batch)) {
          if (!nextPiece()) {
            closeCursor();
            return null;
          }
          continue;
        }
        if (rowIdColumn) {
          copyRowIds(batch);
        }
        execution.scope().scanned(batch.liveRows());
        if (before.narrow(filter, batch, context, heap)) {
          return batch;
        }
        Interrupts.check();
      }
    }

    private boolean nextPiece() {
      TableStore table = morsels.table;
      int pages = morsels.piecePages;
      long first = morsels.nextPage.getAndAdd(pages);
      if (table == null || first >= morsels.endPage) {
        return false;
      }
      long end = Math.min(first + pages, morsels.endPage);
      if (cursor == null) {
        cursor = table.scan(execution.scope().view(), first, end, columns, withRowIds);
      } else {
        cursor.moveTo(first, end);
      }
      return true;
    }

    private void closeCursor() {
      if (cursor != null) {
        cursor.close();
        cursor = null;
      }
    }

    @Override
    void close() {
      closeCursor();
      batch.close();
      heap.close();
    }
  }

  /// Scans a range of an index.
  static final class IndexScan extends Operator {
    private final Execution execution;
    private final PlanNode.IndexScan node;
    private final boolean withRowIds;
    private final boolean rowIdColumn;
    private final int[] columns;
    private final VectorBatch batch;
    private final VectorBatch bounds = oneRow();
    private final VarHeap heap = new VarHeap();
    private final VarHeap boundHeap = new VarHeap();
    private final EvalContext context;
    private final @Nullable RowFilter filter;
    private final RowsBeforeFailure before = new RowsBeforeFailure();
    private final Evaluator[] equals;

    /// Words of `equals`, for the range that is scanned.
    private final long[] values;

    /// Of a scan without other bounds: made of `values`.
    private final @Nullable KeyRange equalRange;

    private final @Nullable ValueSet anyOf;
    private int nextValue;
    private final @Nullable Evaluator lower;
    private final @Nullable Evaluator upper;
    private @Nullable RowCursor cursor;

    /// The last one; it is opened again by the next scan, which allocates less then.
    private @Nullable RowCursor closed;

    IndexScan(
        Execution execution, PlanNode.IndexScan node, EvalContext context, boolean withRowIds) {
      this.execution = execution;
      this.node = node;
      this.rowIdColumn = hasRowId(node.columns());
      this.withRowIds = withRowIds || rowIdColumn;
      this.columns = stored(node.columns());
      this.batch = new VectorBatch(node.columns().length);
      this.context = context;
      this.filter = node.filter() == null ? null : RowFilter.of(node.filter(), context);
      this.equals = Evaluators.of(node.equals(), context);
      this.anyOf = node.anyOf() == null ? null : ValueSet.of(node.anyOf().set(), context);
      this.lower = node.lower() == null ? null : Evaluators.of(node.lower().value(), context);
      this.upper = node.upper() == null ? null : Evaluators.of(node.upper().value(), context);
      this.values = new long[equals.length];
      this.equalRange = lower == null && upper == null ? KeyRange.equal(values) : null;
    }

    @Override
    void open() {
      closeCursor();
      before.open();
      nextValue = 0;
      boundHeap.reset();
      context.functions.heap = boundHeap;
      if (anyOf != null) {
        anyOf.read();
      }
      openRange();
    }

    /// False if the last value of several has been scanned.
    private boolean openRange() {
      if (anyOf != null && nextValue == anyOf.size()) {
        return false;
      }
      KeyRange range = range();
      nextValue++;
      if (range != null) {
        cursor =
            execution
                .scope()
                .store()
                .table(node.tableId())
                .indexScan(
                    execution.scope().view(),
                    node.index(),
                    range,
                    node.reverse(),
                    columns,
                    withRowIds,
                    closed);
        closed = null;
      }
      return range != null;
    }

    /// The range, or null when a bound is null: nothing is equal to or less than null.
    private @Nullable KeyRange range() {
      for (int i = 0; i < values.length; i++) {
        if (anyOf != null && node.anyOf() != null && node.anyOf().position() == i) {
          values[i] = anyOf.word(nextValue);
          continue;
        }
        ColumnVector value = equals[i].evaluate(bounds);
        if (value.isNull(0)) {
          return null;
        }
        values[i] = value.words[0];
      }
      if (equalRange != null) {
        return equalRange;
      }
      ColumnVector low = lower == null ? null : lower.evaluate(bounds);
      ColumnVector high = upper == null ? null : upper.evaluate(bounds);
      if ((low != null && low.isNull(0)) || (high != null && high.isNull(0))) {
        return null;
      }
      return new KeyRange(
          values.length,
          values,
          low != null,
          low == null ? 0 : low.words[0],
          node.lower() != null && node.lower().inclusive(),
          high != null,
          high == null ? 0 : high.words[0],
          node.upper() != null && node.upper().inclusive());
    }

    @Override
    @Nullable VectorBatch next() {
      while (true) {
        before.check();
        RowCursor open = cursor;
        if (open == null || !open.next(batch)) {
          closeCursor();
          if (anyOf == null || open == null || !openRange()) {
            return null;
          }
          Interrupts.check();
          continue;
        }
        if (rowIdColumn) {
          copyRowIds(batch);
        }
        execution.scope().scanned(batch.liveRows());
        if (before.narrow(filter, batch, context, heap)) {
          return batch;
        }
        Interrupts.check();
      }
    }

    private void closeCursor() {
      if (cursor != null) {
        cursor.close();
        closed = cursor;
        cursor = null;
      }
    }

    @Override
    void close() {
      closeCursor();
      batch.close();
      heap.close();
      boundHeap.close();
    }
  }

  /// A batch of one row and no columns, for expressions without columns.
  static VectorBatch oneRow() {
    VectorBatch batch = new VectorBatch(0);
    batch.size = 1;
    return batch;
  }

  /// Rows of expressions without columns.
  static final class Values extends Operator {
    private final EvalContext context;
    private final List<Evaluator[]> rows = new ArrayList<>();
    private final VectorBatch single = oneRow();
    private final VectorBatch batch;
    private final @Nullable Supplier<List<List<Expr>>> source;
    private int next;

    Values(PlanNode.Values node, EvalContext context) {
      this.context = context;
      this.batch = new VectorBatch(node.typeOids().length);
      this.source = null;
      take(node.rows());
    }

    Values(PlanNode.SystemScan node, EvalContext context) {
      this.context = context;
      this.batch = new VectorBatch(node.typeOids().length);
      this.source = node.rows();
    }

    private void take(List<List<Expr>> expressions) {
      rows.clear();
      for (List<Expr> row : expressions) {
        rows.add(Evaluators.of(row, context));
      }
    }

    @Override
    void open() {
      next = 0;
      if (source != null) {
        take(source.get());
      }
    }

    @Override
    @Nullable VectorBatch next() {
      if (next == rows.size()) {
        return null;
      }
      batch.reset();
      context.functions.heap = batch.heap;
      while (next < rows.size() && batch.size < VectorBatch.CAPACITY) {
        Evaluator[] row = rows.get(next++);
        for (int c = 0; c < row.length; c++) {
          ColumnVector value = row[c].evaluate(single);
          if (value.isNull(0)) {
            batch.columns[c].setNull(batch.size);
          } else {
            batch.columns[c].words[batch.size] = value.words[0];
          }
        }
        batch.size++;
      }
      return batch;
    }

    @Override
    void close() {
      if (source != null) {
        rows.clear();
      }
      batch.close();
    }
  }

  /// Rows of parameters as rows of input.
  static final class ParameterScan extends Operator {
    private final Execution execution;
    private final VectorBatch batch;
    private int next;

    ParameterScan(Execution execution, PlanNode.ParameterRows node) {
      this.execution = execution;
      this.batch = new VectorBatch(node.typeOids().length);
    }

    @Override
    void open() {
      next = 0;
    }

    @Override
    @Nullable VectorBatch next() {
      ParameterTable parameters = execution.parameters();
      if (next >= parameters.rowCount()) {
        return null;
      }
      batch.reset();
      parameters.read(next, batch);
      next += batch.size;
      return batch;
    }

    @Override
    void close() {
      batch.close();
    }
  }

  /// Materialised rows, in their order.
  static final class Rows extends Operator {
    private final List<RowBuffer> parts;
    private final VectorBatch batch;
    private RowBuffer.@Nullable Reader reader;
    private int next;

    Rows(RowBuffer rows) {
      this(List.of(rows));
    }

    /// @param parts one or more, one after another
    Rows(List<RowBuffer> parts) {
      this.parts = parts;
      int most = parts.stream().mapToInt(RowBuffer::size).max().orElse(0);
      this.batch =
          VectorBatch.ofRows(
              parts.getFirst().columnCount(), Math.clamp(most, 1, VectorBatch.CAPACITY));
    }

    @Override
    void open() {
      next = 0;
      reader = parts.get(next++).reader();
    }

    @Override
    @Nullable VectorBatch next() {
      while (reader != null) {
        if (reader.fill(batch)) {
          return batch;
        }
        reader = next < parts.size() ? parts.get(next++).reader() : null;
      }
      return null;
    }

    @Override
    void close() {
      reader = null;
      batch.close();
    }
  }

  /// Rows that are known by a number: those of the step before of a recursion, of a query of WITH, or what a statement of WITH returns.
  static final class WorkTable extends Operator {
    private final Execution execution;
    private final PlanNode.WorkTable node;
    private @Nullable Rows rows;

    WorkTable(Execution execution, PlanNode.WorkTable node) {
      this.execution = execution;
      this.node = node;
    }

    @Override
    void open() {
      Rows opened = new Rows(execution.workTable(node.number()));
      opened.open();
      rows = opened;
    }

    @Override
    @Nullable VectorBatch next() {
      return rows == null ? null : rows.next();
    }

    @Override
    void close() {
      if (rows != null) {
        rows.close();
        rows = null;
      }
    }
  }
}
