package dev.kakehashi.applications.call;

import dev.kakehashi.application.CurrentCall;
import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.CarriedThreads;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.applications.watch.Watched;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A call under way: its thread, how it uses the engine, and how it ends.
///
/// ```
///  state   0 users' code -> ENGINE            the call's thread, before it uses the engine
///          ENGINE -> 0                        that thread, after it
///          any -> | CANCELED                  the thread that cancels, once
/// ```
///
/// The cancel of a call in users' code ends the call for its caller: the code finds the engine closed, and is stopped. The cancel of a call
/// in the engine cancels that use, and the call's own thread ends the call. So no thread uses a transaction that its caller has back. The
/// listener is told once, by the thread that wins `told`.
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
public final class UserCall implements LoadedApplication.Running, Watched, CallWatch.HasThread {
  private static final int ENGINE = 1;
  private static final int CANCELED = 2;

  /// Longest run of a call where its request was read; longer calls should not run there.
  private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final AtomicLong IDS = new AtomicLong();
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(UserCall.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /// Work of a call, on its thread.
  @FunctionalInterface
  interface Work {
    void run(UserCall call) throws Throwable;
  }

  private final long id = IDS.incrementAndGet();
  final CallEnvironment environment;
  final ApplicationOptions limits;
  private final String member;
  private final String user;
  private final MemberCounts counts;
  private final LoadedApplication.Listener listener;
  private final Work work;
  private final long deadlineNanos;
  private final Thread thread;
  private final AtomicBoolean told = new AtomicBoolean();
  private final List<DirectTransaction> open = new ArrayList<>(); // guarded by itself

  @SuppressWarnings("unused") // through its VarHandle
  private volatile int state;

  private @Nullable DirectAccess inUse; // written before the state says so, read after it did
  private volatile @Nullable EngineException reason;
  private volatile boolean over;
  private volatile boolean committed;
  private boolean sawConflict; // of the thread
  private long beganNanos; // of the thread
  private boolean hasLeft; // of the thread
  private long commitNanos; // of the thread
  private volatile boolean committing;
  private final @Nullable HereCalls here;
  private volatile @Nullable Runnable own; // what its thread has to do, again and again

  /// @param member as `procedure place`
  /// @param timeMillis until it is canceled, from now on
  UserCall(
      CallEnvironment environment,
      String member,
      String user,
      MemberCounts counts,
      long timeMillis,
      boolean processorBound,
      LoadedApplication.Listener listener,
      Work work) {
    this(environment, member, user, counts, timeMillis, processorBound, null, listener, work);
  }

  /// @param here may carry it first; null: nobody
  UserCall(
      CallEnvironment environment,
      String member,
      String user,
      MemberCounts counts,
      long timeMillis,
      boolean processorBound,
      @Nullable HereCalls here,
      LoadedApplication.Listener listener,
      Work work) {
    this.environment = environment;
    this.limits = environment.options().get();
    this.member = member;
    this.user = user;
    this.counts = counts;
    this.listener = listener;
    this.work = work;
    deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeMillis);
    this.here = here;
    thread =
        here == null
            ? CallThreads.unstarted(member, limits.maxStackBytes(), processorBound, this::run)
            : CarriedThreads.unstarted(
                member, continuation -> here.run(this, continuation), this::run);
  }

  long id() {
    return id;
  }

  String user() {
    return user;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  boolean isCanceled() {
    return (state & CANCELED) != 0;
  }

  @Override
  public Thread runs() {
    return thread;
  }

  void start() {
    counts.begin();
    if (here == null || !here.tryStart(this)) {
      thread.start();
    }
  }

  /// Whether it is what its own thread has to do. A virtual thread that users' code starts has the same carriers.
  ///
  /// @param continuation always the same object of a thread; that of the call's own comes first
  @SuppressWarnings("ReferenceEquality") // the same thread's
  boolean isOwn(Runnable continuation) {
    if (own == null) {
      own = continuation;
    }
    return own == continuation;
  }

  /// [HereCalls] only.
  void startThread() {
    thread.start();
  }

  /// Its thread has been carried for so long, without a wait.
  void carried(long nanos) {
    if (nanos > LONG_NANOS) {
      counts.tookLong(nanos);
    }
  }

  /// Whether nothing of users' code is left: it waits for its commit.
  boolean isCommitting() {
    return committing;
  }

  /// Starts it, or lets it wait for its turn; it is watched from now on.
  ///
  /// @throws EngineException TOO_MANY_SESSIONS
  void submit() {
    environment.calls().add(this);
    environment.watch().add(this);
    try {
      environment.slots().enter(this);
    } catch (EngineException e) {
      environment.watch().remove(this);
      environment.calls().remove(this);
      throw e;
    }
  }

  // ---- its thread ----

  private void run() {
    beganNanos = System.nanoTime();
    Thread.currentThread().setContextClassLoader(environment.loader());
    try {
      if (!isCanceled()) {
        work.run(this);
      }
      if (isCanceled() && !committed) {
        endCanceled();
      } else if (told.compareAndSet(false, true)) {
        leave();
        if (here == null) {
          listener.done();
        } else {
          here.end(listener::done);
        }
      }
    } catch (Throwable t) {
      endFailed(t);
    } finally {
      over = true;
      environment.watch().settle(thread);
      environment.watch().remove(this);
      rollbackOpen();
      leave();
      environment.calls().remove(this);
    }
  }

  private void endFailed(Throwable thrown) {
    environment.watch().settle(thread);
    rollbackOpen();
    if (isCanceled()) {
      endCanceled();
    } else if (told.compareAndSet(false, true)) {
      counts.fail();
      EngineException error = environment.failures().report(member, id, thrown);
      leave();
      listener.failed(error);
    }
  }

  private void endCanceled() {
    environment.watch().settle(thread);
    rollbackOpen();
    leave();
    tellCanceled();
  }

  /// Gives its place to the next one, before the caller knows the end and comes again.
  private void leave() {
    if (!hasLeft) {
      hasLeft = true;
      counts.end(System.nanoTime() - beganNanos, commitNanos);
      environment.slots().leave();
    }
  }

  /// Runs something as the call that users' code sees.
  <R> @Nullable R as(LiveCall call, java.util.concurrent.Callable<R> body) throws Throwable {
    R result;
    try {
      result = CurrentCall.run(call, body::call);
    } catch (Throwable t) {
      try {
        call.closeRows();
      } catch (EngineFailure e) {
        t.addSuppressed(e);
      }
      throw t;
    }
    call.closeRows();
    return result;
  }

  /// Uses the engine.
  ///
  /// @throws EngineFailure of the engine; QUERY_CANCELED
  <R extends @Nullable Object> R use(DirectAccess access, EngineUse<R> body) {
    inUse = access;
    if (!STATE.compareAndSet(this, 0, ENGINE)) {
      throw canceledFailure();
    }
    try {
      return body.run();
    } catch (EngineException e) {
      sawConflict |= isConflict(e);
      throw new EngineFailure(e.sqlstate(), String.valueOf(e.getMessage()), e);
    } finally {
      if (!STATE.compareAndSet(this, ENGINE, 0)) {
        STATE.setVolatile(this, CANCELED);
        if (!committed) {
          throwCanceled();
        }
      }
    }
  }

  /// Commits; from then on the call has succeeded, whoever cancels it.
  void commit(DirectTransaction transaction) {
    long began = System.nanoTime();
    committing = true;
    try {
      use(
          transaction,
          () -> {
            transaction.commit();
            committed = true;
            return null;
          });
    } finally {
      committing = false;
      commitNanos += System.nanoTime() - began;
    }
  }

  private void throwCanceled() {
    throw canceledFailure();
  }

  private EngineFailure canceledFailure() {
    EngineException why = Objects.requireNonNullElseGet(reason, UserCall::canceledByCaller);
    return new EngineFailure(why.sqlstate(), String.valueOf(why.getMessage()), why);
  }

  /// A use of the engine.
  @FunctionalInterface
  interface EngineUse<R extends @Nullable Object> {
    R run();
  }

  static boolean isConflict(EngineException e) {
    return e.code() == ErrorCode.SERIALIZATION_FAILURE || e.code() == ErrorCode.DEADLOCK_DETECTED;
  }

  /// Whether the engine has refused something because of what others did, since the last question.
  boolean takeConflict() {
    boolean saw = sawConflict;
    sawConflict = false;
    return saw;
  }

  /// Begins a transaction of the platform, which whoever ends the call ends, too.
  DirectTransaction begin(String isolation) {
    DirectTransaction transaction = environment.host().begin(user, isolation);
    synchronized (open) {
      open.add(transaction);
    }
    if (isCanceled()) {
      rollbackOpen();
      throw canceledFailure();
    }
    return transaction;
  }

  /// @return whether the transaction is the caller's to end
  boolean take(DirectTransaction transaction) {
    synchronized (open) {
      return open.remove(transaction);
    }
  }

  private void rollbackOpen() {
    for (; ; ) {
      DirectTransaction next;
      synchronized (open) {
        if (open.isEmpty()) {
          return;
        }
        next = open.removeLast();
      }
      next.rollback();
    }
  }

  // ---- cancel, any thread ----

  @Override
  public void cancel() {
    cancel(canceledByCaller());
  }

  private static EngineException canceledByCaller() {
    return new EngineException(ErrorCode.QUERY_CANCELED, "canceling the call due to user request");
  }

  /// @param why the caller is told
  public void cancel(EngineException why) {
    if (reason == null) {
      reason = why;
    }
    int before = (int) STATE.getAndBitwiseOr(this, CANCELED);
    if ((before & CANCELED) != 0 || over || committed) {
      return;
    }
    if (environment.slots().withdraw(this)) {
      environment.watch().remove(this);
      tellCanceled();
      environment.calls().remove(this);
      return;
    }
    if ((before & ENGINE) != 0) {
      DirectAccess access = inUse;
      if (access != null) {
        access.cancel();
      }
      return;
    }
    environment.watch().stop(thread, () -> !over);
    // Ending a transaction may block, and this thread may not.
    Thread.ofVirtual()
        .name("kakehashi-application-cancel")
        .start(() -> {
          rollbackOpen();
          tellCanceled();
        });
  }

  private void tellCanceled() {
    if (told.compareAndSet(false, true)) {
      counts.fail();
      listener.failed(Objects.requireNonNullElseGet(reason, UserCall::canceledByCaller));
    }
  }

  @Override
  public boolean look(long nowNanos) {
    if (here != null) {
      here.look(nowNanos);
    }
    if (isCanceled()) {
      if (told.get()) {
        environment.watch().stop(thread, () -> !over);
      }
      return true;
    }
    if (nowNanos - deadlineNanos > 0) {
      cancel(
          new EngineException(
              ErrorCode.QUERY_CANCELED, member + " took longer than its time limit"));
    }
    return false;
  }

  @Override
  public String toString() {
    UserFailures names = environment.failures();
    return "application "
        + names.application()
        + " version "
        + names.version()
        + ", "
        + member
        + ", call "
        + id;
  }
}
