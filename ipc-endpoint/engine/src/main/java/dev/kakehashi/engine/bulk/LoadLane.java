package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// One of the lanes of a load in batches: transaction after transaction, each with rows of one part. Its steps come one after another, on
/// whatever thread.
final class LoadLane {
  private static final int MAX_ONE_BY_ONE = 31;

  private final BatchedLoad load;
  private final LoadFeed feed;
  private final LaneSession session;
  private PartPosition position = PartPosition.BEGIN;
  private @Nullable LoadChunk chunk;

  /// No part is left.
  private boolean exhausted;

  /// Batches whose rows are inserted one by one: those that follow, and how many there were when it was last so. Where many batches have to
  /// be read again, most are not tried together.
  private int oneByOne;

  private int lastOneByOne;

  LoadLane(BatchedLoad load, LoadFeed feed, LaneSession session) {
    this.load = load;
    this.feed = feed;
    this.session = session;
  }

  /// The next transaction.
  void next() {
    chunk = null;
    if (load.failed()) {
      end();
      return;
    }
    ManagedTransaction transaction;
    try {
      transaction = load.begin();
    } catch (Throwable refused) {
      load.noteFailure(refused);
      end();
      return;
    }
    load.run(
        transaction,
        load.inner(session, load.tables(), this::task),
        failure -> inserted(transaction, failure));
  }

  /// Draws a part, if none is at hand, and inserts rows of it.
  private Task task(
      StatementExecution execution, BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return new Task() {
      @Override
      public @Nullable Task run(TaskContext context) {
        Interrupts.Source outer = Interrupts.enter(load);
        try {
          if (!hasPart()) {
            exhausted = true;
            done.accept(0L, null);
            return null;
          }
          boolean apart = oneByOne > 0 || !load.isBulk();
          LoadChunk next = new LoadChunk(load, feed, position, apart, execution, done);
          chunk = next;
          return next;
        } catch (Throwable failed) {
          done.accept(null, RunFailures.report(failed));
          return null;
        } finally {
          Interrupts.leave(outer);
        }
      }

      @Override
      public void discarded(Job job) {
        done.accept(null, RunFailures.canceled());
      }
    };
  }

  private boolean hasPart() {
    if (feed.isWithinPart()) {
      return true;
    }
    while (feed.hasPart()) {
      LoadPart part = feed.part();
      PartPosition known = load.known(part.number());
      if (!known.done()) {
        if (known.rows() > 0) {
          part.skip(known.rows());
        }
        position = known;
        return true;
      }
      feed.endPart();
    }
    return false;
  }

  private void inserted(ManagedTransaction transaction, @Nullable EngineException failure) {
    if (failure != null) {
      load.noteFailure(failure);
    }
    LoadChunk last = chunk;
    if (failure != null || last == null) {
      transaction.rollback(this::afterLast);
      return;
    }
    transaction.commit(
        CommitResponse.AVAILABLE,
        refused -> {
          if (refused == null) {
            committed(last.after(), last.hasReadAgain());
          } else {
            load.noteFailure(refused);
            end();
          }
        });
  }

  private void afterLast() {
    if (!exhausted && !load.failed()) {
      load.noteFailure(RunFailures.canceled());
    }
    end();
  }

  private void committed(PartPosition now, boolean again) {
    load.committed(feed.part().number(), now);
    position = now;
    if (again) {
      lastOneByOne = Math.min(MAX_ONE_BY_ONE, 2 * lastOneByOne + 1);
      oneByOne = lastOneByOne;
    } else if (oneByOne > 0) {
      oneByOne--;
    } else {
      lastOneByOne = 0;
    }
    try {
      if (now.done()) {
        feed.endPart();
      }
    } catch (Throwable failed) {
      load.noteFailure(failed);
    }
    next();
  }

  private void end() {
    try {
      feed.close();
    } catch (Throwable failed) {
      load.noteFailure(failed);
    }
    load.laneEnded();
  }
}
