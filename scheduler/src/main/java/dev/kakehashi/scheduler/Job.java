package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Latencies;
import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Execution of one request: a bootstrap task, the tasks it spawns, and one teardown after all of them.
///
/// Thread-safe. A job ends exactly once: when its last task has returned or was discarded and no hold is left.
/// Then the teardown callback runs, the lane's permit is given back, the job is [State#DONE], and the
/// [#onDone] callbacks run. All writes of all tasks happen before the teardown.
public final class Job extends JobCount {
  /// Where a job is in its life.
  public enum State {
    /// Accepted; its bootstrap task has not started.
    CREATED,
    /// Has tasks.
    RUNNING,
    /// All tasks have ended, a hold remains.
    HELD,
    /// Canceled or failed; its remaining tasks are being discarded.
    CANCELING,
    /// The teardown has run.
    DONE
  }

  /// How far a job is. Numbers lag behind by what the workers have not yet added up.
  ///
  /// @param expected units that the submitter announced, or 0
  /// @param reported units reported with [TaskContext#progress(long)]
  /// @param spawned tasks of the job so far
  /// @param finished tasks that ended or were discarded
  public record Progress(long expected, long reported, long spawned, long finished) {
    /// Between 0 and 1: of the expected units if there are any (finished tasks count if nothing was
    /// reported), otherwise of the tasks spawned so far.
    public double fraction() {
      double done = expected > 0 && reported > 0 ? reported : finished;
      double all = expected > 0 ? expected : spawned;
      return all == 0 ? 0 : Math.min(1, done / all);
    }
  }

  /// Where the time of a job went, so far or in all.
  ///
  /// @param queuedNanos from its submission to its first start
  /// @param runNanos threads' time for it, summed over threads: tasks, and what it takes to get from one to the next
  /// @param wallNanos from its submission to now or to its end
  /// @param tasks that ended or were discarded; lags behind as [Progress] does
  public record Times(long queuedNanos, long runNanos, long wallNanos, long tasks) {}

  /// Keeps a job from ending, see [Job#hold()].
  public interface Hold extends AutoCloseable {
    /// Releases the hold. Idempotent, from any thread.
    @Override
    void close();
  }

  private static final int NOT_ADMITTED = 0;
  private static final int ADMITTED = 1;
  private static final int LEFT = 2;
  private static final int MAX_SUPPRESSED = 8;
  private static final int LOOKS_BEFORE_WAITING = 80; // about 2 us with the pause instruction
  private static final VarHandle ADMISSION;
  private static final VarHandle BOOTSTRAP;
  private static final VarHandle STARTED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STARTED = lookup.findVarHandle(Job.class, "started", boolean.class);
      ADMISSION = lookup.findVarHandle(Job.class, "admissionState", int.class);
      BOOTSTRAP = lookup.findVarHandle(Job.class, "bootstrap", Task.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // Claimed by CAS to null, by the thread that runs it or by the one that cancels the job while
  // it waits for its lane.
  private volatile @Nullable Task bootstrap;

  private volatile boolean started;

  // NOT_ADMITTED -> ADMITTED -> LEFT or NOT_ADMITTED -> LEFT: a job may be canceled while its
  // admission starts it, and what it holds there is given back once.
  @SuppressWarnings("unused") // through its VarHandle
  private volatile int admissionState;

  private volatile boolean canceled;
  private volatile boolean done;
  private volatile @Nullable Runnable
      cancelHook; // set, then `canceled` is read; a cancel does it the other way round
  private volatile @Nullable Throwable failure;

  // Written by the thread that runs the lane, before it runs the bootstrap task; read by the thread
  // that
  // completes the job, ordered by `pending`.
  private boolean lanePermit;

  // Somebody waits for the end: set (under the lock) before `done` is read, as `done` is set before
  // this is
  // read by the thread that ends the job; so either that thread takes the lock or the other one
  // sees the end.
  private volatile boolean listened;

  // Guarded by this; made for the first who needs it.
  private @Nullable JobLinks links;

  // Written by JobRegistry when the job is accepted, before any other thread knows it, and when it
  // has ended.
  long id;
  @Nullable Job @Nullable [] registryTable;
  int registrySlot;

  private final TaskScheduler scheduler;
  private final String name;
  private final @Nullable Lane lane;
  private final @Nullable Admission admission;
  private final @Nullable Object attachment;
  private final @Nullable Consumer<Job> teardown;
  private final long expected;
  private final boolean timer;
  final @Nullable JobClock clock;
  private @Nullable Timer deadline;

  /// `deferred` is a bootstrap task that waits outside the workers' queues, for a lane or a timer.
  Job(JobBuilder builder, @Nullable Task deferred, boolean timer) {
    this.timer = timer;
    this.clock = builder.timed ? new JobClock() : null;
    this.scheduler = builder.scheduler;
    this.name = builder.name;
    this.lane = builder.lane;
    this.admission = builder.admission;
    this.attachment = builder.attachment;
    this.teardown = builder.teardown;
    this.expected = builder.expected;
    BOOTSTRAP.set(this, deferred); // plain, as the count
  }

  /// A timed job that begins as it is submitted, of no lane.
  Job(TaskScheduler scheduler, String name, Object attachment) {
    this.timer = false;
    this.clock = new JobClock();
    this.scheduler = scheduler;
    this.name = name;
    this.lane = null;
    this.admission = null;
    this.attachment = attachment;
    this.teardown = null;
    this.expected = 0;
  }

  /// Unique in this scheduler.
  public long id() {
    return id;
  }

  /// Name given at [TaskScheduler#job(String)].
  public String name() {
    return name;
  }

  /// Shared state of the job's tasks, or null.
  public @Nullable Object attachment() {
    return attachment;
  }

  /// Lane whose permit this job takes for its whole life, or null.
  public @Nullable Lane lane() {
    return lane;
  }

  /// Where the job is now.
  public State state() {
    if (done) {
      return State.DONE;
    }
    if (canceled) {
      return State.CANCELING;
    }
    if (!started) {
      return State.CREATED;
    }
    int held = holdCount();
    return held > 0 && pending() <= held ? State.HELD : State.RUNNING;
  }

  /// The first throwable of a task, or why the job was canceled; null if neither. Later ones are suppressed
  /// in it, at most eight.
  public @Nullable Throwable failure() {
    return failure;
  }

  /// How far the job is.
  public Progress progress() {
    return progress(expected);
  }

  /// Its times, at any time; null if it is not [JobBuilder#timed()].
  public @Nullable Times times() {
    JobClock running = clock;
    return running == null
        ? null
        : running.times(progress().finished(), scheduler.underWayNanos(this));
  }

  /// Whether the job was canceled or has failed.
  public boolean canceled() {
    return canceled;
  }

  /// Whether the teardown has run.
  public boolean done() {
    return done;
  }

  /// Ends the job early: tasks that have not started are discarded, also those that wait for conditions
  /// or the lane; running tasks see [TaskContext#canceled()]. Idempotent; the first reason becomes the failure.
  ///
  /// @return whether this call canceled the job
  public boolean cancel(Throwable why) {
    Objects.requireNonNull(why, "why");
    List<Condition.Waiter> waiting;
    synchronized (this) {
      if (canceled || done) {
        return false;
      }
      if (failure == null) {
        failure = why;
      }
      canceled = true;
      waiting = JobLinks.waiters(links);
    }
    // A waiter is claimed under its condition's lock, so it goes to a queue once, even if others
    // fire.
    for (Condition.Waiter waiter : waiting) {
      waiter.withdraw();
    }
    Runnable hook = cancelHook;
    if (hook != null) {
      hook.run();
    }
    Task unstarted = claimBootstrap();
    if (unstarted != null) {
      scheduler.submission().publish(unstarted, this, Option.IMMEDIATE);
    }
    return true;
  }

  /// As [#cancel(Throwable)] with a [CancellationException].
  public boolean cancel() {
    return !canceled && cancel(new CancellationException("job \"" + name + "\" was canceled"));
  }

  /// As [#hold(Option)] with [Option#DEFAULT].
  public Hold hold() {
    return hold(Option.DEFAULT);
  }

  /// Keeps the job alive past its tasks, for example until a commit is durable. Call it from a task
  /// of the job or while another hold is open.
  ///
  /// @param option [Option#DIRECT]: the releasing thread may run the teardown; otherwise a worker runs it
  /// @throws IllegalStateException if the job has ended
  public Hold hold(Option option) {
    JobHold hold = new JobHold(this, option == Option.DIRECT);
    if (!tryHold()) {
      throw new IllegalStateException("job \"" + name + "\" has ended and cannot be held");
    }
    synchronized (this) {
      links().addHold(hold);
    }
    return hold;
  }

  /// Waits for the end of the job; never call it from a task. Looks for about 2 us before it parks the thread.
  ///
  /// @return false if the time ran out first
  public boolean await(Duration timeout) throws InterruptedException {
    if (scheduler.submission().currentRunner() != null) {
      throw new IllegalStateException("a task must not wait for a job");
    }
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    // A job that a worker has in hand mostly ends sooner than this thread could fall asleep and be
    // woken.
    for (int i = 0; !done && i < LOOKS_BEFORE_WAITING; i++) {
      Platform.pause();
    }
    if (done) {
      return true;
    }
    synchronized (this) {
      listened = true;
      while (!done) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      return true;
    }
  }

  /// Calls back after the end of the job, on the thread that ended it, or here and now if it has ended.
  public void onDone(Consumer<Job> callback) {
    Objects.requireNonNull(callback, "callback");
    synchronized (this) {
      listened = true;
      if (!done) {
        links().addCallback(callback);
        return;
      }
    }
    call("onDone", callback, null);
  }

  @Override
  public String toString() {
    return "job " + id + " \"" + name + "\" " + state();
  }

  private JobLinks links() { // under the lock
    JobLinks present = links;
    if (present == null) {
      present = new JobLinks();
      links = present;
    }
    return present;
  }

  // ---- for the scheduler ----

  @Nullable Task claimBootstrap() {
    Task task = bootstrap;
    return task != null && BOOTSTRAP.compareAndSet(this, task, null) ? task : null;
  }

  /// The bootstrap task is no longer waiting outside the queues.
  boolean bootstrapGone() {
    return bootstrap == null;
  }

  @Nullable Admission admission() {
    return admission;
  }

  /// The job holds a permit of its admission from now on; false if it has ended.
  boolean takeAdmission() {
    return ADMISSION.compareAndSet(this, NOT_ADMITTED, ADMITTED);
  }

  boolean waitsForTimer() {
    return timer && bootstrap != null;
  }

  /// The job was refused after all.
  void withdraw() {
    BOOTSTRAP.setVolatile(this, null);
    if (deadline != null) {
      deadline.cancel();
    }
    leaveAdmission();
  }

  private void leaveAdmission() {
    if (admission != null && (int) ADMISSION.getAndSet(this, LEFT) == ADMITTED) {
      admission.leave();
    }
  }

  void takeLanePermit() {
    lanePermit = true;
  }

  void markStarted() {
    if (!started) {
      STARTED.setOpaque(this, true); // for people: orders nothing
    }
  }

  /// A task has thrown: the first one decides.
  @SuppressWarnings("ReferenceEquality") // suppressing a throwable in itself is an error
  void fail(Throwable thrown) {
    try {
      if (cancel(thrown)) {
        return;
      }
    } catch (Throwable t) { // no memory to look for those who wait
      scheduler.uncaught("failure", this, t);
      return;
    }
    synchronized (this) {
      Throwable first = failure;
      if (first != null && first != thrown && first.getSuppressed().length < MAX_SUPPRESSED) {
        first.addSuppressed(thrown);
      }
    }
  }

  /// Calls `hook` after a cancel, at once if there was one; once or twice, on any thread. One per job; must not throw.
  void onCancel(Runnable hook) {
    cancelHook = hook;
    if (canceled) {
      hook.run();
    }
  }

  boolean addWaiter(Condition.Waiter waiter) {
    synchronized (this) {
      if (canceled) {
        return false;
      }
      links().addWaiter(waiter);
      return true;
    }
  }

  void removeWaiter(Condition.Waiter waiter) {
    synchronized (this) {
      links().removeWaiter(waiter);
    }
  }

  /// Releases every open hold, the last resort of a shutdown; false if there was none.
  boolean dropHolds() {
    List<JobHold> open;
    synchronized (this) {
      open = JobLinks.holds(links);
    }
    open.forEach(JobHold::close);
    return !open.isEmpty();
  }

  /// Ends the job. Called once, by the thread that returned the last count.
  void complete(@Nullable Runner runner) {
    Platform.point(Point.JOB_END);
    if (Checks.ON) {
      Checks.that(!done && pending() == 0, "a job ends once, without counts left");
    }
    if (teardown != null) {
      Throwable failed = call("teardown", teardown, runner);
      if (failed != null) {
        fail(failed);
      }
    }
    if (deadline != null) {
      deadline.cancel();
    }
    if (lanePermit && lane != null) {
      lane.release(1, runner);
    }
    leaveAdmission();
    scheduler.countJobEnd(this, runner);
    if (clock != null) {
      long wall = clock.end();
      if (runner != null) {
        runner.counters.latencies.record(Latencies.Kind.JOB_WALL, wall);
      }
    }
    done = true;
    if (listened) {
      List<Consumer<Job>> callbacks;
      synchronized (this) {
        callbacks = links == null ? List.of() : links.takeCallbacks();
        notifyAll();
      }
      for (Consumer<Job> callback : callbacks) {
        call("onDone", callback, runner);
      }
    }
    scheduler.registry().remove(this);
  }

  /// Runs user code, in sight of the watchdog if a runner's thread does it; returns what it has thrown.
  private @Nullable Throwable call(String what, Consumer<Job> callback, @Nullable Runner runner) {
    boolean around = runner != null && runner.enterCallback(this);
    try {
      callback.accept(this);
      return null;
    } catch (Throwable t) {
      scheduler.uncaught(what, this, t);
      return t;
    } finally {
      if (runner != null) {
        runner.leaveCallback(around);
      }
    }
  }

  /// A hold was closed; the first time counts.
  void release(JobHold hold, boolean direct) {
    synchronized (this) {
      if (!links().removeHold(hold)) {
        return;
      }
    }
    if (!returnHold()) {
      return;
    }
    if (direct) {
      complete(null);
    } else {
      // A callback thread must not do the job's work, and a task must not run another one's
      // teardown
      // inside its own.
      scheduler.submission().publishInternal(this::complete);
    }
  }

  void armDeadline(Duration timeout) {
    deadline =
        scheduler
            .watcher()
            .schedule(
                timeout,
                () ->
                    cancel(
                        new TimeoutException(
                            "job \""
                                + name
                                + "\" did not end within "
                                + timeout.toMillis()
                                + " ms")));
  }
}
