package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.CounterSum;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Platform;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// How jobs and tasks get to a queue or to a thread that runs them at once, see [TaskScheduler] for the ways. Thread-safe; the
/// queues' own protocols are theirs, and every way ends with a look for sleepers.
final class Submission {
  private final TaskScheduler scheduler;
  private final JobRegistry registry;
  private final Intake intake;
  private final Inbox[] inboxes;
  private final boolean stripeByThread;
  private final AtomicInteger roundRobin = new AtomicInteger();
  private final Sleepers sleepers;
  private final CounterSum counters;
  private final Watchdog watchdog;
  private final Job jobless;
  private final AtomicInteger pinnedLanes = new AtomicInteger();

  @SuppressWarnings("ThreadLocalUsage") // one runner for each thread and scheduler
  private final ThreadLocal<@Nullable CallerRunner> callers = new ThreadLocal<>();

  private final int workers;

  Submission(
      TaskScheduler scheduler,
      JobRegistry registry,
      Intake intake,
      Sleepers sleepers,
      CounterSum counters,
      Watchdog watchdog) {
    this.scheduler = scheduler;
    this.registry = registry;
    this.intake = intake;
    inboxes = intake.inboxes();
    stripeByThread = scheduler.config().flag(SchedulerConfig.Parameter.PREFERRED_WORKER_FOR_THREAD);
    this.sleepers = sleepers;
    this.counters = counters;
    this.watchdog = watchdog;
    jobless = scheduler.jobless();
    workers = scheduler.config().workers();
  }

  /// As [TaskScheduler#execute].
  void execute(Task task) {
    Inbox inbox = stripe();
    if (!intake.offerJobless(inbox, task)) {
      executeWhenFull(inbox, task);
    }
  }

  private void executeWhenFull(Inbox inbox, Task task) {
    if (inbox.closed()) {
      throw new SchedulerStoppedException("task");
    }
    Runner runner = currentRunner();
    if (runner != null) { // a running task is never made to wait for room
      runner.counters.accepted(1);
      runner.counters.add(Counters.JOBLESS_TAKEN);
      intake.enqueue(inbox, task, jobless, false);
      return;
    }
    boolean queued =
        intake.whenFull(
            "a task",
            () -> {
              if (intake.offerJobless(inbox, task)) {
                return true;
              }
              if (inbox.closed()) {
                throw new SchedulerStoppedException("task");
              }
              return false;
            });
    if (!queued) {
      accept(JobBuilder.reporting(scheduler, "task"), task, Option.CALLER, null);
    }
  }

  void accept(Job job, Task bootstrap, Option option, @Nullable Duration timeout) {
    // A bootstrap task that is handed over here carries the job's only count until it has run. One
    // that waits for a lane or
    // an admission may be claimed and ended by a cancel before those have it, and with the last job
    // the workers: then the
    // submission needs a count of its own.
    boolean guarded = job.lane() != null || job.admission() != null;
    if (guarded) {
      job.addPending(1);
    }
    if (!registry.add(job)) {
      throw new SchedulerStoppedException(job.name());
    }
    try {
      enter(job, bootstrap, option, timeout);
    } catch (RuntimeException e) {
      job.withdraw();
      registry.refuse(job);
      throw e;
    } finally {
      if (guarded && job.returnPending(1)) {
        job.complete(currentRunner());
      }
    }
  }

  private void enter(Job job, Task bootstrap, Option option, @Nullable Duration timeout) {
    if (timeout != null) {
      job.armDeadline(timeout);
    }
    Admission admission = job.admission();
    if (admission != null && !admit(job, admission)) {
      return;
    }
    if (option == Option.CALLER && runOnCaller(job, bootstrap)) {
      return;
    }
    Lane lane = job.lane();
    Runner runner = currentRunner();
    if (lane != null) {
      lane.submitJob(job, runner);
    } else if (runner != null) {
      publish(bootstrap, job, option); // a running task is never made to wait for room
    } else {
      Inbox inbox = stripe();
      if (!intake.offer(inbox, bootstrap, job, option == Option.IMMEDIATE)) {
        whenFull(inbox, job, bootstrap);
      }
    }
  }

  /// Whether the caller may start the job now.
  private boolean admit(Job job, Admission admission) {
    return admission.enter(job)
        && job.takeAdmission()
        && (job.lane() != null || job.claimBootstrap() != null); // else a cancel has published it
  }

  /// Starts a job that its admission has kept. False if it had ended before; never runs user code.
  boolean admitted(Job job) {
    if (!job.takeAdmission()) {
      return false;
    }
    Lane lane = job.lane();
    if (lane == null) {
      Task bootstrap = job.claimBootstrap();
      if (bootstrap != null) {
        publish(bootstrap, job, Option.DEFAULT);
      }
    } else {
      try {
        lane.submitJob(job, currentRunner());
      } catch (IllegalStateException sealed) {
        job.cancel(sealed);
      }
    }
    return true;
  }

  private void whenFull(Inbox inbox, Job job, Task bootstrap) {
    if (!intake.whenFull(
        "job \"" + job.name() + "\"", () -> intake.offer(inbox, bootstrap, job, false))) {
      if (!runOnCaller(job, bootstrap)) {
        throw new AssertionError("a runner's submissions are not refused");
      }
    }
  }

  private boolean runOnCaller(Job job, Task bootstrap) {
    if (Platform.currentThread() instanceof WorkerThread) {
      return false;
    }
    CallerRunner runner = callers.get();
    if (runner == null) {
      runner = new CallerRunner(scheduler, counters.newCaller());
      callers.set(runner);
      watchdog.watch(runner, Thread.currentThread());
    } else if (runner.busy()) {
      return false;
    }
    Lane lane = job.lane();
    if (lane != null) {
      if (!lane.tryEnter()) {
        return false;
      }
      if (job.claimBootstrap() == null) { // a cancel has published it
        lane.release(1, null);
        return true;
      }
      job.takeLanePermit();
    }
    runner.counters.add(Counters.JOBS_ON_CALLER);
    runner.run(bootstrap, job);
    return true;
  }

  /// Accepts a job whose bootstrap task somebody claims later.
  Job acceptDeferred(String name, Task bootstrap, boolean timer) {
    Job job = JobBuilder.deferred(scheduler, name, bootstrap, timer);
    if (!registry.add(job)) {
      throw new SchedulerStoppedException(name);
    }
    return job;
  }

  /// Queues a counted task; never refuses and never blocks.
  void publish(Task task, Job job, Option option) {
    if (Platform.currentThread() instanceof WorkerThread thread
        && thread.worker.scheduler == scheduler
        && (option == Option.LOCAL || option == Option.YIELDING)) {
      if (option == Option.LOCAL) {
        thread.worker.pushNewest(task, job);
      } else {
        thread.worker.pushOldest(task, job);
      }
      return;
    }
    intake.enqueue(stripe(), task, job, option == Option.IMMEDIATE);
  }

  void publishInternal(InternalTask task) {
    intake.enqueue(stripe(), task, null, false);
  }

  /// Queues a lane that has a permit: at home if it has one, so that its data stay in that worker's cache.
  void publishLane(InternalTask laneTask, int homeWorker, @Nullable Runner runner) {
    scheduler.count(Counters.LANES_SCHEDULED, 1, runner);
    // An inbox even if this worker is at home. A task that waits in a lane is mostly a request, and
    // must not wait behind the worker's own job.
    intake.enqueue(homeWorker < 0 ? stripe() : inboxes[homeWorker], laneTask, null, false);
  }

  /// Queues a pinned lane that has a permit.
  void publishPinned(InternalTask laneTask, int worker, @Nullable Runner runner) {
    scheduler.count(Counters.LANES_SCHEDULED, 1, runner);
    Worker home = scheduler.workers()[worker];
    home.pinned.add(laneTask, null);
    sleepers.wake(home.sleeper);
  }

  /// The workers take their share of the pinned lanes in turn.
  int nextPinnedWorker() {
    return Math.floorMod(pinnedLanes.getAndIncrement(), workers);
  }

  /// The current thread's inbox: a worker's own, or the one that its id falls upon.
  private Inbox stripe() {
    Thread current = Platform.currentThread();
    if (current instanceof WorkerThread thread && thread.worker.scheduler == scheduler) {
      return inboxes[thread.worker.workerIndex()];
    }
    // Thread ids are small and dense; the multiplication spreads them without a division.
    int key =
        stripeByThread
            ? (int) Platform.threadId(current) * 0x9E3779B9
            : roundRobin.getAndAdd(0x9E3779B9);
    return inboxes[(int) (((key & 0xFFFF_FFFFL) * inboxes.length) >>> 32)];
  }

  /// The runner whose task is running on this thread, or null.
  @Nullable Runner currentRunner() {
    if (Platform.currentThread() instanceof WorkerThread thread) {
      return thread.worker.scheduler == scheduler ? thread.worker : null;
    }
    CallerRunner runner = callers.get();
    return runner != null && runner.busy() ? runner : null;
  }

  /// A job for a running task that had none and needs one; its count is the task's.
  Job adopt() {
    Job job = JobBuilder.reporting(scheduler, "task");
    registry.addAlways(job);
    return job;
  }
}
