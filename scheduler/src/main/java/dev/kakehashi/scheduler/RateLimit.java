package dev.kakehashi.scheduler;

/// How much a queue of requests may start: tokens and concurrency. Immutable.
///
/// In any time w at most `bucketSize + ratePerSecond * w` requests start, and at most `maxConcurrentRequests` run.
///
/// @param ratePerSecond tokens that come back per second, above 0 up to 10,000,000; infinity is no limit
/// @param bucketSize tokens that can be saved up, at least 1; how many may start at once after a pause
/// @param maxConcurrentRequests requests that may run at the same time, at least 1; [Integer#MAX_VALUE] is no limit
public record RateLimit(double ratePerSecond, int bucketSize, int maxConcurrentRequests) {
  /// Highest finite rate: the bucket counts in 1/256 ns.
  public static final double MAX_RATE = 1e7;

  /// Checks the ranges.
  ///
  /// @throws IllegalArgumentException naming the value out of range
  public RateLimit {
    if (!(ratePerSecond > 0)
        || (ratePerSecond > MAX_RATE && ratePerSecond != Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "rate must be above 0 and up to "
              + (long) MAX_RATE
              + " per second, not "
              + ratePerSecond);
    }
    if (bucketSize < 1) {
      throw new IllegalArgumentException("bucket size must be at least 1, not " + bucketSize);
    }
    if (maxConcurrentRequests < 1) {
      throw new IllegalArgumentException(
          "concurrent requests must be at least 1, not " + maxConcurrentRequests);
    }
    if (bucketSize / ratePerSecond > 86_400) {
      throw new IllegalArgumentException(
          "a bucket of "
              + bucketSize
              + " takes more than a day to fill at "
              + ratePerSecond
              + " per second");
    }
  }

  /// No limit at all.
  public static RateLimit unlimited() {
    return new RateLimit(Double.POSITIVE_INFINITY, 1, Integer.MAX_VALUE);
  }

  /// A rate, with a bucket of a fifth of a second's tokens.
  public static RateLimit of(double perSecond) {
    return new RateLimit(perSecond, (int) Math.max(1, perSecond / 5), Integer.MAX_VALUE);
  }

  /// The same with another bucket.
  public RateLimit bucket(int size) {
    return new RateLimit(ratePerSecond, size, maxConcurrentRequests);
  }

  /// The same with another concurrency.
  public RateLimit concurrent(int requests) {
    return new RateLimit(ratePerSecond, bucketSize, requests);
  }

  /// Whether nothing is limited.
  public boolean isUnlimited() {
    return ratePerSecond == Double.POSITIVE_INFINITY && maxConcurrentRequests == Integer.MAX_VALUE;
  }
}
