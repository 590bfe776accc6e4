package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Ends a statement before its work is done: for its user, its deadline, a lock that it has waited for too long, or its transaction.
/// Waiting work of the statement is woken then. A part of [StatementExecution], by inheritance because a select by key is to allocate
/// little.
///
/// `canceled` is set by any thread; `hooks` and `timer` are guarded by this.
abstract class CancellableExecution implements Execution, SessionScope {
  private enum Reason {
    USER,
    TIMEOUT,
    LOCK_TIMEOUT,
    /// The transaction ends.
    TRANSACTION
  }

  final ManagedTransaction transaction;

  /// Deadline by the clock of `System.nanoTime`; 0: there is none.
  private final long deadlineNanos;

  private volatile @Nullable Reason canceled;
  private @Nullable List<Runnable> hooks;
  private @Nullable Timer timer;

  /// Timer of the wait for a lock. Belongs to the thread that runs the statement's current step.
  private @Nullable Timer lockTimer;

  /// @param timeoutNanos from now on; 0: none
  CancellableExecution(ManagedTransaction transaction, long timeoutNanos) {
    this.transaction = transaction;
    this.deadlineNanos = timeoutNanos == 0 ? 0 : System.nanoTime() + timeoutNanos;
  }

  @Override
  public final void cancel() {
    cancel(Reason.USER);
  }

  /// The transaction ends.
  final void abandon() {
    cancel(Reason.TRANSACTION);
  }

  private void cancel(Reason reason) {
    List<Runnable> wake;
    synchronized (this) {
      if (canceled != null) {
        return;
      }
      canceled = reason;
      wake = hooks == null ? List.of() : hooks;
      hooks = null;
    }
    wake.forEach(Runnable::run);
  }

  @Override
  public final void onCancel(Runnable wake) {
    synchronized (this) {
      if (canceled == null) {
        if (hooks == null) {
          hooks = new ArrayList<>(2);
        }
        hooks.add(wake);
        if (deadlineNanos != 0 && timer == null) {
          timer = timer(Math.max(0, deadlineNanos - System.nanoTime()), Reason.TIMEOUT);
        }
        return;
      }
    }
    wake.run();
  }

  /// A wait for a lock begins. One that has lasted for too long ends the statement, also if the lock has come at the same moment.
  ///
  /// @param timeoutNanos longest wait; 0: for ever
  final void lockWaitBegins(long timeoutNanos) {
    if (timeoutNanos != 0) {
      lockTimer = timer(timeoutNanos, Reason.LOCK_TIMEOUT);
    }
  }

  /// The wait for a lock, if there is one, has ended.
  final void lockWaitEnds() {
    Timer held = lockTimer;
    if (held != null) {
      lockTimer = null;
      held.cancel();
    }
  }

  private Timer timer(long afterNanos, Reason reason) {
    return transaction
        .environment()
        .scheduler()
        .after(
            Duration.ofNanos(afterNanos),
            context -> {
              cancel(reason);
              return null;
            });
  }

  @Override
  public final void checkCanceled() {
    Reason reason = canceled;
    if (reason == null && deadlineNanos != 0 && System.nanoTime() - deadlineNanos >= 0) {
      reason = Reason.TIMEOUT;
    }
    EngineException failure = reason == Reason.TRANSACTION ? transaction.failure() : null;
    if (failure != null) {
      throw failure;
    }
    if (reason == Reason.LOCK_TIMEOUT) {
      throw new EngineException(
          ErrorCode.LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout");
    }
    if (reason != null) {
      throw new EngineException(
          ErrorCode.QUERY_CANCELED,
          reason == Reason.TIMEOUT
              ? "canceling statement due to statement timeout"
              : "canceling statement due to user request");
    }
  }

  /// The statement has ended: from now on its hooks are not called.
  final void letGo() {
    Timer held;
    synchronized (this) {
      hooks = null;
      held = timer;
      timer = null;
    }
    if (held != null) {
      held.cancel();
    }
  }
}
