package dev.kakehashi.transport.endpoint;

import java.util.function.Consumer;

/// Decides whether so many sessions ask that waiting clients should sleep at once.
///
/// A client that waits awake spares a wake-up as long as a processor is left for it. With more clients than that, it takes the processor
/// from those whose requests would come next, and from the thread that answers. A client cannot see the others, and a yield does not tell
/// it: with many clients each yield is a switch. This side sees every request, so it counts the sessions of a period and tells all clients.
///
/// Poller only; what it says goes through memory of its own ([ControlPage]), as a hint. A client that reads an old one sleeps needlessly,
/// or spins needlessly, for one wait.
final class Crowd {
  /// A session that asks.
  interface Asker {
    /// Whether this is the first call with this `period`.
    boolean firstOf(long period);
  }

  /// Long enough that each client of a busy machine asks once.
  private static final long PERIOD_NANOS = 10_000_000;

  /// Up to so many sessions for each processor, those who wait spin. Measured: with two of them spinning is quicker, with four it is not.
  private static final int SESSIONS_PER_PROCESSOR = 2;

  private final int most;
  private final Consumer<Boolean> listener;
  private long period;
  private long periodEndNanos;
  private int sessions;
  private boolean crowded;

  /// @param processors of this process, 1 or more
  /// @param nowNanos of System.nanoTime
  /// @param listener is told of changes
  Crowd(int processors, long nowNanos, Consumer<Boolean> listener) {
    this.most = SESSIONS_PER_PROCESSOR * processors;
    this.listener = listener;
    this.periodEndNanos = nowNanos + PERIOD_NANOS;
  }

  /// A request of `asker` is there.
  void asked(Asker asker, long nowNanos) {
    if (nowNanos - periodEndNanos >= 0) {
      tell(sessions > most && nowNanos - periodEndNanos < PERIOD_NANOS);
      period++;
      periodEndNanos = nowNanos + PERIOD_NANOS;
      sessions = 0;
    }
    if (asker.firstOf(period)) {
      sessions++;
      if (sessions > most) {
        tell(true); // not only when the period ends
      }
    }
  }

  private void tell(boolean now) {
    if (crowded != now) {
      crowded = now;
      listener.accept(now);
    }
  }
}
