package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.dml.LoadedRows;
import dev.kakehashi.engine.exec.dml.StatementChanges;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.platform.BackgroundWork;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The rows that one transaction of a load in batches inserts: of one part, as many as are wanted at most, and with them how far the part
/// is then.
///
/// Many rows are inserted together, which tells of keys only when all are there. If one is refused then, or depends on another transaction,
/// the rows are read again and inserted one by one.
///
/// Rows that would wait for another transaction come in the next transaction of the load, where that is possible. So a transaction that has
/// inserted rows makes no other one wait for which it waits itself.
final class LoadChunk implements Task {
  private final BatchedLoad load;
  private final LoadFeed feed;
  private final PartPosition before;
  private final StatementExecution execution;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final RunContext run = new RunContext(new ParameterTable(new ColumnKind[0]), null);
  private final StatementChanges ofStatement = new StatementChanges(run);
  private final StatementChanges ofBatch = new StatementChanges(run);
  private @Nullable LoadedRows rows;

  /// Null: rows are inserted one by one.
  private @Nullable BulkInsert bulk;

  private BulkInsert.@Nullable Part bulkPart;
  private boolean oneByOne;
  private boolean readAgain;
  private long given;

  /// Rejected rows at the end of the last filling.
  private long rejectedBefore;

  private boolean waitsForOther;
  private boolean ended;
  private PartPosition after;

  /// @param before how far the part is
  /// @param oneByOne whether rows are inserted so from the beginning
  /// @param done gets the number of rows inserted, or the failure, exactly once
  LoadChunk(
      BatchedLoad load,
      LoadFeed feed,
      PartPosition before,
      boolean oneByOne,
      StatementExecution execution,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.load = load;
    this.feed = feed;
    this.before = before;
    this.after = before;
    this.oneByOne = oneByOne;
    this.execution = execution;
    this.done = done;
  }

  /// How far the part is when the transaction has committed.
  PartPosition after() {
    return after;
  }

  /// Whether rows were inserted together first, and then one by one.
  boolean hasReadAgain() {
    return readAgain;
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source outer = Interrupts.enter(load);
    boolean background = BackgroundWork.begin();
    try {
      return work(context);
    } catch (LoadedRows.LoadEnded end) {
      end(end.failure());
    } catch (Throwable failed) {
      end(RunFailures.report(failed));
    } finally {
      if (background) {
        BackgroundWork.end();
      }
      Interrupts.leave(outer);
    }
    return null;
  }

  private @Nullable Task work(TaskContext context) {
    LoadedRows into = rows();
    boolean partEnds = false;
    while (true) {
      load.checkCanceled();
      execution.checkCanceled();
      if (!into.hasRows()) {
        if (into.isUnfinished()) {
          into.compute(feed);
        } else if (isFull()) {
          break;
        } else if (fill(into)) {
          into.compute(feed);
        } else {
          partEnds = true;
          given += feed.leftOut();
          break;
        }
      }
      BulkInsert.Part part = bulkPart;
      if (into.hasRows() && part != null) {
        into.insert(part, (row, rowId) -> {});
      } else if (into.hasRows()) {
        if (waitsForOther) {
          waitsForOther = false;
          execution.restart();
        }
        try {
          into.insert(feed);
        } catch (RowConflict conflict) {
          if (mayComeLater(into)) {
            feed.unfill();
            given -= into.input().size;
            break;
          }
          Condition gone = execution.onConflict(conflict);
          execution.onCancel(gone::signal);
          waitsForOther = true;
          return context.await(gone, this);
        }
      }
      if (context.shouldYield()) {
        return context.resubmit(this);
      }
    }
    return entered(into) ? settle(into, partEnds, context) : work(context);
  }

  /// Ends the insertion of all rows together. False: they are read again.
  private boolean entered(LoadedRows into) {
    BulkInsert together = bulk;
    if (together == null) {
      return true;
    }
    try {
      together.finish(BulkInsert.Duplicates.FAIL);
      endBulk();
      return true;
    } catch (DuplicateKey | RowConflict refused) {
      endBulk();
    }
    oneByOne = true;
    readAgain = true;
    given = 0;
    into.restart();
    feed.rewind();
    return false;
  }

  private void endBulk() {
    BulkInsert together = bulk;
    bulk = null;
    bulkPart = null;
    if (together != null) {
      together.close();
    }
  }

  private LoadedRows rows() {
    LoadedRows present = rows;
    if (present == null) {
      run.begin(execution, ParameterBatch.NONE);
      present =
          new LoadedRows(
              run, load.plan(), ofStatement, ofBatch, load.columns().positions(), load.tolerant());
      rows = present;
      present.begin();
      if (!oneByOne) {
        feed.mark();
        BulkInsert together =
            execution
                .store()
                .table(load.plan().target().tableId())
                .bulkInsert(execution.transaction());
        bulk = together;
        bulkPart = together.newPart();
      }
    }
    return present;
  }

  private boolean isFull() {
    return given >= load.batchRows() && feed.hasPosition();
  }

  private boolean fill(LoadedRows into) {
    long left = Math.max(1, load.batchRows() - given);
    if (!feed.fill(into.input(), (int) Math.min(left, VectorBatch.CAPACITY))) {
      return false;
    }
    given += into.input().size;
    feed.markDefaults(into, into.input().columns.length);
    rejectedBefore = into.rejected();
    load.scanned(into.input().size);
    return true;
  }

  /// Whether the rows of the last filling may come in the next transaction: none of them has been inserted or rejected, and there is
  /// something to commit before.
  private boolean mayComeLater(LoadedRows into) {
    return into.inserted() > 0
        && into.rejected() == rejectedBefore
        && into.isWhole()
        && feed.canUnfill();
  }

  private @Nullable Task settle(LoadedRows into, boolean partEnds, TaskContext context) {
    try {
      ofStatement.settle();
    } catch (RowConflict conflict) {
      Condition gone = execution.onConflict(conflict);
      execution.onCancel(gone::signal);
      return context.await(
          gone,
          new Task() {
            @Override
            public @Nullable Task run(TaskContext again) {
              Interrupts.Source outer = Interrupts.enter(load);
              try {
                execution.checkCanceled();
                execution.restart();
                return settle(into, partEnds, again);
              } catch (Throwable failed) {
                end(RunFailures.report(failed));
                return null;
              } finally {
                Interrupts.leave(outer);
              }
            }

            @Override
            public void discarded(Job job) {
              LoadChunk.this.discarded(job);
            }
          });
    }
    long filtered = given - into.inserted() - into.rejected();
    after =
        new PartPosition(
            feed.position(),
            before.loaded() + into.inserted(),
            before.filtered() + filtered,
            partEnds);
    long inserted = into.inserted();
    close();
    LoadLog log = load.log();
    if (log == null) {
      ended = true;
      done.accept(inserted, null);
      return null;
    }
    ended = true;
    return log.write(
        feed.part().number(),
        after,
        execution,
        (count, failure) -> done.accept(failure == null ? inserted : null, failure));
  }

  private void close() {
    LoadedRows open = rows;
    rows = null;
    if (open != null) {
      try {
        endBulk();
      } finally {
        open.close();
        ofStatement.forget();
        ofBatch.forget();
        run.end();
      }
    }
  }

  /// Its transaction is rolled back then.
  private void end(EngineException failure) {
    if (!ended) {
      ended = true;
      EngineException reason = failure;
      try {
        close();
      } catch (Throwable failed) {
        reason = RunFailures.report(failed);
        reason.addSuppressed(failure);
      }
      done.accept(null, reason);
    }
  }

  @Override
  public void discarded(Job job) {
    end(RunFailures.canceled());
  }
}
