package dev.kakehashi.transport.endpoint;

import java.util.function.LongSupplier;

/// Keeps a client that misbehaves fast from filling the log: one line per interval, which says how many were left out.
///
/// Thread-safe.
final class LogThrottle {
  static final long INTERVAL_NANOS = 10_000_000_000L;

  private final LongSupplier nanoClock;
  private long lastNanos;
  private boolean used;
  private long suppressed;

  LogThrottle() {
    this(System::nanoTime);
  }

  LogThrottle(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /// Asks for a line.
  ///
  /// @return what the line has to end with: nothing, or how many were left out since the last one; null: no line now
  synchronized @org.jspecify.annotations.Nullable String admit() {
    long now = nanoClock.getAsLong();
    if (used && now - lastNanos < INTERVAL_NANOS) {
      suppressed++;
      return null;
    }
    used = true;
    lastNanos = now;
    return takeSuppressed();
  }

  /// The words about lines left out since the last one, which are counted anew from here; empty when there are none.
  synchronized String takeSuppressed() {
    long count = suppressed;
    suppressed = 0;
    return count == 0 ? "" : " (and " + count + " more like this, suppressed)";
  }
}
