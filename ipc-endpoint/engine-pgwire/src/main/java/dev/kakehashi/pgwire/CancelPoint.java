package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.WireException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Where a cancel meets what a transaction does: a wait for a connection, or a statement on the server. Thread-safe.
final class CancelPoint {
  private static final long FIRST_REPEAT_MILLIS = 10;
  private static final long LAST_REPEAT_MILLIS = 1000;

  private final PgWireEngine engine;

  // Guarded by this.
  private @Nullable EngineException stopped;
  private @Nullable Thread waiting;
  private @Nullable WireRun waitingRun;
  private @Nullable EngineException woken;
  private @Nullable WireRun active;
  private @Nullable PooledConnection connection;
  private boolean telling;

  CancelPoint(PgWireEngine engine) {
    this.engine = engine;
  }

  /// A connection of the pool.
  ///
  /// @param run who needs it; null: no statement
  /// @throws EngineException there is none, or whoever needs it was canceled
  PooledConnection acquire(@Nullable WireRun run) {
    synchronized (this) {
      EngineException canceled = run == null || stopped != null ? stopped : run.canceled();
      if (canceled != null) {
        throw canceled;
      }
      waiting = Thread.currentThread();
      waitingRun = run;
    }
    PooledConnection acquired;
    try {
      acquired = engine.pool().acquire();
    } catch (RuntimeException e) {
      EngineException reason = endWait();
      throw reason == null ? e : reason;
    }
    EngineException reason = endWait();
    if (reason != null) {
      engine.pool().release(acquired);
      throw reason;
    }
    return acquired;
  }

  private synchronized @Nullable EngineException endWait() {
    EngineException reason = woken;
    waiting = null;
    waitingRun = null;
    woken = null;
    if (reason != null && Thread.interrupted()) {
      return reason; // the interrupt was for this wait alone
    }
    return reason;
  }

  /// A statement goes to the server. A cancel that came since it was looked at follows it there.
  synchronized void begin(WireRun run, PooledConnection on) {
    active = run;
    connection = on;
    if (stopped != null || run.canceled() != null) {
      tell(run, on);
    }
  }

  /// The server has answered. Waits until a cancel on its way has arrived: it must not hit what runs next.
  void end() {
    boolean interrupted = false;
    synchronized (this) {
      active = null;
      notifyAll();
      while (telling) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      connection = null;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Cancels a statement if it runs or waits here.
  ///
  /// @param run null: whatever runs or waits, and nothing waits any more
  /// @return the statement that runs or waits, and was to be canceled; null: none
  synchronized @Nullable WireRun cancel(@Nullable WireRun run, EngineException reason) {
    if (run == null && stopped == null) {
      stopped = reason;
    }
    Thread thread = waiting;
    if (thread != null && (run == null || run.equals(waitingRun))) {
      if (woken == null) {
        woken = reason;
        thread.interrupt();
      }
      return waitingRun;
    }
    WireRun running = active;
    PooledConnection on = connection;
    if (running == null || on == null || (run != null && !run.equals(running))) {
      return null;
    }
    tell(running, on);
    return running;
  }

  private synchronized void tell(WireRun run, PooledConnection on) {
    if (!telling) {
      telling = true;
      engine.threads().execute(() -> tellServer(run, on));
    }
  }

  /// Tells the server until it answers: a cancel that arrives before its statement is forgotten there.
  private void tellServer(WireRun run, PooledConnection on) {
    try {
      long wait = FIRST_REPEAT_MILLIS;
      do {
        on.wire().cancel();
        wait = Math.min(2 * wait, LAST_REPEAT_MILLIS);
      } while (goesOn(run, wait));
    } catch (WireException e) {
      engine.log().warn("a statement could not be canceled: {}", e.getMessage());
      on.wire().breakOff(); // else it would run on
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the engine ends, and its connections with it
    } finally {
      synchronized (this) {
        telling = false;
        notifyAll();
      }
    }
  }

  /// Waits for the answer to a statement.
  ///
  /// @return whether it has not come
  private synchronized boolean goesOn(WireRun run, long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = millis; run.equals(active) && left > 0; ) {
      wait(left);
      left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
    }
    return run.equals(active);
  }
}
