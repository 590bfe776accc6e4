package dev.kakehashi.engine.type.time;

import static dev.kakehashi.protocol.TypeOid.DATE;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMP;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMPTZ;

import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.valuetext.time.Calendars;
import java.util.Set;

/// Conversions for comparisons of dates, timestamps and timestamps with time zone with each other: they keep the order to every value of
/// the other type.
///
/// A value beyond the range of the other type becomes a word between its last value and infinity. That word is no timestamp but has its
/// place in the order.
public final class ComparedTimes {
  /// After every timestamp and before infinity.
  private static final long BEYOND = Calendars.INFINITY - 1;

  private static final ScalarFunction DATE_AS_TIMESTAMP =
      new ScalarFunction(
          "timestamp", new int[] {DATE}, TIMESTAMP, true, true, (a, _, _) -> ofDate(a[0]));
  private static final ScalarFunction DATE_AS_INSTANT =
      new ScalarFunction(
          "timestamptz",
          new int[] {DATE},
          TIMESTAMPTZ,
          true,
          false,
          (a, _, c) -> c.zone.comparedInstant(ofDate(a[0])));
  private static final ScalarFunction LOCAL_AS_INSTANT =
      new ScalarFunction(
          "timestamptz",
          new int[] {TIMESTAMP},
          TIMESTAMPTZ,
          true,
          false,
          (a, _, c) -> c.zone.comparedInstant(a[0]));

  private static final Set<ScalarFunction> CONVERSIONS =
      Set.of(DATE_AS_TIMESTAMP, DATE_AS_INSTANT, LOCAL_AS_INSTANT);

  private ComparedTimes() {}

  /// Whether values of the two types are compared by converting one.
  public static boolean areMixed(int left, int right) {
    return left != right && isOne(left) && isOne(right);
  }

  private static boolean isOne(int oid) {
    return oid == DATE || oid == TIMESTAMP || oid == TIMESTAMPTZ;
  }

  /// The type as which they are compared.
  public static int common(int left, int right) {
    return left == TIMESTAMPTZ || right == TIMESTAMPTZ ? TIMESTAMPTZ : TIMESTAMP;
  }

  /// @param from another of the types than the common one
  public static ScalarFunction conversion(int from, int common) {
    if (common == TIMESTAMP) {
      return DATE_AS_TIMESTAMP;
    }
    return from == DATE ? DATE_AS_INSTANT : LOCAL_AS_INSTANT;
  }

  /// Whether a function is one of the conversions, which keep the order.
  public static boolean isConversion(ScalarFunction function) {
    return CONVERSIONS.contains(function);
  }

  private static long ofDate(long date) {
    return Calendars.isFiniteDate(date)
            && date >= Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY
        ? BEYOND
        : DateTimeCasts.dateToTimestamp(date);
  }
}
