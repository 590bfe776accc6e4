package dev.kakehashi.queue.order;

/// Tokens that come back at a steady rate, whether or not tasks end. In any time t at most `size + rate * t` are taken. Not thread-safe.
///
/// It begins empty: a new incarnation that began with a full one would let crash loops break the limit.
public final class RateBucket {
  private double tokens;
  private long at;

  /// @param tokens to begin with
  public RateBucket(double tokens, long nowNanos) {
    this.tokens = tokens;
    at = nowNanos;
  }

  /// Nanoseconds until a token is there; 0: now. A rate of 0 never has one: [Long#MAX_VALUE].
  public long untilToken(double rate, int size, long nowNanos) {
    refill(rate, size, nowNanos);
    if (rate <= 0) {
      return Long.MAX_VALUE;
    }
    return tokens >= 1 ? 0 : (long) Math.ceil((1 - tokens) * 1e9 / rate);
  }

  /// Nanoseconds until it is full.
  long untilFull(double rate, int size, long nowNanos) {
    refill(rate, size, nowNanos);
    return rate <= 0 ? Long.MAX_VALUE : (long) Math.ceil((size - tokens) * 1e9 / rate);
  }

  /// After [#untilToken] was 0.
  public void take() {
    tokens -= 1;
  }

  private void refill(double rate, int size, long nowNanos) {
    long passed = nowNanos - at;
    if (passed > 0) {
      // A tick is lost to rounding at most, never won.
      tokens = Math.min(size, tokens + Math.max(0, rate) * passed / 1e9);
      at = nowNanos;
    } else {
      tokens = Math.min(size, tokens);
    }
  }
}
