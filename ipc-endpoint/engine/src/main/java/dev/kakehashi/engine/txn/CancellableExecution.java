package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.exec.StatementScope;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What ends a statement before its work is done: its user, its deadline, its transaction. Whoever waits in it is woken then. A part of [StatementExecution], by
/// inheritance because a select by key is to allocate little.
///
/// `cancelled` is set by anybody; `hooks` and `timer` are guarded by this.
abstract class CancellableExecution implements Execution, StatementScope {
  private enum Reason {
    USER,
    TIMEOUT,
    /// The transaction ends.
    TRANSACTION
  }

  private final EngineTransaction transaction;

  /// Of the clock of `System.nanoTime`; 0: there is none.
  private final long deadlineNanos;

  private volatile @Nullable Reason cancelled;
  private @Nullable List<Runnable> hooks;
  private @Nullable Timer timer;

  /// @param timeoutNanos from now on; 0: none
  CancellableExecution(EngineTransaction transaction, long timeoutNanos) {
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
      if (cancelled != null) {
        return;
      }
      cancelled = reason;
      wake = hooks == null ? List.of() : hooks;
      hooks = null;
    }
    wake.forEach(Runnable::run);
  }

  @Override
  public final void onCancel(Runnable wake) {
    synchronized (this) {
      if (cancelled == null) {
        if (hooks == null) {
          hooks = new ArrayList<>(2);
        }
        hooks.add(wake);
        if (deadlineNanos != 0 && timer == null) {
          long left = Math.max(0, deadlineNanos - System.nanoTime());
          timer =
              transaction
                  .environment()
                  .scheduler()
                  .after(
                      Duration.ofNanos(left),
                      context -> {
                        cancel(Reason.TIMEOUT);
                        return null;
                      });
        }
        return;
      }
    }
    wake.run();
  }

  @Override
  public final void checkCancelled() {
    Reason reason = cancelled;
    if (reason == null && deadlineNanos != 0 && System.nanoTime() - deadlineNanos >= 0) {
      reason = Reason.TIMEOUT;
    }
    EngineException failure = reason == Reason.TRANSACTION ? transaction.failure() : null;
    if (failure != null) {
      throw failure;
    }
    if (reason != null) {
      throw new EngineException(
          ErrorCode.QUERY_CANCELED,
          reason == Reason.TIMEOUT
              ? "canceling statement due to statement timeout"
              : "canceling statement due to user request");
    }
  }

  /// The statement has ended: nobody is woken any more.
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
