package dev.kakehashi.protocol;

/// Pause in which nobody should yield, from the costs of the last yields.
///
/// A dear yield has let another thread compute. Each dear yield soon after a pause doubles the next pause: another thread computes all the
/// time. A dear yield after cheap yields for `QUIET_NANOS` is a stray interruption, and the shortest pause follows. (An earlier rule asked
/// for cheap yields for as long as the last pause. One interruption a second then kept all waiters asleep for good: a round trip took 16 us
/// in place of 3.)
///
/// The shortest pause is as long as a dear yield, because on an otherwise idle machine there are some ten a second: collections of garbage,
/// compilers, the kernel. With 20 ms, waiters slept for a third of each second (docs/measurements.md has what a select by key took with
/// either). Within a dozen yields the doubling detects a thread that computes all the time.
///
/// Times are those of `System.nanoTime()`. Used by one thread.
final class YieldPause {
  static final long DEAR_NANOS = 200_000;
  static final long SHORTEST_NANOS = 200_000;
  static final long QUIET_NANOS = 20_000_000;
  static final long LONGEST_NANOS = 1_000_000_000;

  private long nextNanos = SHORTEST_NANOS;
  private long endsAt;

  YieldPause(long now) {
    endsAt = now;
  }

  boolean isOver(long now) {
    return now - endsAt >= 0;
  }

  /// Takes a yield into account that went on from `before` to `now`.
  void yielded(long before, long now) {
    if (now - before > DEAR_NANOS) {
      endsAt = now + nextNanos;
      nextNanos = Math.min(LONGEST_NANOS, 2 * nextNanos);
    } else if (now - endsAt > QUIET_NANOS) {
      nextNanos = SHORTEST_NANOS;
    }
  }
}
