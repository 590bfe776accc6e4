package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.BatchConsumer;
import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RowsBeforeFailure;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import org.jspecify.annotations.Nullable;

/// One task's share of a stage: draws batches from its chain and hands them to its collector or consumer.
///
/// It never waits: without room for a result it parks as a conditional task that the reader's release makes runnable again, with the batch
/// it could not deliver still in its chain. Confined to one thread at a time; the scheduler orders one run before the next.
final class StageTask implements Task {
  /// Batches that the thread which received the request may spend on a statement that turned out to be long.
  private static final int CALLER_BATCHES = 16;

  private final PlanRun run;
  private final Operator chain;
  private final Breaker.@Nullable Collector collector;
  private final @Nullable BatchConsumer consumer;

  /// The one after it of the same stage. Written before they run.
  @Nullable StageTask next;

  private boolean opened;
  private @Nullable VectorBatch pending;
  private boolean inputEnded;
  private int callerBatches;

  /// Written by this task before it first waits; read by whoever wakes it.
  private volatile @Nullable Condition condition;

  StageTask(
      PlanRun run,
      Operator chain,
      Breaker.@Nullable Collector collector,
      @Nullable BatchConsumer consumer) {
    this.run = run;
    this.chain = chain;
    this.collector = collector;
    this.consumer = consumer;
  }

  Breaker.Collector collector() {
    if (collector == null) {
      throw new IllegalStateException("the stage ends in a consumer");
    }
    return collector;
  }

  BatchConsumer consumer() {
    if (consumer == null) {
      throw new IllegalStateException("the stage ends in a breaker");
    }
    return consumer;
  }

  void wake() {
    Condition waitedFor = condition;
    if (waitedFor != null) {
      waitedFor.signal();
    }
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(run);
    try {
      return runOn(context);
    } finally {
      Interrupts.leave(before);
    }
  }

  private @Nullable Task runOn(TaskContext context) {
    try {
      if (!opened) {
        opened = true;
        chain.open();
      }
      while (!run.failed()) {
        run.scope().checkCanceled();
        if (!inputEnded && pending == null) {
          pending = chain.next();
          inputEnded = pending == null;
        }
        if (!deliver()) {
          return waitForRoom(context);
        }
        if (inputEnded) {
          break;
        }
        if (context.workerIndex() < 0) {
          if (++callerBatches > CALLER_BATCHES || run.isOverdue()) {
            run.leaveCaller();
            context.submit(this);
            return null;
          }
        } else if (context.shouldYield()) {
          return context.resubmit(this);
        }
      }
    } catch (Throwable e) {
      if (consumer != null && RowsBeforeFailure.isOfRow(e)) {
        consumer.endBeforeFailure();
      }
      run.noteFailure(e);
    }
    return end(context);
  }

  /// Hands on the pending batch, or the end of the input; false when there is no room.
  private boolean deliver() {
    VectorBatch batch = pending;
    if (consumer != null) {
      run.deliver();
      if (batch == null) {
        return consumer.finish();
      }
      if (!consumer.accept(batch)) {
        return false;
      }
    } else if (collector != null) {
      if (batch == null) {
        collector.finish();
      } else {
        collector.accept(batch);
      }
    }
    pending = null;
    return true;
  }

  private @Nullable Task waitForRoom(TaskContext context) {
    Condition room = condition;
    if (room == null) {
      room = context.scheduler().condition();
      condition = room;
    }
    run.hookCancel();
    run.sink().whenWritable(room::signal);
    if (run.failed()) {
      room.signal();
    }
    return context.await(room, this);
  }

  private @Nullable Task end(@Nullable TaskContext context) {
    pending = null;
    try {
      if (run.failed() && consumer != null) {
        consumer.abandon();
      }
      chain.close();
    } catch (Throwable e) {
      run.noteFailure(e);
    }
    return run.taskEnded(context);
  }

  @Override
  public void discarded(Job job) {
    run.noteFailure(RunFailures.canceled());
    end(null);
  }
}
