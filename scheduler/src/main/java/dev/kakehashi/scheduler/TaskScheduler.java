package dev.kakehashi.scheduler;

import java.io.IOException;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Runs jobs of fine-grained tasks on a fixed number of daemon threads. Thread-safe.
public final class TaskScheduler implements AutoCloseable {
  record Queued(Task task, @Nullable Job job) {}

  static final Task STOP = context -> null;

  private final SchedulerConfig config;
  final LinkedBlockingDeque<Queued> queue = new LinkedBlockingDeque<>();
  private final int lightweightJobLevel;
  private final int laneBatch;
  private final JobRegistry registry;
  private final Watcher watcher;
  private final Worker[] workers;
  private final LongAdder accepted = new LongAdder();
  private final LongAdder jobsDone = new LongAdder();
  private final ThreadLocal<CallerRunner> callers =
      ThreadLocal.withInitial(() -> new CallerRunner(this, new Counters()));
  private final ConcurrentHashMap<Object, LaneReference> lanes = new ConcurrentHashMap<>();
  private final ReferenceQueue<Lane> deadLanes = new ReferenceQueue<>();

  private TaskScheduler(SchedulerConfig config) {
    this.config = config;
    lightweightJobLevel = config.intValue(SchedulerConfig.Parameter.LIGHTWEIGHT_JOB_LEVEL);
    laneBatch = config.intValue(SchedulerConfig.Parameter.LANE_BATCH);
    registry = new JobRegistry(config.workers());
    watcher = new Watcher(this);
    workers = new Worker[config.workers()];
    for (int i = 0; i < workers.length; i++) {
      workers[i] = new Worker(this, i);
    }
  }

  /// Starts the workers.
  public static TaskScheduler start(SchedulerConfig config) {
    TaskScheduler scheduler = new TaskScheduler(config);
    for (Worker worker : scheduler.workers) {
      worker.thread.start();
    }
    return scheduler;
  }

  /// Describes a job; nothing happens before its [Job.Builder#submit].
  public Job.Builder job(String name) {
    return new Job.Builder(this, name);
  }

  /// Submits an anonymous job of one bootstrap task.
  ///
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  public Job submit(Task bootstrap) {
    return job("task").submit(bootstrap);
  }

  /// The lane of a key, the same object as long as anyone uses it.
  ///
  /// @param permits 1 .. 32767, the same at every call for this key
  /// @throws IllegalArgumentException if the lane in use has another number of permits
  public Lane lane(Object key, int permits) {
    Objects.requireNonNull(key, "key");
    for (Object dead = deadLanes.poll(); dead != null; dead = deadLanes.poll()) {
      LaneReference reference = (LaneReference) dead;
      lanes.remove(reference.key, reference);
    }
    for (; ; ) {
      LaneReference reference = lanes.get(key);
      Lane lane = reference == null ? null : reference.get();
      if (lane == null) {
        lane = newLane(permits);
        LaneReference added = new LaneReference(key, lane, deadLanes);
        boolean mine =
            reference == null
                ? lanes.putIfAbsent(key, added) == null
                : lanes.replace(key, reference, added);
        if (!mine) {
          continue;
        }
      }
      if (lane.permits() != permits) {
        throw new IllegalArgumentException(
            "lane \"" + key + "\" has " + lane.permits() + " permits, not " + permits);
      }
      return lane;
    }
  }

  /// As `lane(key, 1)`: the tasks of one transaction.
  public Lane sticky(Object key) {
    return lane(key, 1);
  }

  /// A lane without a key, which belongs to whoever holds the reference: cheaper than [#lane].
  public Lane newLane(int permits) {
    return new Lane(this, permits);
  }

  /// A condition that is signalled.
  public Condition condition() {
    return new Condition(this, null);
  }

  /// A condition that the watcher polls while tasks wait for it. The check must be quick, must not block, and is
  /// called from several threads.
  public Condition condition(BooleanSupplier check) {
    return new Condition(this, Objects.requireNonNull(check, "check"));
  }

  /// Runs a task in a job of its own after the delay.
  public Timer after(Duration delay, Task task) {
    Job job = acceptQuietly("timer", task);
    Timer timer =
        watcher.schedule(
            delay,
            () -> {
              Task claimed = job.claimBootstrap();
              if (claimed != null) {
                publish(claimed, job, Option.DEFAULT);
              }
            });
    return () -> {
      timer.cancel();
      return job.cancel();
    };
  }

  /// Lists jobs and workers for people. Touches no queue.
  public void dump(Appendable out) throws IOException {
    for (Job job : registry.live()) {
      out.append(job.toString()).append('\n');
    }
  }

  /// Stops: refuses jobs, waits `grace` for the running ones, cancels the rest, ends the workers.
  public ShutdownReport shutdown(Duration grace) {
    registry.close();
    List<String> stuck = new ArrayList<>();
    int cancelled = 0;
    try {
      if (!registry.awaitEmpty(System.nanoTime() + grace.toNanos())) {
        for (Job job : registry.live()) {
          cancelled += job.cancel() ? 1 : 0;
          job.dropHolds();
        }
        registry.awaitEmpty(System.nanoTime() + grace.toNanos());
      }
      for (int i = 0; i < workers.length; i++) {
        queue.addLast(new Queued(STOP, null));
      }
      for (Worker worker : workers) {
        if (!worker.thread.join(grace)) {
          stuck.add(worker.thread.getName());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    watcher.stop();
    return new ShutdownReport(accepted.sum(), 0, 0, 0, cancelled, stuck);
  }

  /// Shuts down with the configured grace.
  @Override
  public void close() {
    shutdown(Duration.ofMillis(config.get(SchedulerConfig.Parameter.CLOSE_GRACE)));
  }

  /// The configuration.
  public SchedulerConfig config() {
    return config;
  }

  // ---- for the scheduler's own classes ----

  void accept(Job job, Task bootstrap, Option option, @Nullable Duration timeout) {
    if (!registry.add(job)) {
      throw new SchedulerStoppedException(job.name());
    }
    accepted.increment();
    if (timeout != null) {
      job.armDeadline(timeout);
    }
    if (option == Option.CALLER && runOnCaller(job, bootstrap)) {
      return;
    }
    Lane lane = job.lane();
    if (lane == null) {
      publish(bootstrap, job, option);
      return;
    }
    try {
      lane.submitJob(job, currentRunner());
    } catch (IllegalStateException e) {
      accepted.decrement();
      registry.remove(job);
      throw e;
    }
  }

  private boolean runOnCaller(Job job, Task bootstrap) {
    if (Thread.currentThread() instanceof WorkerThread) {
      return false;
    }
    CallerRunner runner = callers.get();
    if (runner.busy()) {
      return false;
    }
    Lane lane = job.lane();
    if (lane != null) {
      if (!lane.tryEnter()) {
        return false;
      }
      if (job.claimBootstrap() == null) { // cancelled by a shutdown
        lane.release(1, null);
        return true;
      }
      job.takeLanePermit();
    }
    runner.run(bootstrap, job);
    return true;
  }

  Job acceptQuietly(String name, Task bootstrap) {
    Job job = Job.deferred(this, name, bootstrap);
    if (!registry.add(job)) {
      throw new SchedulerStoppedException(name);
    }
    accepted.increment();
    return job;
  }

  void publish(Task task, Job job, Option option) {
    queue.addLast(new Queued(task, job));
  }

  void publishInternal(InternalTask task) {
    queue.addLast(new Queued(task, null));
  }

  void publishLane(InternalTask laneTask, int homeWorker, @Nullable Runner runner) {
    queue.addLast(new Queued(laneTask, null));
  }

  @Nullable Runner currentRunner() {
    if (Thread.currentThread() instanceof WorkerThread thread) {
      return thread.worker.scheduler == this ? thread.worker : null;
    }
    CallerRunner runner = callers.get();
    return runner.busy() ? runner : null;
  }

  void uncaught(String where, Throwable thrown) {
    config.uncaught().uncaught(where, thrown);
  }

  void countJobEnd(Job job, @Nullable Runner runner) {
    jobsDone.increment();
  }

  JobRegistry registry() {
    return registry;
  }

  Watcher watcher() {
    return watcher;
  }

  int lightweightJobLevel() {
    return lightweightJobLevel;
  }

  int laneBatch() {
    return laneBatch;
  }

  private static final class LaneReference extends WeakReference<Lane> {
    final Object key;

    LaneReference(Object key, Lane lane, ReferenceQueue<Lane> queue) {
      super(lane, queue);
      this.key = key;
    }
  }
}
