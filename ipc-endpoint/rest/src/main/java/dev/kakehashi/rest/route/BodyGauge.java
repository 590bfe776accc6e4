package dev.kakehashi.rest.route;

import dev.kakehashi.rest.problem.Problem;
import java.util.concurrent.TimeoutException;

/// Counts what comes of one body and refuses what is too much or too slow. One thread at a time.
final class BodyGauge {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Route route;
  private final boolean isAnnounced;
  private final long maxBytes;
  private final BodyLimits limits;
  private long bytes;
  private long waitedNanos;
  private long waitsSince;

  /// @param isAnnounced whether there may be a body at all
  BodyGauge(Route route, boolean isAnnounced, BodyLimits limits) {
    this.route = route;
    this.isAnnounced = isAnnounced;
    this.maxBytes = route.maxBody();
    this.limits = limits;
  }

  /// The endpoint begins to wait for bytes. The time of its work on them is not the sender's.
  void waits() {
    waitsSince = System.nanoTime();
  }

  /// @throws Problem 408: they come too slowly
  void waited() {
    waitedNanos += System.nanoTime() - waitsSince;
    if (limits.minBytesPerSecond() > 0 && waitedNanos > limits.graceNanos()) {
      double rate = bytes * NANOS_PER_SECOND / waitedNanos;
      if (rate < limits.minBytesPerSecond()) {
        throw tooSlow();
      }
    }
  }

  /// @throws Problem 413: that is too many; 415: nobody has said what they are
  void came(int count) {
    if (count > 0 && !isAnnounced) {
      throw BodyChecks.unsupported(route, "");
    }
    bytes += count;
    if (bytes > maxBytes) {
      throw tooLarge(maxBytes);
    }
  }

  static Problem tooLarge(long maxBytes) {
    return Problem.of(
        413,
        "body-too-large",
        "Body too large",
        "the body must not be longer than " + maxBytes + " bytes");
  }

  /// Problem that tells the client of a failed read.
  static Problem failed(Throwable failure) {
    return failure instanceof TimeoutException
        ? tooSlow()
        : Problem.of(400, "incomplete-body", "Incomplete body", "the body ended early");
  }

  private static Problem tooSlow() {
    return Problem.of(408, "slow-body", "Body too slow", "the body came too slowly")
        .withRetryable(true)
        .withHeader("Connection", "close");
  }
}
