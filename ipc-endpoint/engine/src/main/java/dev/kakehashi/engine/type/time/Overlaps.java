package dev.kakehashi.engine.type.time;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.INTERVAL;
import static dev.kakehashi.protocol.TypeOid.TIME;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMP;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMPTZ;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.valuetext.time.Zone;

/// `(a, b) OVERLAPS (c, d)`: whether two periods have a moment in common. An end may be the length of its period.
final class Overlaps {
  private static final int FIRST_END = 2;
  private static final int SECOND_END = 8;

  private Overlaps() {}

  static void register(FunctionSet set) {
    add(set, TIME, TIME, TIME);
    add(set, TIME, INTERVAL, TIME);
    add(set, TIME, TIME, INTERVAL);
    add(set, TIME, INTERVAL, INTERVAL);
    for (int oid : new int[] {TIMESTAMP, TIMESTAMPTZ}) {
      add(set, oid, oid, oid);
      add(set, oid, INTERVAL, oid);
      add(set, oid, oid, INTERVAL);
      add(set, oid, INTERVAL, INTERVAL);
    }
  }

  private static void add(FunctionSet set, int oid, int firstEnd, int secondEnd) {
    boolean firstLength = firstEnd == INTERVAL;
    boolean secondLength = secondEnd == INTERVAL;
    boolean immutable = oid != TIMESTAMPTZ || (!firstLength && !secondLength);
    set.add(
        new ScalarFunction(
            "overlaps",
            new int[] {oid, firstEnd, oid, secondEnd},
            BOOL,
            false,
            immutable,
            (a, nulls, c) -> {
              Zone zone = oid == TIMESTAMPTZ ? c.zone : Zone.UTC;
              long[] ends = a.clone();
              long missing = nulls;
              if (firstLength) {
                missing |= (nulls & 1) != 0 ? FIRST_END : 0;
                ends[1] = (missing & FIRST_END) != 0 ? 0 : end(oid, a[0], a[1], zone);
              }
              if (secondLength) {
                missing |= (nulls & 4) != 0 ? SECOND_END : 0;
                ends[3] = (missing & SECOND_END) != 0 ? 0 : end(oid, a[2], a[3], zone);
              }
              return overlaps(ends, missing, c);
            }));
  }

  private static long end(int oid, long begin, long length, Zone zone) {
    return oid == TIME
        ? DateTimeMath.addToTime(begin, Intervals.micros(length))
        : DateTimeMath.addInterval(begin, length, zone);
  }

  /// With both ends of one period unknown the result is; with one the other is its beginning.
  private static long overlaps(long[] a, long nulls, FunctionContext context) {
    if ((nulls & 3) == 3 || (nulls & 12) == 12) {
      return context.nullResult();
    }
    boolean firstOpen = (nulls & 3) != 0;
    boolean secondOpen = (nulls & 12) != 0;
    long start = firstOpen ? a[(nulls & 1) != 0 ? 1 : 0] : Math.min(a[0], a[1]);
    long end = Math.max(a[0], a[1]);
    long otherStart = secondOpen ? a[(nulls & 4) != 0 ? 3 : 2] : Math.min(a[2], a[3]);
    long otherEnd = Math.max(a[2], a[3]);
    if (start > otherStart) {
      return before(start, otherEnd, secondOpen, firstOpen, context);
    }
    if (start < otherStart) {
      return before(otherStart, end, firstOpen, secondOpen, context);
    }
    return firstOpen || secondOpen ? context.nullResult() : 1;
  }

  /// Whether the later period begins before the end of the earlier one.
  private static long before(
      long laterStart, long earlierEnd, boolean earlierOpen, boolean laterOpen, FunctionContext c) {
    if (earlierOpen) {
      return c.nullResult();
    }
    if (laterStart < earlierEnd) {
      return 1;
    }
    return laterOpen ? c.nullResult() : 0;
  }
}
