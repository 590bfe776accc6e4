package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.exec.dml.LoadedRows;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.platform.BackgroundWork;
import org.jspecify.annotations.Nullable;

/// One of the tasks of a load in one transaction: draws parts of the files, completes their rows, and inserts them when it has the turn. It
/// keeps the turn while it waits for another transaction, since a statement waits for one at a time. A bulk insertion needs no turns.
final class LoadTask implements Task {
  private final LoadRun run;
  private final LoadedRows rows;
  private final LoadFeed feed;

  /// For the turn, or the end of another transaction.
  private final Condition wake;

  private BulkInsert.@Nullable Part bulkPart;
  private long read;
  private boolean waitsForOther;

  LoadTask(LoadRun run, LoadedRows rows, LoadFeed feed, Condition wake) {
    this.run = run;
    this.rows = rows;
    this.feed = feed;
    this.wake = wake;
  }

  LoadedRows rows() {
    return rows;
  }

  /// Where the rows come from that it has inserted.
  RowPlaces places() {
    return feed.places();
  }

  /// Rows that the files have given.
  long read() {
    return read;
  }

  /// Any thread.
  void wake() {
    wake.signal();
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    boolean background = BackgroundWork.begin();
    try {
      return step(context);
    } finally {
      if (background) {
        BackgroundWork.end();
      }
    }
  }

  private @Nullable Task step(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(run.execution());
    try {
      return work(context);
    } catch (LoadedRows.LoadEnded end) {
      run.noteFailure(end.failure());
    } catch (Throwable failed) {
      run.noteFailure(failed);
    } finally {
      Interrupts.leave(before);
    }
    return end(context);
  }

  private @Nullable Task work(TaskContext context) {
    StatementExecution execution = run.execution();
    while (!run.failed()) {
      execution.checkCanceled();
      if (!rows.hasRows() && !compute()) {
        break;
      }
      BulkInsert bulk = run.bulk();
      if (rows.hasRows() && bulk != null) {
        BulkInsert.Part into = bulkPart;
        if (into == null) {
          into = bulk.newPart();
          bulkPart = into;
        }
        rows.insert(into, feed);
      } else if (rows.hasRows()) {
        if (!run.turn().take(this)) {
          return context.await(wake, this);
        }
        if (waitsForOther) {
          waitsForOther = false;
          execution.restart();
        }
        try {
          rows.insert(feed);
        } catch (RowConflict conflict) {
          return waitFor(conflict, context);
        }
        run.turn().leave(this);
      }
      if (context.shouldYield()) {
        return context.resubmit(this);
      }
    }
    return end(context);
  }

  private @Nullable Task waitFor(RowConflict conflict, TaskContext context) {
    Condition ended = run.execution().onConflict(conflict);
    run.execution().onCancel(ended::signal);
    waitsForOther = true;
    return context.await(ended, this);
  }

  /// Completes the next rows; false: there are no more.
  private boolean compute() {
    if (!rows.isUnfinished()) {
      VectorBatch input = rows.input();
      while (feed.hasPart() && !feed.fill(input, VectorBatch.CAPACITY)) {
        read += feed.leftOut();
        feed.endPart();
      }
      if (!feed.hasPart()) {
        return false;
      }
      read += input.size;
      feed.markDefaults(rows, input.columns.length);
      run.execution().scanned(input.size);
    }
    rows.compute(feed);
    return true;
  }

  private @Nullable Task end(@Nullable TaskContext context) {
    try {
      if (bulkPart != null) {
        bulkPart.close();
      }
      feed.close();
    } catch (Throwable failed) {
      run.noteFailure(failed);
    }
    run.turn().leave(this);
    return run.ended(context);
  }

  @Override
  public void discarded(Job job) {
    run.noteFailure(RunFailures.canceled());
    end(null);
  }
}
