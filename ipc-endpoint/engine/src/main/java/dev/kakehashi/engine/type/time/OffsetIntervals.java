package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.Zone;

/// Intervals that stand for an offset from UTC, as in `AT TIME ZONE INTERVAL '-03:30'`.
public final class OffsetIntervals {
  private OffsetIntervals() {}

  /// Local time of an instant, or instant of a local time, with an offset east of UTC as the zone; infinity stays.
  ///
  /// @param sign 1: to local time, -1: to an instant
  public static long byOffset(long interval, long timestamp, int sign) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    // The seconds are an int in PostgreSQL.
    return Zone.shift(timestamp, (long) sign * (int) offsetSecondsOf(interval));
  }

  /// Seconds of an interval that stands for an offset east of UTC.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_PARAMETER_VALUE
  public static long offsetSecondsOf(long interval) {
    if (Intervals.months(interval) != 0 || Intervals.days(interval) != 0) {
      throw SqlErrors.invalidParameter(
          "interval time zone \""
              + Intervals.toText(interval)
              + "\" must not include months or days");
    }
    return Intervals.micros(interval) / Calendars.MICROS_PER_SECOND;
  }
}
