package dev.kakehashi.queue.push;

/// The rate that a target bears: halved, at most once a second, when it asks for fewer requests, and raised by a tenth for each second
/// without that. Not thread-safe.
///
/// Times are nanoseconds of the monotonic clock.
final class TargetRate {
  static final long STEP_NANOS = 1_000_000_000;

  /// Slower than that it does not get: somebody has to find out that the target works again.
  static final double LEAST = 0.1;

  private static final double RAISE = 1.1;

  private double enforced = -1;

  /// Rate at which it was lowered first; a queue without a rate of its own is free again from there on.
  private double before;

  private long changedAt;
  private long secondAt;
  private int started;
  private double measured;

  /// A request begins.
  void started(long nanos) {
    if (nanos - secondAt >= STEP_NANOS) {
      measured = nanos - secondAt < 2 * STEP_NANOS ? started : 0;
      secondAt = nanos;
      started = 0;
    }
    started++;
  }

  /// The target asks for fewer requests.
  ///
  /// @param own the queue's rate; negative: without limit
  /// @return whether the rate has changed
  boolean refused(double own, long nanos) {
    if (enforced >= 0 && nanos - changedAt < STEP_NANOS) {
      return false;
    }
    if (enforced < 0) {
      before = own >= 0 ? own : Math.max(measured, started);
      enforced = before;
    }
    enforced = Math.max(Math.min(LEAST, before), enforced / 2);
    changedAt = nanos;
    return true;
  }

  /// A second has passed.
  ///
  /// @return whether the rate has changed
  boolean passed(long nanos) {
    if (enforced < 0 || nanos - changedAt < STEP_NANOS) {
      return false;
    }
    enforced *= RAISE;
    changedAt = nanos;
    if (enforced >= before) {
      enforced = -1;
    }
    return true;
  }

  /// Negative: as the queue says.
  double enforced() {
    return enforced;
  }
}
