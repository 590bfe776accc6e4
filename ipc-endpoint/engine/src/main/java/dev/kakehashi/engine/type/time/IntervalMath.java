package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.Calendars;

/// Arithmetic of intervals; months, days and microseconds are kept apart.
public final class IntervalMath {
  private static final int SECONDS_PER_DAY = 86_400;

  private IntervalMath() {}

  private static int int4(long wide) {
    if (wide != (int) wide) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    return (int) wide;
  }

  public static long add(long a, long b, VarHeap heap) {
    return of(
        (long) Intervals.months(a) + Intervals.months(b),
        (long) Intervals.days(a) + Intervals.days(b),
        Intervals.micros(a),
        Intervals.micros(b),
        heap);
  }

  private static long of(long months, long days, long microsA, long microsB, VarHeap heap) {
    long micros = microsA + microsB;
    if (((microsA ^ micros) & (microsB ^ micros)) < 0) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    return Intervals.of(heap, int4(months), int4(days), micros);
  }

  public static long subtract(long a, long b, VarHeap heap) {
    long micros = Intervals.micros(a) - Intervals.micros(b);
    if (((Intervals.micros(a) ^ Intervals.micros(b)) & (Intervals.micros(a) ^ micros)) < 0) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    return Intervals.of(
        heap,
        int4((long) Intervals.months(a) - Intervals.months(b)),
        int4((long) Intervals.days(a) - Intervals.days(b)),
        micros);
  }

  public static long negate(long a, VarHeap heap) {
    if (Intervals.micros(a) == Long.MIN_VALUE) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    return Intervals.of(
        heap,
        int4(-(long) Intervals.months(a)),
        int4(-(long) Intervals.days(a)),
        -Intervals.micros(a));
  }

  /// Rounds seconds or days to microseconds, so that binary fractions do not leave 0.999999.
  private static double roundToMicros(double value) {
    return Math.rint(value * 1e6) / 1e6;
  }

  private static int checkedInt(double value) {
    if (!(value >= -0x1p31 && value < 0x1p31)) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    return (int) value;
  }

  public static long multiply(long a, double factor, VarHeap heap) {
    double months = Intervals.months(a) * factor;
    double days = Intervals.days(a) * factor;
    return cascade(
        months, checkedInt(months), days, checkedInt(days), Intervals.micros(a) * factor, heap);
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException DIVISION_BY_ZERO
  public static long divide(long a, double divisor, VarHeap heap) {
    if (divisor == 0) {
      throw SqlErrors.divisionByZero();
    }
    double months = Intervals.months(a) / divisor;
    double days = Intervals.days(a) / divisor;
    return cascade(
        months, checkedInt(months), days, checkedInt(days), Intervals.micros(a) / divisor, heap);
  }

  /// Fractions of months become days, fractions of days become microseconds.
  private static long cascade(
      double months, int wholeMonths, double days, int wholeDays, double micros, VarHeap heap) {
    double monthDays = roundToMicros((months - wholeMonths) * Calendars.DAYS_PER_MONTH);
    double seconds =
        roundToMicros((days - wholeDays + monthDays - (int) monthDays) * SECONDS_PER_DAY);
    long allDays = wholeDays;
    if (Math.abs(seconds) >= SECONDS_PER_DAY) {
      int carried = (int) (seconds / SECONDS_PER_DAY);
      allDays += carried;
      seconds -= (double) carried * SECONDS_PER_DAY;
    }
    allDays += (int) monthDays;
    double allMicros = Math.rint(micros + seconds * 1e6);
    if (!(allMicros >= -0x1p63 && allMicros < 0x1p63)) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    return Intervals.of(heap, wholeMonths, int4(allDays), (long) allMicros);
  }

  /// 24 hours become a day.
  public static long justifyHours(long a, VarHeap heap) {
    long days = Intervals.days(a);
    long micros = Intervals.micros(a);
    long whole = micros / Calendars.MICROS_PER_DAY;
    micros -= whole * Calendars.MICROS_PER_DAY;
    days += whole;
    if (days > 0 && micros < 0) {
      micros += Calendars.MICROS_PER_DAY;
      days--;
    } else if (days < 0 && micros > 0) {
      micros -= Calendars.MICROS_PER_DAY;
      days++;
    }
    return Intervals.of(heap, Intervals.months(a), int4(days), micros);
  }

  /// 24 hours become a day and 30 days a month; all parts get the same sign.
  public static long justify(long a, VarHeap heap) {
    long months = Intervals.months(a);
    long days = Intervals.days(a);
    long micros = Intervals.micros(a);
    long wholeDays = micros / Calendars.MICROS_PER_DAY;
    micros -= wholeDays * Calendars.MICROS_PER_DAY;
    days += wholeDays;
    months += days / Calendars.DAYS_PER_MONTH;
    days %= Calendars.DAYS_PER_MONTH;
    if (months > 0 && (days < 0 || (days == 0 && micros < 0))) {
      days += Calendars.DAYS_PER_MONTH;
      months--;
    } else if (months < 0 && (days > 0 || (days == 0 && micros > 0))) {
      days -= Calendars.DAYS_PER_MONTH;
      months++;
    }
    if (days > 0 && micros < 0) {
      micros += Calendars.MICROS_PER_DAY;
      days--;
    } else if (days < 0 && micros > 0) {
      micros -= Calendars.MICROS_PER_DAY;
      days++;
    }
    return Intervals.of(heap, int4(months), (int) days, micros);
  }

  /// 30 days become a month.
  public static long justifyDays(long a, VarHeap heap) {
    long months = Intervals.months(a);
    int days = Intervals.days(a);
    int whole = days / Calendars.DAYS_PER_MONTH;
    days -= whole * Calendars.DAYS_PER_MONTH;
    months += whole;
    if (months > 0 && days < 0) {
      days += Calendars.DAYS_PER_MONTH;
      months--;
    } else if (months < 0 && days > 0) {
      days -= Calendars.DAYS_PER_MONTH;
      months++;
    }
    return Intervals.of(heap, int4(months), days, Intervals.micros(a));
  }
}
