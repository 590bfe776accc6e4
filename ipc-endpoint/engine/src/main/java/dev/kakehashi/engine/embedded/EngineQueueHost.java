package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.scheduler.Timer;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Services of an engine for its queues: its log, the machine's clocks, and its scheduler. Thread-safe.
///
/// When the scheduler stops there are no alarms any more; the engine, which is closed before, ends the queues itself.
final class EngineQueueHost implements QueueHost {
  private static final Logger LOG = LoggerFactory.getLogger(EngineQueueHost.class);

  private final Store store;
  private final TaskScheduler scheduler;

  EngineQueueHost(Store store, TaskScheduler scheduler) {
    this.store = store;
    this.scheduler = scheduler;
  }

  @Override
  public void write(QueueChanges changes, Consumer<@Nullable Throwable> done) {
    store.writeQueues(changes, done);
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Alarm after(long nanos, Runnable action) {
    try {
      Timer timer = scheduler.after(Duration.ofNanos(Math.max(0, nanos)), new Action(action));
      return timer::cancel;
    } catch (SchedulerStoppedException stopping) {
      LOG.debug("no alarm of a queue: the scheduler stops", stopping);
      return () -> {};
    }
  }

  @Override
  public void execute(Runnable action) {
    try {
      scheduler.execute(new Action(action));
    } catch (SchedulerStoppedException stopping) {
      LOG.debug("nothing more is done for queues: the scheduler stops", stopping);
    }
  }

  private record Action(Runnable action) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      try {
        action.run();
      } catch (RuntimeException failed) {
        LOG.error("work of a queue failed", failed);
      }
      return null;
    }
  }
}
