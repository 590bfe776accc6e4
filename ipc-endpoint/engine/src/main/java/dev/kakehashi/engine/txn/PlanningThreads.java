package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Option;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Where statements are planned, so that those that take long to plan never have all workers: planning does not give its thread back before
/// its end.
///
/// Half of the workers may plan. While they do, further planning runs on threads of its own, a few for each user. The operating system lets
/// these take turns with the workers. Planning of a user beyond that waits, for this user alone.
///
/// Thread-safe.
public final class PlanningThreads implements AutoCloseable {
  /// Most threads of one user.
  private static final int MAX_THREADS = 4;

  private static final long IDLE_SECONDS = 10;

  private final Semaphore workers;
  private final ThreadPoolExecutor threads;
  private final Map<String, Queue> queues = new HashMap<>(); // guarded by this

  /// Planning of one user beyond the workers. Guarded by the threads' lock.
  private static final class Queue {
    private int running;
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  }

  public PlanningThreads(TaskScheduler scheduler) {
    SchedulerConfig config = scheduler.config();
    long stackBytes = config.get(SchedulerConfig.Parameter.WORKER_STACK) << 10;
    AtomicLong number = new AtomicLong();
    this.workers = new Semaphore(config.workers() / 2);
    this.threads =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            work -> {
              Thread thread =
                  new Thread(null, work, "planner-" + number.incrementAndGet(), stackBytes, false);
              thread.setDaemon(true);
              return thread;
            });
  }

  /// Plans on this worker or elsewhere; the job lasts until that has ended.
  ///
  /// @param user who pays for it
  /// @param work plans and goes on with what it has; throws nothing
  /// @return has it begin at once if it waits for others of the user: one that was canceled ends then. Idempotent, from any thread; null:
  ///     it has begun
  /// @throws EngineException SHUTTING_DOWN
  public @Nullable Runnable plan(TaskContext context, String user, Runnable work) {
    if (workers.tryAcquire()) {
      try {
        work.run();
      } finally {
        workers.release();
      }
      return null;
    }
    Job.Hold hold = context.job().hold(Option.DIRECT);
    Runnable held =
        () -> {
          try {
            work.run();
          } finally {
            hold.close();
          }
        };
    boolean given = false;
    try {
      boolean waits = waits(user, held);
      given = true;
      return waits ? () -> hasten(user, held) : null;
    } finally {
      if (!given) {
        hold.close();
      }
    }
  }

  /// Has a thread do it, now or later; says whether it waits.
  private boolean waits(String user, Runnable work) {
    synchronized (this) {
      Queue queue = queues.computeIfAbsent(user, _ -> new Queue());
      if (queue.running == MAX_THREADS) {
        queue.waiting.add(work);
        return true;
      }
      queue.running++;
    }
    boolean begun = false;
    try {
      threads.execute(() -> runAll(user, work));
      begun = true;
      return false;
    } catch (RejectedExecutionException closed) {
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down", closed);
    } finally {
      if (!begun) {
        leave(user);
      }
    }
  }

  /// Not counted among the user's threads: canceled work ends as soon as it begins.
  private void hasten(String user, Runnable work) {
    synchronized (this) {
      Queue queue = queues.get(user);
      if (queue == null || !queue.waiting.remove(work)) {
        return;
      }
    }
    try {
      threads.execute(work);
    } catch (RejectedExecutionException closed) {
      work.run(); // it finds the engine closed
    }
  }

  private void runAll(String user, Runnable first) {
    for (Runnable work = first; work != null; work = next(user)) {
      work.run();
    }
  }

  /// Next work of a thread of the user; null: none, and the thread is the user's no longer.
  private synchronized @Nullable Runnable next(String user) {
    Queue queue = Objects.requireNonNull(queues.get(user));
    Runnable work = queue.waiting.poll();
    if (work == null) {
      leave(user);
    }
    return work;
  }

  private synchronized void leave(String user) {
    Queue queue = Objects.requireNonNull(queues.get(user));
    if (--queue.running == 0 && queue.waiting.isEmpty()) {
      queues.remove(user);
    }
  }

  /// Planning that has begun goes on; the caller that closes the engine tells its statements to end.
  @Override
  public void close() {
    threads.shutdown();
  }
}
