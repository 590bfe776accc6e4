package dev.kakehashi.engine.type.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;

/// Spans of time in statements about queues: intervals without months, in whole milliseconds.
public final class QueueDurations {
  private static final long MICROS_PER_MILLI = 1000;
  private static final long MILLIS_PER_DAY = 86_400_000;

  private QueueDurations() {}

  /// Milliseconds of an interval's text; a fraction of one counts as one.
  ///
  /// @param what it is about, for messages
  /// @throws EngineException INVALID_PARAMETER_VALUE if it has months or is negative, INVALID_DATETIME_FORMAT if it is none
  public static long millis(String what, String text) {
    try (VarHeap heap = new VarHeap()) {
      return millis(what, Intervals.parse(text, heap));
    }
  }

  /// The same of an interval.
  ///
  /// @param interval its word
  public static long millis(String what, long interval) {
    if (Intervals.months(interval) != 0) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          what + " must not have months, which are of no fixed length");
    }
    long micros = Intervals.micros(interval);
    long millis =
        Intervals.days(interval) * MILLIS_PER_DAY + Math.ceilDiv(micros, MICROS_PER_MILLI);
    if (millis < 0) {
      throw new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, what + " must not be negative");
    }
    return millis;
  }

  /// In the largest unit in which it is whole.
  public static String text(long millis) {
    if (millis == 0 || millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    return seconds % 86400 == 0
        ? seconds / 86400 + "d"
        : seconds % 3600 == 0
            ? seconds / 3600 + "h"
            : seconds % 60 == 0 ? seconds / 60 + "min" : seconds + "s";
  }
}
