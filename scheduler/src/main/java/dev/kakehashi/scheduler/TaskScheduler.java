package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.metrics.CounterSum;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Runs jobs of fine-grained tasks on a fixed number of daemon threads. Thread-safe.
///
/// A task goes from where it was made to a worker by one of these ways:
///
/// ```
///  spawn                 own deque, newest end            stolen from the old end
///  resubmit, YIELDING    own deque, old end
///  submit from outside   inbox of the submitting thread   taken in batches by any worker
///  no room               overflow                         taken after the inboxes
///  lane busy             the lane's queue                 the lane itself is queued when a permit is free
///  lane is pinned        the pinned queue of its worker   taken by that worker alone
///  await                 the condition
///  CALLER                nowhere: runs on the submitting thread
/// ```
///
/// Every way ends with a publication (an RMW or volatile store on the queue) and a look for sleepers,
/// see [Sleepers]. Outside work and overflow are kept apart, and workers look outside by time, so that a short
/// request does not wait for a long job.
public final class TaskScheduler implements AutoCloseable {
  private final SchedulerConfig config;
  private final int lightweightJobLevel;
  private final int laneBatch;
  private final int conditionMissLimit;
  private final boolean stealing;
  private final JobRegistry registry;
  private final Watcher watcher;
  private final Watchdog watchdog;
  private final Sleepers sleepers;
  private final Worker[] workers;
  private final Intake intake;
  private final Job jobless;
  private final CounterSum counters;
  private final Status status;
  private final Submission submission;
  private final LaneTable lanes = new LaneTable(this);

  /// A thread that adds a part looks afterwards whether a shutdown has begun. A shutdown asks the parts that it sees to end.
  private final ConcurrentHashMap<Class<?>, SchedulerPart> parts = new ConcurrentHashMap<>();

  private final Shutdown shutdown = new Shutdown(this);
  private final JobBuilder plainJob =
      new JobBuilder(this, "task"); // never changed, so it serves all
  private volatile boolean stopped;
  private volatile boolean discardsJobless;

  private TaskScheduler(SchedulerConfig config) {
    this.config = config;
    lightweightJobLevel = config.intValue(Parameter.LIGHTWEIGHT_JOB_LEVEL);
    conditionMissLimit = config.intValue(Parameter.CONDITION_MISS_LIMIT);
    laneBatch = config.intValue(Parameter.LANE_BATCH);
    stealing = config.flag(Parameter.STEALING);
    registry = new JobRegistry(config.workers(), this::joblessEnded);
    watcher = new Watcher(this);
    watchdog = new Watchdog(this);
    sleepers =
        new Sleepers(
            config.workers(), config.maxSearchers(), config.distribution() == Distribution.ROLE);
    jobless = JobBuilder.none(this);
    intake = new Intake(config, sleepers, jobless);
    workers = new Worker[config.workers()];
    Arrays.setAll(workers, i -> new Worker(this, i, sleepers));
    counters = new CounterSum(Arrays.stream(workers).map(worker -> worker.counters).toList());
    submission = new Submission(this, registry, intake, sleepers, counters, watchdog);
    status = new Status(this, counters, sleepers, watchdog);
  }

  /// Starts the workers.
  public static TaskScheduler start(SchedulerConfig config) {
    TaskScheduler scheduler = unstarted(config);
    for (Worker worker : scheduler.workers) {
      scheduler.startWorker(worker);
    }
    scheduler.watchdog.start();
    return scheduler;
  }

  /// With all its parts, of which none runs.
  static TaskScheduler unstarted(SchedulerConfig config) {
    return new TaskScheduler(config);
  }

  void startWorker(Worker worker) {
    watchdog.watch(worker, worker.thread());
    Platform.start(worker.thread());
  }

  /// Describes a job; nothing happens before its [JobBuilder#submit].
  public JobBuilder job(String name) {
    return new JobBuilder(this, name);
  }

  /// Submits an anonymous job of one bootstrap task.
  ///
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  public Job submit(Task bootstrap) {
    return plainJob.submit(bootstrap);
  }

  /// As `job(name).attachment(attachment).timed().workLevel(workLevel).submit(bootstrap)`, for what comes by the hundred thousand a second:
  /// nothing is allocated besides the job, however much of this the compiler has inlined.
  ///
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  public Job submitTimed(String name, Object attachment, int workLevel, Task bootstrap) {
    Job job = new Job(this, name, attachment);
    submission().accept(job, bootstrap, optionOf(workLevel, Option.DEFAULT), null);
    return job;
  }

  /// Where the bootstrap task of a job goes that has an estimate.
  Option optionOf(int workLevel, Option otherwise) {
    return workLevel <= lightweightJobLevel() ? Option.CALLER : otherwise;
  }

  /// Runs a task without a job, as [java.util.concurrent.Executor#execute]: nothing to wait for, to cancel or to end, and
  /// nothing allocated. An exception of the task goes to the uncaught handler. A task that asks its context for the job, spawns or makes a
  /// tail call gets a job of its own at that moment. A shutdown waits for it as for a job; what has not started when the grace ends is
  /// discarded.
  ///
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  /// @throws RejectedExecutionException if the inbox is full and the policy is to throw
  public void execute(Task task) {
    submission.execute(Objects.requireNonNull(task, "task"));
  }

  /// The lane of a key, the same object as long as anyone uses it.
  ///
  /// @param permits 1 .. 32767, the same at every call for this key
  /// @throws IllegalArgumentException if the lane in use has another number of permits
  public Lane lane(Object key, int permits) {
    return lanes.lane(key, permits, Affinity.HOME);
  }

  /// As `lane(key, 1)`: the tasks of one transaction.
  public Lane sticky(Object key) {
    return sticky(key, Affinity.HOME);
  }

  /// As [#sticky(Object)], with [Affinity#PINNED] on one thread for as long as anyone uses the lane.
  public Lane sticky(Object key, Affinity affinity) {
    return lanes.lane(key, 1, affinity);
  }

  /// A lane without a key, which belongs to whoever holds the reference: cheaper than [#lane].
  public Lane newLane(int permits) {
    return newLane(permits, Affinity.HOME);
  }

  /// As [#newLane(int)]; a pinned lane has one permit.
  public Lane newLane(int permits, Affinity affinity) {
    return new Lane(this, permits, affinity);
  }

  /// A queue of requests that starts no more than the limit allows.
  public Admission admission(RateLimit limit) {
    return new Admission(this, limit);
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

  /// The part of a class, which is made at the first call.
  ///
  /// @param maker of an object of that class
  public <P extends SchedulerPart> P part(Class<P> type, Function<TaskScheduler, P> maker) {
    SchedulerPart part = parts.get(type);
    if (part == null) {
      part = parts.computeIfAbsent(type, missing -> maker.apply(this));
      if (registry.isClosed()) {
        part.cancelAll();
      }
    }
    return type.cast(part);
  }

  Collection<SchedulerPart> parts() {
    return parts.values();
  }

  /// Runs a task in a job of its own after the delay. A shutdown does not wait for it: it is discarded.
  ///
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  public Timer after(Duration delay, Task task) {
    Job job = submission.acceptDeferred("timer", task, true);
    Timer timer =
        watcher.schedule(
            delay,
            () -> {
              Task claimed = job.claimBootstrap();
              if (claimed != null) {
                submission.publish(claimed, job, Option.DEFAULT);
              }
            });
    return () -> {
      // The thread that takes the entry off the watcher decides, so the task is run or discarded,
      // not both.
      return timer.cancel() && job.cancel();
    };
  }

  /// A reading of all counters and gauges, at any time, also after the shutdown.
  public SchedulerMetrics metrics() {
    return status.metrics();
  }

  /// Jobs that have not ended. Takes the locks of submitters, a stripe at a time: for people, not for hot paths.
  public List<Job> jobs() {
    return registry().live();
  }

  /// For how long no worker has ended a task, in nanoseconds, as of the watchdog's last look; 0 if one is free. While that is
  /// long nothing else is served.
  public long allBusyNanos() {
    return watchdog.allBusyNanos();
  }

  /// Lists workers, jobs and processes for people, one a line. Reads sizes and states only: no queue is touched.
  public void dump(Appendable out) throws IOException {
    status.dump(out);
  }

  /// Stops the scheduler, in order: refuses new jobs; waits up to `grace` for the running ones, which may still
  /// spawn; cancels the rest, discards their queued tasks and drops their holds; lets the workers go when nothing is
  /// queued, and interrupts one that does not come back. Every accepted task is run or discarded once, every
  /// job has its teardown, unless a worker is stuck in user code: the report says so.
  ///
  /// Idempotent; later calls wait for the first one. From a task it refuses new jobs, returns an
  /// interim report and goes on in the background.
  public ShutdownReport shutdown(Duration grace) {
    return shutdown.run(grace);
  }

  /// Shuts down with the configured `closeGrace`.
  @Override
  public void close() {
    shutdown(Duration.ofMillis(config.get(Parameter.CLOSE_GRACE)));
  }

  /// The configuration.
  public SchedulerConfig config() {
    return config;
  }

  // ---- for the scheduler's own classes ----

  /// Whether any queue that a sleeping worker could take from holds a task.
  boolean anyWork() {
    if (anyOutside()) {
      return true;
    }
    if (stealing) {
      for (Worker worker : workers) {
        if (worker.deque.size() > 0) {
          return true;
        }
      }
    }
    return false;
  }

  /// Whether an inbox or the overflow holds a task.
  boolean anyOutside() {
    return !intake.isEmpty();
  }

  /// Whether all tasks without a job have ended; after [#refuseJobless] this stays. The count of ended tasks is read first and that of
  /// taken tasks last, after a look at the queues that takes nothing back. Equal sums mean that at the first reading nothing was left.
  private boolean joblessEnded() {
    long ended = counters.sum(Counters.JOBLESS_ENDED);
    VarHandle.acquireFence(); // pairs with addReleased
    return intake.isEmpty() && counters.sum(Counters.JOBLESS_TAKEN) == ended;
  }

  /// Refuses tasks without a job from now on.
  void refuseJobless() {
    intake.close();
  }

  /// Discards tasks without a job that have not started.
  void discardJobless() {
    discardsJobless = true;
  }

  boolean discardsJobless() {
    return discardsJobless;
  }

  Job jobless() {
    return jobless;
  }

  void count(int counter, long by, @Nullable Runner runner) {
    if (runner != null) {
      runner.counters.add(counter, by);
    } else {
      counters.addShared(counter, by);
    }
  }

  void countJobEnd(Job job, @Nullable Runner runner) {
    count(Counters.JOBS_DONE, 1, runner);
    if (job.failure() != null) {
      count(Counters.JOBS_FAILED, 1, runner);
    }
  }

  void uncaught(String where, Throwable thrown) {
    counters.addShared(Counters.UNCAUGHT, 1);
    try {
      config.uncaught().uncaught(where, thrown);
    } catch (Throwable t) {
      lastResort(t, thrown);
    }
  }

  /// As [#uncaught(String, Throwable)], with the job's name if there is memory for it.
  void uncaught(String what, Job job, Throwable thrown) {
    String where = what;
    try {
      where = what + " of job \"" + job.name() + "\"";
    } catch (OutOfMemoryError e) {
      thrown.addSuppressed(e);
    }
    uncaught(where, thrown);
  }

  // The handler has failed: the JVM's own one prints it. If that fails, too, there is nobody left
  // to tell but the
  // counter; the caller's work goes on.
  private void lastResort(Throwable failure, Throwable thrown) {
    try {
      failure.addSuppressed(thrown);
      Thread current = Thread.currentThread();
      current.getUncaughtExceptionHandler().uncaughtException(current, failure);
    } catch (Throwable t) {
      counters.addShared(Counters.UNCAUGHT, 1);
    }
  }

  /// Lets the workers go once nothing is queued.
  void stopWorkers() {
    Platform.point(Point.STOPPING);
    stopped = true; // volatile: a worker that announces its sleep after this sees it
    sleepers.wakeAll();
  }

  /// Time that workers spend on a job and have not added to its clock yet; a guess, as they go on meanwhile.
  long underWayNanos(Job job) {
    long now = Platform.nanoTime();
    long sum = 0;
    for (Worker worker : workers) {
      long since = worker.turnNanos(job);
      sum += since == 0 ? 0 : Math.max(0, now - since);
    }
    return sum;
  }

  /// Makes up for a missed signal.
  void repairSignal() {
    sleepers.repair();
  }

  long[] counterTotals() {
    long[] totals = counters.total();
    totals[Counters.ACCEPTED] += registry.accepted();
    return totals;
  }

  boolean stopped() {
    return stopped;
  }

  Worker[] workers() {
    return workers;
  }

  Intake intake() {
    return intake;
  }

  Inbox[] inboxes() {
    return intake.inboxes();
  }

  OverflowQueue overflow() {
    return intake.overflow();
  }

  Submission submission() {
    return submission;
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

  int conditionMissLimit() {
    return conditionMissLimit;
  }

  int laneBatch() {
    return laneBatch;
  }
}
