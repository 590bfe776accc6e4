package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Tokens that come back at a steady rate, without a thread that puts them back: the generic cell rate algorithm.
///
/// One word holds the *theoretical arrival time*, at which the bucket will be full again. A token moves it on by one
/// interval; it may be taken if that leaves it at most `bucketSize` intervals ahead of now. A CAS per token; nobody waits here.
/// Times are in 1/256 ns, rounded against the taker, so the rate is never exceeded and missed by less than 0.01 % up to
/// 10,000,000 per second. They wrap; only differences are compared, and a word that seems further ahead
/// than a bucket can be is one that was left behind by more than half of the range.
final class TokenBucket {
  private static final int UNITS_PER_NANO = 256;
  private static final VarHandle FULL_AT;

  static {
    try {
      FULL_AT = MethodHandles.lookup().findVarHandle(TokenBucket.class, "fullAt", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long interval;
  private final long depth;
  private volatile long fullAt;

  /// A full bucket. The rate of the limit is finite.
  TokenBucket(RateLimit limit, long nowNanos) {
    interval = (long) Math.ceil(1e9 * UNITS_PER_NANO / limit.ratePerSecond());
    depth = limit.bucketSize() * interval;
    fullAt = nowNanos * UNITS_PER_NANO;
  }

  /// Takes a token.
  ///
  /// @return 0 if taken; otherwise nanoseconds after which one will be there if nobody else takes it
  long tryTake(long nowNanos) {
    long now = nowNanos * UNITS_PER_NANO;
    for (; ; ) {
      long was = fullAt;
      long ahead = was - now;
      if (ahead < 0 || ahead > 2 * depth + interval) {
        ahead = 0;
      }
      long early = ahead + interval - depth;
      if (early > 0) {
        return (early + UNITS_PER_NANO - 1) / UNITS_PER_NANO;
      }
      Platform.point(Point.TOKEN);
      if (Platform.mutated(Mutation.TOKEN_WITHOUT_CAS)) {
        fullAt = now + ahead + interval;
        return 0;
      }
      if (FULL_AT.compareAndSet(this, was, now + ahead + interval)) {
        return 0;
      }
    }
  }
}
