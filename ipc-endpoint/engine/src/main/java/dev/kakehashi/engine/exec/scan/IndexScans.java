package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.api.IndexParts;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Scans of ranges of indexes. Large ones are divided by keys among the tasks of their stage.
public final class IndexScans {
  /// Rows that a range must be expected to have for a look at the index to be worth it, which tells how many it has. Few, because
  /// parameters are expected to bound a 200th of a table.
  private static final double MIN_DIVISIBLE_ROWS = 64;

  private IndexScans() {}

  /// Whether tasks may share it. A scan backwards is wanted for its order (one forwards stands below a limit then, which one task runs).
  public static boolean isDivisible(PlanNode.IndexScan scan) {
    return scan.anyOf() == null && !scan.reverse() && scan.expectedRows() >= MIN_DIVISIBLE_ROWS;
  }

  /// The range of one scan, handed out in parts to the tasks that share it, if they are several.
  public static final class Range extends SharedScan {
    /// Parts of each task, so that they end together although parts differ.
    private static final int PARTS = 8;

    /// More are not worth the keys that have to be copied.
    private static final int MOST_PARTS = 256;

    private final PlanNode.IndexScan node;

    /// Taken from by the tasks.
    private final AtomicInteger nextPart = new AtomicInteger();

    // The rest is written before the tasks of the stage begin, and only read by them.
    private @Nullable RunContext run;

    /// Made by the first execution that looks how large the range is.
    private @Nullable IndexBounds bounds;

    private @Nullable IndexParts parts;
    private boolean divided;

    public Range(PlanNode.IndexScan node) {
      this.node = node;
    }

    @Override
    public void open(RunContext newExecution) {
      run = newExecution;
      parts = null;
      divided = false;
    }

    @Override
    public long pages(int workers) {
      IndexBounds made = bounds;
      if (made == null) {
        made = new IndexBounds(node, running().newContext());
        bounds = made;
      }
      made.open();
      KeyRange range = made.next();
      IndexParts found =
          range == null
              ? null
              : table().divide(node.index(), range, Math.min(MOST_PARTS, PARTS * workers));
      parts = found;
      return found == null ? 0 : found.leaves();
    }

    @Override
    public void divide(int tasks) {
      divided = true;
      nextPart.set(0);
      if (parts != null) {
        parts.noteRead(running().scope().view());
      }
    }

    /// The next part for a task that shares the range; null: there are no more.
    private @Nullable RowCursor next(
        int[] columns, boolean withRowIds, @Nullable RowCursor closed) {
      IndexParts shared = parts;
      int part = shared == null ? 0 : nextPart.getAndIncrement();
      return shared == null || part >= shared.count()
          ? null
          : shared.scan(running().scope().view(), part, columns, withRowIds, closed);
    }

    private RunContext running() {
      RunContext current = run;
      if (current == null) {
        throw new IllegalStateException("the scan is not open");
      }
      return current;
    }

    private TableStore table() {
      return running().scope().store().table(node.tableId());
    }

    @Override
    public void close() {
      parts = null;
      run = null;
      if (bounds != null) {
        bounds.close();
      }
    }
  }

  /// Scans a range, or parts of one that it shares with other tasks.
  public static final class Scan extends RowScan {
    private final PlanNode.IndexScan node;

    /// Null: nobody shares it.
    private final @Nullable Range range;

    private final IndexBounds bounds;
    private boolean shared;
    private @Nullable RowCursor cursor;

    /// The last one; it is opened again by the next scan, which allocates less then.
    private @Nullable RowCursor closed;

    /// @param range of a scan that is divisible
    public Scan(
        RunContext run,
        PlanNode.IndexScan node,
        @Nullable Range range,
        EvalContext context,
        boolean withRowIds) {
      super(run, node.columns(), node.filter(), context, withRowIds);
      this.node = node;
      this.range = range;
      this.bounds = new IndexBounds(node, context);
    }

    @Override
    public void open() {
      closeCursor();
      super.open();
      shared = range != null && range.divided;
      if (!shared) {
        bounds.open();
      }
      openNext();
    }

    /// False if the last range, or the last part of the shared one, has been scanned.
    private boolean openNext() {
      if (shared) {
        return openPart();
      }
      if (!bounds.hasNext()) {
        return false;
      }
      KeyRange next = bounds.next();
      if (next != null) {
        cursor =
            run.scope()
                .store()
                .table(node.tableId())
                .indexScan(
                    run.scope().view(),
                    node.index(),
                    next,
                    node.reverse(),
                    columns,
                    withRowIds,
                    closed);
        closed = null;
      }
      return next != null;
    }

    private boolean openPart() {
      RowCursor opened = range == null ? null : range.next(columns, withRowIds, closed);
      if (opened != null) {
        cursor = opened;
        closed = null;
      }
      return opened != null;
    }

    @Override
    boolean fill() {
      while (true) {
        RowCursor open = cursor;
        if (open != null && open.next(batch)) {
          return true;
        }
        closeCursor();
        if (open == null || !openNext()) {
          return false;
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
    public void close() {
      closeCursor();
      super.close();
      bounds.close();
    }
  }
}
