package dev.kakehashi.rest.login;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Slows down who fails again and again: after some failures each further attempt has to wait, twice as long as the one before, up to a
/// limit. Bounded: of too many keys the longest unused are forgotten. Thread-safe.
final class Brake {
  private static final int MAX_KEYS = 10_000;

  /// Longer keys are one if they begin alike: what strangers send takes no more memory.
  private static final int MAX_KEY = 128;

  /// Failures are forgotten when there was none for so long.
  private static final long MEMORY_NANOS = TimeUnit.HOURS.toNanos(1);

  private final int freeFailures;
  private final long maxDelayNanos;
  private final LongSupplier nanoTime;

  /// Guarded by this.
  private final Map<String, Failures> failures =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Failures> eldest) {
          return size() > MAX_KEYS;
        }
      };

  private record Failures(int count, long lastNanos) {}

  Brake(int freeFailures, int maxDelaySeconds, LongSupplier nanoTime) {
    this.freeFailures = freeFailures;
    this.maxDelayNanos = TimeUnit.SECONDS.toNanos(maxDelaySeconds);
    this.nanoTime = nanoTime;
  }

  /// For how long an attempt has to wait; 0: not at all.
  synchronized long delayNanos(String key) {
    Failures known = failures.get(clipped(key));
    if (known == null || known.count() < freeFailures) {
      return 0;
    }
    int doublings = Math.min(known.count() - freeFailures, 30);
    long delay = Math.min(TimeUnit.SECONDS.toNanos(1) << doublings, maxDelayNanos);
    return Math.max(0, known.lastNanos() + delay - nanoTime.getAsLong());
  }

  synchronized void failed(String key) {
    failures.merge(
        clipped(key),
        new Failures(1, nanoTime.getAsLong()),
        (known, one) ->
            one.lastNanos() - known.lastNanos() > MEMORY_NANOS
                ? one
                : new Failures(known.count() + 1, one.lastNanos()));
  }

  synchronized void succeeded(String key) {
    failures.remove(clipped(key));
  }

  /// Beginning that stands for a key.
  static String clipped(String key) {
    return key.length() <= MAX_KEY ? key : key.substring(0, MAX_KEY);
  }
}
