package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.api.PageCursor;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The leaves of chains: tables, indexes, computed rows.
public final class ScanOperators {
  private ScanOperators() {}

  /// Pages of one table, handed out piece by piece to the tasks that scan it.
  public static final class Morsels extends SharedScan {
    /// Pages of one piece: large enough that taking it costs nothing, small enough that tasks end together.
    public static final int PAGES = 8;

    /// Pieces of each task, of a table that is not large: so that they end together.
    private static final int PIECES = 4;

    final PlanNode.TableScan node;
    @Nullable TableStore table;
    long endPage;
    final AtomicLong nextPage = new AtomicLong();
    private int piecePages = PAGES;

    public Morsels(PlanNode.TableScan node) {
      this.node = node;
    }

    @Override
    public void open(RunContext run) {
      table = run.scope().store().table(node.tableId());
      endPage = table.pageCount();
      nextPage.set(0);
      piecePages = PAGES;
    }

    @Override
    public long pages(int workers) {
      return endPage;
    }

    /// Pages that tasks have taken. Any thread.
    public long pagesRead() {
      return Math.min(nextPage.get(), endPage);
    }

    @Override
    public void divide(int tasks) {
      piecePages = Math.clamp(endPage / ((long) PIECES * tasks), 1, PAGES);
    }

    @Override
    public void close() {
      table = null;
    }
  }

  /// Scans the pages that it takes from the table's morsels.
  public static final class TableScan extends RowScan {
    private final Morsels morsels;

    /// Null until the first piece is taken, and after the last.
    private @Nullable PageCursor cursor;

    public TableScan(RunContext run, Morsels morsels, EvalContext context, boolean withRowIds) {
      super(run, morsels.node.columns(), morsels.node.filter(), context, withRowIds);
      this.morsels = morsels;
    }

    @Override
    public void open() {
      closeCursor();
      super.open();
    }

    @Override
    boolean fill() {
      while (cursor == null || !cursor.next(batch)) {
        if (!nextPiece()) {
          closeCursor();
          return false;
        }
      }
      return true;
    }

    private boolean nextPiece() {
      TableStore table = morsels.table;
      int pages = morsels.piecePages;
      long first = morsels.nextPage.getAndAdd(pages);
      if (table == null || first >= morsels.endPage) {
        if (table != null && morsels.endPage == 0) {
          // No cursor says so: that there is no row is what has been read.
          table.noteRead(run.scope().view());
        }
        return false;
      }
      long end = Math.min(first + pages, morsels.endPage);
      if (cursor == null) {
        PageCursor opened = table.scan(run.scope().view(), first, end, columns, withRowIds);
        if (defersValues()) {
          opened.deferValues();
        }
        cursor = opened;
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
    public void close() {
      closeCursor();
      super.close();
    }
  }

  /// Reads the row of an identity.
  public static final class IdentityScan extends RowScan {
    private final PlanNode.IdentityScan node;
    private final EvalContext context;
    private final Evaluator identity;
    private final VectorBatch single = VectorBatch.oneRow();
    private @Nullable RowCursor cursor;

    public IdentityScan(
        RunContext run, PlanNode.IdentityScan node, EvalContext context, boolean withRowIds) {
      super(run, node.columns(), node.filter(), context, withRowIds);
      this.node = node;
      this.context = context;
      this.identity = Evaluators.of(node.identity(), context);
    }

    @Override
    public void open() {
      closeCursor();
      super.open();
      context.functions.heap = single.heap;
      ColumnVector value = identity.evaluate(single);
      if (!value.isNull(0)) {
        cursor =
            run.scope()
                .store()
                .table(node.tableId())
                .identityScan(run.scope().view(), value.words[0], columns);
      }
    }

    @Override
    boolean fill() {
      RowCursor open = cursor;
      return open != null && open.next(batch);
    }

    private void closeCursor() {
      if (cursor != null) {
        cursor.close();
        cursor = null;
      }
    }

    @Override
    public void close() {
      closeCursor();
      super.close();
      single.close();
    }
  }

  /// Rows of expressions without columns.
  public static final class Values extends Operator {
    private final EvalContext context;
    private final List<Evaluator[]> rows = new ArrayList<>();
    private final VectorBatch single = VectorBatch.oneRow();
    private final VectorBatch batch;
    private int next;

    public Values(PlanNode.Values node, EvalContext context) {
      this.context = context;
      this.batch = new VectorBatch(node.typeOids().length);
      for (List<Expr> row : node.rows()) {
        rows.add(Evaluators.of(row, context));
      }
    }

    @Override
    public void open() {
      next = 0;
    }

    @Override
    public @Nullable VectorBatch next() {
      if (next == rows.size()) {
        return null;
      }
      batch.reset();
      context.functions.heap = batch.heap;
      while (next < rows.size() && batch.hasRoom()) {
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
    public void close() {
      batch.close();
    }
  }

  /// Rows of parameters as rows of input.
  public static final class ParameterScan extends Operator {
    private final RunContext run;
    private final VectorBatch batch;
    private int next;

    public ParameterScan(RunContext run, PlanNode.ParameterRows node) {
      this.run = run;
      this.batch = new VectorBatch(node.typeOids().length);
    }

    @Override
    public void open() {
      next = 0;
    }

    @Override
    public @Nullable VectorBatch next() {
      ParameterTable parameters = run.parameters();
      if (next >= parameters.rowCount()) {
        return null;
      }
      batch.reset();
      parameters.read(next, batch);
      next += batch.size;
      return batch;
    }

    @Override
    public void close() {
      batch.close();
    }
  }

  /// Materialised rows, in their order.
  public static final class Rows extends Operator {
    private final List<RowBuffer> parts;
    private final VectorBatch batch;
    private RowBuffer.@Nullable Reader reader;
    private int next;

    public Rows(RowBuffer rows) {
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
    public void open() {
      next = 0;
      reader = parts.get(next++).reader();
    }

    @Override
    public @Nullable VectorBatch next() {
      while (reader != null) {
        if (reader.fill(batch)) {
          return batch;
        }
        reader = next < parts.size() ? parts.get(next++).reader() : null;
      }
      return null;
    }

    @Override
    public void close() {
      reader = null;
      batch.close();
    }
  }

  /// Rows that are known by a number: those of the step before of a recursion, of a query of WITH, or what a statement of WITH returns.
  public static final class WorkTable extends Operator {
    private final RunContext run;
    private final PlanNode.WorkTable node;
    private @Nullable Rows rows;

    public WorkTable(RunContext run, PlanNode.WorkTable node) {
      this.run = run;
      this.node = node;
    }

    @Override
    public void open() {
      Rows opened = new Rows(run.workTable(node.number()));
      opened.open();
      rows = opened;
    }

    @Override
    public @Nullable VectorBatch next() {
      return rows == null ? null : rows.next();
    }

    @Override
    public void close() {
      if (rows != null) {
        rows.close();
        rows = null;
      }
    }
  }
}
