package dev.kakehashi.engine.type.time;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.DATE;
import static dev.kakehashi.protocol.TypeOid.FLOAT8;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INTERVAL;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;
import static dev.kakehashi.protocol.TypeOid.TEXT;
import static dev.kakehashi.protocol.TypeOid.TIME;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMP;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMPTZ;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.TimeUnit;
import dev.kakehashi.valuetext.time.Zone;
import java.math.BigDecimal;
import java.util.Arrays;

/// Operators and functions of dates and times.
public final class DateTimeFunctions {
  private static final int[] TIMESTAMPS = {TIMESTAMP, TIMESTAMPTZ};

  private DateTimeFunctions() {}

  public static void register(FunctionSet set) {
    dates(set);
    times(set);
    for (int timestamp : TIMESTAMPS) {
      timestamps(set, timestamp);
    }
    intervals(set);
    making(set);
    zones(set);
    fields(set);
    texts(set);
    now(set);
    Overlaps.register(set);
  }

  private static void dates(FunctionSet set) {
    set.add("+", DATE, (a, _, _) -> DateTimeMath.addDays(a[0], a[1]), DATE, INT4);
    set.add("+", DATE, (a, _, _) -> DateTimeMath.addDays(a[1], a[0]), INT4, DATE);
    set.add("-", DATE, (a, _, _) -> DateTimeMath.addDays(a[0], -a[1]), DATE, INT4);
    set.add("-", INT4, (a, _, _) -> DateTimeMath.subtractDates(a[0], a[1]), DATE, DATE);
    set.add("+", TIMESTAMP, (a, _, _) -> DateTimeMath.dateAndTime(a[0], a[1]), DATE, TIME);
    set.add("+", TIMESTAMP, (a, _, _) -> DateTimeMath.dateAndTime(a[1], a[0]), TIME, DATE);
    set.add("+", TIMESTAMP, (a, _, _) -> plus(a[0], a[1]), DATE, INTERVAL);
    set.add("+", TIMESTAMP, (a, _, _) -> plus(a[1], a[0]), INTERVAL, DATE);
    set.add(
        "-",
        TIMESTAMP,
        (a, _, _) ->
            DateTimeMath.subtractInterval(DateTimeCasts.dateToTimestamp(a[0]), a[1], Zone.UTC),
        DATE,
        INTERVAL);
    set.add(
        "make_date", DATE, (a, _, _) -> DateTimeMath.makeDate(a[0], a[1], a[2]), INT4, INT4, INT4);
    set.add("isfinite", BOOL, (a, _, _) -> Calendars.isFiniteDate(a[0]) ? 1 : 0, DATE);
  }

  private static long plus(long date, long interval) {
    return DateTimeMath.addInterval(DateTimeCasts.dateToTimestamp(date), interval, Zone.UTC);
  }

  private static void times(FunctionSet set) {
    set.add(
        "+",
        TIME,
        (a, _, _) -> DateTimeMath.addToTime(a[0], Intervals.micros(a[1])),
        TIME,
        INTERVAL);
    set.add(
        "+",
        TIME,
        (a, _, _) -> DateTimeMath.addToTime(a[1], Intervals.micros(a[0])),
        INTERVAL,
        TIME);
    set.add(
        "-",
        TIME,
        (a, _, _) -> DateTimeMath.addToTime(a[0], -Intervals.micros(a[1])),
        TIME,
        INTERVAL);
    set.add("-", INTERVAL, (a, _, c) -> Intervals.of(c.heap, 0, 0, a[0] - a[1]), TIME, TIME);
    set.add(
        "make_time",
        TIME,
        (a, _, _) -> DateTimeMath.makeTime(a[0], a[1], FloatMath.ofWord8(a[2])),
        INT4,
        INT4,
        FLOAT8);
  }

  private static void timestamps(FunctionSet set, int oid) {
    boolean stable = oid == TIMESTAMPTZ;
    Body add = (a, _, c) -> DateTimeMath.addInterval(a[0], a[1], zone(oid, c));
    Body mirrored = (a, _, c) -> DateTimeMath.addInterval(a[1], a[0], zone(oid, c));
    Body subtract = (a, _, c) -> DateTimeMath.subtractInterval(a[0], a[1], zone(oid, c));
    add(set, stable, "+", oid, add, oid, INTERVAL);
    add(set, stable, "+", oid, mirrored, INTERVAL, oid);
    add(set, stable, "-", oid, subtract, oid, INTERVAL);
    set.add("-", INTERVAL, (a, _, c) -> DateTimeMath.subtract(a[0], a[1], c.heap), oid, oid);
    Body age = (a, _, c) -> DateTimeMath.age(a[0], a[1], zone(oid, c), c.heap);
    add(set, stable, "age", INTERVAL, age, oid, oid);
    set.addStable("age", INTERVAL, (a, _, c) -> ageToday(a[0], zone(oid, c), c), oid);
    set.add("isfinite", BOOL, (a, _, _) -> Calendars.isFinite(a[0]) ? 1 : 0, oid);
    add(
        set,
        stable,
        "date_trunc",
        oid,
        (a, _, c) -> DateTimeTruncation.timestamp(a[0], a[1], oid, zone(oid, c)),
        TEXT,
        oid);
  }

  private static void add(
      FunctionSet set, boolean stable, String name, int result, Body body, int... arguments) {
    set.add(new ScalarFunction(name, arguments, result, true, !stable, body));
  }

  /// The zone in which the fields of a timestamp are read.
  private static Zone zone(int oid, FunctionContext c) {
    return oid == TIMESTAMPTZ ? c.zone : Zone.UTC;
  }

  /// @param zone of the timestamp; today is the session's
  private static long ageToday(long timestamp, Zone zone, FunctionContext c) {
    long today = Calendars.dayOf(c.zone.clock(c.transactionTimestamp));
    return DateTimeMath.age(
        zone.toInstant(today * Calendars.MICROS_PER_DAY), timestamp, zone, c.heap);
  }

  private static void intervals(FunctionSet set) {
    set.add("+", INTERVAL, (a, _, c) -> IntervalMath.add(a[0], a[1], c.heap), INTERVAL, INTERVAL);
    set.add(
        "-", INTERVAL, (a, _, c) -> IntervalMath.subtract(a[0], a[1], c.heap), INTERVAL, INTERVAL);
    set.add("-", INTERVAL, (a, _, c) -> IntervalMath.negate(a[0], c.heap), INTERVAL);
    set.add(
        "*",
        INTERVAL,
        (a, _, c) -> IntervalMath.multiply(a[0], FloatMath.ofWord8(a[1]), c.heap),
        INTERVAL,
        FLOAT8);
    set.add(
        "*",
        INTERVAL,
        (a, _, c) -> IntervalMath.multiply(a[1], FloatMath.ofWord8(a[0]), c.heap),
        FLOAT8,
        INTERVAL);
    set.add(
        "/",
        INTERVAL,
        (a, _, c) -> IntervalMath.divide(a[0], FloatMath.ofWord8(a[1]), c.heap),
        INTERVAL,
        FLOAT8);
    set.add(
        "justify_hours", INTERVAL, (a, _, c) -> IntervalMath.justifyHours(a[0], c.heap), INTERVAL);
    set.add(
        "justify_days", INTERVAL, (a, _, c) -> IntervalMath.justifyDays(a[0], c.heap), INTERVAL);
    set.add(
        "date_trunc",
        INTERVAL,
        (a, _, c) -> DateTimeTruncation.interval(a[0], a[1], c.heap),
        TEXT,
        INTERVAL);
    set.add("isfinite", BOOL, (_, _, _) -> 1, INTERVAL);
  }

  private static void making(FunctionSet set) {
    int[] timestamp = {INT4, INT4, INT4, INT4, INT4, FLOAT8};
    Body make = (a, _, _) -> DateTimeMaking.timestamp(a, FloatMath.ofWord8(a[5]));
    set.add("make_timestamp", TIMESTAMP, make, timestamp);
    set.addStable(
        "make_timestamptz",
        TIMESTAMPTZ,
        (a, _, c) -> c.zone.toInstant(DateTimeMaking.timestamp(a, FloatMath.ofWord8(a[5]))),
        timestamp);
    int[] withZone = {INT4, INT4, INT4, INT4, INT4, FLOAT8, TEXT};
    set.addStable(
        "make_timestamptz",
        TIMESTAMPTZ,
        (a, _, _) -> {
          long local = DateTimeMaking.timestamp(a, FloatMath.ofWord8(a[5]));
          return Zone.offsetOrNamed(Varlena.string(a[6])).toInstant(local);
        },
        withZone);
    set.add(
        "to_timestamp",
        TIMESTAMPTZ,
        (a, _, _) -> DateTimeMaking.ofUnixSeconds(FloatMath.ofWord8(a[0])),
        FLOAT8);
    int[] interval = {INT4, INT4, INT4, INT4, INT4, INT4, FLOAT8};
    for (int count = 0; count < interval.length; count++) {
      set.add(
          "make_interval",
          INTERVAL,
          (a, _, c) -> DateTimeMaking.interval(a, 0, c.heap),
          Arrays.copyOf(interval, count));
    }
    set.add(
        "make_interval",
        INTERVAL,
        (a, _, c) -> DateTimeMaking.interval(a, FloatMath.ofWord8(a[6]), c.heap),
        interval);
    for (int oid : TIMESTAMPS) {
      set.add(
          "date_bin", oid, (a, _, _) -> DateTimeMaking.bin(a[0], a[1], a[2]), INTERVAL, oid, oid);
    }
    set.add(
        "justify_interval", INTERVAL, (a, _, c) -> IntervalMath.justify(a[0], c.heap), INTERVAL);
  }

  private static void zones(FunctionSet set) {
    set.addStable(
        "date_add",
        TIMESTAMPTZ,
        (a, _, c) -> DateTimeMath.addInterval(a[0], a[1], c.zone),
        TIMESTAMPTZ,
        INTERVAL);
    set.add(
        "date_add",
        TIMESTAMPTZ,
        (a, _, _) -> DateTimeMath.addInterval(a[0], a[1], named(a[2], a[0])),
        TIMESTAMPTZ,
        INTERVAL,
        TEXT);
    set.addStable(
        "date_subtract",
        TIMESTAMPTZ,
        (a, _, c) -> DateTimeMath.subtractInterval(a[0], a[1], c.zone),
        TIMESTAMPTZ,
        INTERVAL);
    set.add(
        "date_subtract",
        TIMESTAMPTZ,
        (a, _, _) -> DateTimeMath.subtractInterval(a[0], a[1], named(a[2], a[0])),
        TIMESTAMPTZ,
        INTERVAL,
        TEXT);
    set.add(
        "timezone", TIMESTAMPTZ, (a, _, _) -> named(a[0], a[1]).toInstant(a[1]), TEXT, TIMESTAMP);
    set.add("timezone", TIMESTAMP, (a, _, _) -> named(a[0], a[1]).toLocal(a[1]), TEXT, TIMESTAMPTZ);
    set.addStable(
        "date_trunc",
        TIMESTAMPTZ,
        (a, _, _) -> DateTimeTruncation.timestamp(a[0], a[1], TIMESTAMPTZ, named(a[2], a[1])),
        TEXT,
        TIMESTAMPTZ,
        TEXT);
    set.add(
        "timezone",
        TIMESTAMPTZ,
        (a, _, _) -> OffsetIntervals.byOffset(a[0], a[1], -1),
        INTERVAL,
        TIMESTAMP);
    set.add(
        "timezone",
        TIMESTAMP,
        (a, _, _) -> OffsetIntervals.byOffset(a[0], a[1], 1),
        INTERVAL,
        TIMESTAMPTZ);
  }

  /// Infinity is the same everywhere, also where nothing is.
  private static Zone named(long zoneText, long timestamp) {
    return Calendars.isFinite(timestamp)
        ? Zone.abbreviatedOrNamed(Varlena.string(zoneText))
        : Zone.UTC;
  }

  /// Reads a field; null of an infinite value's field that repeats is reported through the context.
  @FunctionalInterface
  private interface Field {
    BigDecimal of(long unitText, long word, Zone zone);
  }

  private static final Field TIMESTAMP_FIELD =
      (unit, word, _) -> DateTimeFields.ofTimestamp(unit, word, TIMESTAMP, Zone.UTC);

  private static void fields(FunctionSet set) {
    field(set, DATE, (unit, word, _) -> DateTimeFields.ofDate(unit, word));
    field(set, TIME, (unit, word, _) -> DateTimeFields.ofTime(unit, word));
    field(set, TIMESTAMP, TIMESTAMP_FIELD);
    field(
        set,
        TIMESTAMPTZ,
        (unit, word, zone) -> DateTimeFields.ofTimestamp(unit, word, TIMESTAMPTZ, zone));
    field(set, INTERVAL, (unit, word, _) -> DateTimeFields.ofInterval(unit, word));
  }

  private static void field(FunctionSet set, int oid, Field field) {
    boolean immutable = oid != TIMESTAMPTZ;
    Body extract =
        (a, _, c) -> {
          int sign = infinity(oid, a[1]);
          if (sign == 0) {
            return NumericForm.of(c.heap, field.of(a[0], a[1], c.zone));
          }
          if (infinite(a[0], oid, c)) {
            return NumericForm.infinity(c.heap, sign < 0);
          }
          return 0;
        };
    set.add(
        new ScalarFunction("extract", new int[] {TEXT, oid}, NUMERIC, true, immutable, extract));
    // date_part() takes a date as the timestamp of its midnight.
    int partOid = oid == DATE ? TIMESTAMP : oid;
    Body part =
        (a, _, c) -> {
          int sign = infinity(oid, a[1]);
          if (sign == 0) {
            return oid == DATE
                ? datePart(
                    a[0], DateTimeCasts.dateToTimestamp(a[1]), TIMESTAMP, TIMESTAMP_FIELD, Zone.UTC)
                : datePart(a[0], a[1], oid, field, zone(oid, c));
          }
          return infinite(a[0], partOid, c) ? FloatMath.word(sign / 0.0) : 0;
        };
    set.add(new ScalarFunction("date_part", new int[] {TEXT, oid}, FLOAT8, true, immutable, part));
  }

  private static long datePart(long unitText, long word, int oid, Field field, Zone zone) {
    TimeUnit unit = DateTimeFields.unit(unitText, oid);
    boolean counted = unit == TimeUnit.EPOCH || oid == INTERVAL || oid == TIME;
    Double inexact = DateTimeFields.inexact(unit, counted ? word : zone.clock(word), oid);
    return FloatMath.word(inexact != null ? inexact : field.of(unitText, word, zone).doubleValue());
  }

  private static int infinity(int oid, long word) {
    boolean finite =
        switch (oid) {
          case DATE -> Calendars.isFiniteDate(word);
          case TIMESTAMP, TIMESTAMPTZ -> Calendars.isFinite(word);
          default -> true;
        };
    return finite ? 0 : Long.signum(word);
  }

  private static boolean infinite(long unitText, int oid, FunctionContext context) {
    TimeUnit unit = DateTimeFields.unit(unitText, oid);
    if (!DateTimeFields.isMonotonic(unit)) {
      DateTimeFields.requireSupported(unit, unitText, oid);
      context.resultIsNull = true;
      return false;
    }
    return true;
  }

  private static void texts(FunctionSet set) {
    // Stable as in PostgreSQL, where the names depend on the session.
    for (int oid : TIMESTAMPS) {
      boolean zoned = oid == TIMESTAMPTZ;
      set.addStable(
          "to_char",
          TEXT,
          (a, _, c) -> DateTimeToChar.timestamp(a[0], a[1], zoned ? c.zone : null, c),
          oid,
          TEXT);
    }
    set.addStable(
        "to_date",
        DATE,
        (a, _, _) -> DateTimeFromChar.date(Varlena.string(a[0]), Varlena.string(a[1])),
        TEXT,
        TEXT);
    set.addStable(
        "to_timestamp",
        TIMESTAMPTZ,
        (a, _, c) ->
            c.zone.toInstant(
                DateTimeFromChar.timestamp(Varlena.string(a[0]), Varlena.string(a[1]))),
        TEXT,
        TEXT);
    set.addStable(
        "to_char", TEXT, (a, _, c) -> DateTimeToChar.interval(a[0], a[1], c), INTERVAL, TEXT);
  }

  private static void now(FunctionSet set) {
    Body transaction = (_, _, c) -> c.transactionTimestamp;
    set.addStable("now", TIMESTAMPTZ, transaction);
    set.addStable("transaction_timestamp", TIMESTAMPTZ, transaction);
    set.addStable("statement_timestamp", TIMESTAMPTZ, (_, _, c) -> c.statementTimestamp);
    // The forms without parentheses, under their keywords.
    set.addStable("current_timestamp", TIMESTAMPTZ, transaction);
    Body local = (_, _, c) -> c.zone.toLocal(c.transactionTimestamp);
    set.addStable("localtimestamp", TIMESTAMP, local);
    set.addStable("localtime", TIME, (a, n, c) -> Calendars.timeOf(local.apply(a, n, c)));
    set.addStable("current_date", DATE, (a, n, c) -> Calendars.dayOf(local.apply(a, n, c)));
  }
}
