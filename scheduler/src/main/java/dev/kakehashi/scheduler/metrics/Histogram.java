package dev.kakehashi.scheduler.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// How often which length of time was seen: log-linear buckets, eight for each power of two, so that a percentile is at most
/// an eighth too high. 2.5 KB, whatever is recorded; what is longer than 2^41 ns (37 minutes) counts as that.
///
/// Written by one thread, with opaque stores instead of RMWs, and read by anyone at any time.
public final class Histogram {
  private static final int SUB_BITS = 3;
  private static final int SUB = 1 << SUB_BITS;
  private static final int MAX_EXPONENT = 40;
  private static final int BUCKETS = (MAX_EXPONENT - SUB_BITS + 2) << SUB_BITS;
  private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts = new long[BUCKETS];

  public void record(long nanos) {
    int bucket = bucket(nanos);
    COUNTS.setOpaque(counts, bucket, counts[bucket] + 1);
  }

  /// Adds what `other` has seen so far. Only called on a histogram that nobody writes.
  public void add(Histogram other) {
    for (int i = 0; i < BUCKETS; i++) {
      counts[i] += (long) COUNTS.getOpaque(other.counts, i);
    }
  }

  public long count() {
    long sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      sum += (long) COUNTS.getOpaque(counts, i);
    }
    return sum;
  }

  /// The time that `fraction` of those recorded do not exceed, 0 if there are none. Only called on a histogram that nobody writes.
  public long nanosAt(double fraction) {
    long left = Math.max(1, (long) Math.ceil(fraction * count()));
    for (int i = 0; i < BUCKETS; i++) {
      left -= counts[i];
      if (left <= 0) {
        return most(i);
      }
    }
    return 0;
  }

  public static int bucket(long nanos) {
    if (nanos < SUB) {
      return (int) Math.max(0, nanos);
    }
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
    if (exponent > MAX_EXPONENT) {
      return BUCKETS - 1;
    }
    int within = (int) (nanos >>> (exponent - SUB_BITS)) & (SUB - 1);
    return ((exponent - SUB_BITS + 1) << SUB_BITS) + within;
  }

  /// The longest time of a bucket.
  public static long most(int bucket) {
    if (bucket < SUB) {
      return bucket;
    }
    int shift = (bucket >>> SUB_BITS) - 1;
    return ((long) (SUB + (bucket & (SUB - 1)) + 1) << shift) - 1;
  }
}
