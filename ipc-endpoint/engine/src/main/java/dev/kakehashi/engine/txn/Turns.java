package dev.kakehashi.engine.txn;

import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// Runs the operations of one transaction one after another, in the order in which they were asked for.
///
/// An operation has its turn from its start until a call of [#end()], which may be long after its method returned. When nothing else is
/// under way an operation starts on the calling thread, at the price of one uncontended lock; otherwise it is started by a worker.
///
/// *Why no lane of the scheduler.* A lane's permit ends with its job, a turn where the operation says: a query gives it back at its view,
/// long before its job ends. Commit, rollback and savepoints need no job, and have to run also when the scheduler takes no more: a lane's
/// waiting job is discarded then. And a turn is cheaper, see docs/measurements.md.
///
/// `busy` and `waiting` are guarded by this. The thread that changes `busy` from false to true, or takes an operation off `waiting`, starts
/// that operation.
final class Turns {
  private final TaskScheduler scheduler;

  /// Null: nothing has ever waited.
  private @Nullable ArrayDeque<Runnable> waiting;

  private boolean busy;

  Turns(TaskScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /// Starts the operation now, or when the ones before it have ended.
  void begin(Runnable operation) {
    synchronized (this) {
      if (busy) {
        if (waiting == null) {
          waiting = new ArrayDeque<>(2);
        }
        waiting.add(operation);
        return;
      }
      busy = true;
    }
    operation.run();
  }

  /// Takes the turn if nobody has it.
  boolean tryBegin() {
    synchronized (this) {
      if (busy) {
        return false;
      }
      busy = true;
      return true;
    }
  }

  /// Ends the turn of the running operation.
  void end() {
    Runnable next;
    synchronized (this) {
      next = waiting == null ? null : waiting.poll();
      if (next == null) {
        busy = false;
        return;
      }
    }
    try {
      scheduler.submit(context -> {
        next.run();
        return null;
      });
    } catch (SchedulerStoppedException stopping) {
      // Every operation checks for itself whether it may still run.
      next.run();
    }
  }
}
