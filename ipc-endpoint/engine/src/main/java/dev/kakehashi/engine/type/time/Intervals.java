package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.DateTimeFormat;
import dev.kakehashi.valuetext.time.IntervalFields;
import dev.kakehashi.valuetext.time.IntervalParser;

/// The 16 bytes of an interval: int64 microseconds, int32 days, int32 months; and their order by span of time (a month has 30 days, a day
/// 24 hours), computed in 128 bits.
public final class Intervals {
  public static final int BYTES = 16;

  private Intervals() {}

  public static long micros(long value) {
    return RawMemory.getLong(value);
  }

  public static int days(long value) {
    return RawMemory.getInt(value + 8);
  }

  public static int months(long value) {
    return RawMemory.getInt(value + 12);
  }

  public static long of(VarHeap heap, int months, int days, long micros) {
    long value = heap.allocate(BYTES);
    RawMemory.putLong(value, micros);
    RawMemory.putInt(value + 8, days);
    RawMemory.putInt(value + 12, months);
    return value;
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_DATETIME_FORMAT, INTERVAL_FIELD_OVERFLOW or DATETIME_OVERFLOW
  public static long parse(String text, VarHeap heap) {
    return parse(text, IntervalFields.ALL, heap);
  }

  /// The same for a type that names fields, by which a last number without unit is read.
  public static long parse(String text, IntervalFields range, VarHeap heap) {
    PgInterval value = IntervalParser.parse(text, range);
    return of(heap, value.months(), value.days(), value.micros());
  }

  public static String toText(long value) {
    return DateTimeFormat.interval(months(value), days(value), micros(value));
  }

  private static long wholeDays(long value) {
    return months(value) * (long) Calendars.DAYS_PER_MONTH + days(value);
  }

  /// Low 64 bits of the span in microseconds.
  public static long spanLow(long value) {
    return wholeDays(value) * Calendars.MICROS_PER_DAY + micros(value);
  }

  private static long spanHigh(long value) {
    long days = wholeDays(value);
    long product = days * Calendars.MICROS_PER_DAY;
    long micros = micros(value);
    long carry = Long.compareUnsigned(product + micros, product) < 0 ? 1 : 0;
    return Math.multiplyHigh(days, Calendars.MICROS_PER_DAY) + (micros >> 63) + carry;
  }

  /// Sign of the whole span.
  public static int sign(long value) {
    long high = spanHigh(value);
    return high != 0 ? Long.signum(high) : spanLow(value) == 0 ? 0 : 1;
  }

  public static int compare(long a, long b) {
    int high = Long.compare(spanHigh(a), spanHigh(b));
    return high != 0 ? high : Long.compareUnsigned(spanLow(a), spanLow(b));
  }
}
