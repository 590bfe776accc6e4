package dev.kakehashi.valuetext.time;

/// The sum of an interval's fields while its text is read. Fractions go on to smaller fields as in PostgreSQL's `DecodeInterval()`.
final class IntervalSpan {
  private static final int MONTHS_PER_YEAR = 12;

  /// A sum that left its range.
  static final class FieldOverflow extends ArithmeticException {
    private static final long serialVersionUID = 1;
  }

  private int years;
  private int months;
  private int days;
  private long micros;

  /// Adds a number of units.
  ///
  /// @param fraction of a unit, less than 1, with the sign of the number
  /// @return whether intervals have the unit
  /// @throws FieldOverflow if it is too much
  boolean add(TimeUnit unit, long value, double fraction) {
    switch (unit) {
      case MICROSECONDS -> addTime(value, fraction, 1);
      case MILLISECONDS -> addTime(value, fraction, 1000);
      case SECOND -> addTime(value, fraction, Calendars.MICROS_PER_SECOND);
      case MINUTE -> addTime(value, fraction, Calendars.MICROS_PER_MINUTE);
      case HOUR -> addTime(value, fraction, Calendars.MICROS_PER_HOUR);
      case DAY -> {
        addDays(value, 1);
        addFraction(fraction, Calendars.MICROS_PER_DAY);
      }
      case WEEK -> {
        addDays(value, 7);
        addDayFraction(fraction * 7);
      }
      case MONTH -> {
        months = sum(months, integer(value));
        addDayFraction(fraction * Calendars.DAYS_PER_MONTH);
      }
      case YEAR -> addYears(value, fraction, 1);
      case DECADE -> addYears(value, fraction, 10);
      case CENTURY -> addYears(value, fraction, 100);
      case MILLENNIUM -> addYears(value, fraction, 1000);
      default -> {
        return false;
      }
    }
    return true;
  }

  private void addMicros(long value) {
    long sum = micros + value;
    if (((micros ^ sum) & (value ^ sum)) < 0) {
      throw new FieldOverflow();
    }
    micros = sum;
  }

  /// Sets the microseconds: a time takes the place of what fractions of days have left, as in PostgreSQL.
  void setMicros(long value) {
    micros = value;
  }

  /// "ago".
  ///
  /// @throws FieldOverflow if a field has no opposite
  void negate() {
    try {
      years = Math.negateExact(years);
      months = Math.negateExact(months);
      days = Math.negateExact(days);
      micros = Math.negateExact(micros);
    } catch (ArithmeticException e) {
      throw overflow(e);
    }
  }

  /// @throws FieldOverflow if the years are too many months
  int months() {
    return sum(integer((long) years * MONTHS_PER_YEAR), months);
  }

  int days() {
    return days;
  }

  long micros() {
    return micros;
  }

  private void addTime(long value, double fraction, long unitMicros) {
    addMicros(product(value, unitMicros));
    addFraction(fraction, unitMicros);
  }

  /// Half a microsecond is left away.
  private void addFraction(double fraction, long unitMicros) {
    double scaled = fraction * unitMicros;
    long whole = (long) scaled;
    double rest = scaled - whole;
    addMicros(rest > 0.5 ? whole + 1 : rest < -0.5 ? whole - 1 : whole);
  }

  private void addDays(long value, int scale) {
    days = sum(days, integer(product(integer(value), scale)));
  }

  private void addDayFraction(double fractional) {
    int whole = (int) fractional;
    days = sum(days, whole);
    addFraction(fractional - whole, Calendars.MICROS_PER_DAY);
  }

  private void addYears(long value, double fraction, int scale) {
    years = sum(years, integer(product(integer(value), scale)));
    months = sum(months, (int) Math.rint(fraction * scale * MONTHS_PER_YEAR));
  }

  private static int sum(int a, int b) {
    try {
      return Math.addExact(a, b);
    } catch (ArithmeticException e) {
      throw overflow(e);
    }
  }

  private static int integer(long value) {
    try {
      return Math.toIntExact(value);
    } catch (ArithmeticException e) {
      throw overflow(e);
    }
  }

  /// @throws FieldOverflow if it is no long
  static long product(long a, long b) {
    try {
      return Math.multiplyExact(a, b);
    } catch (ArithmeticException e) {
      throw overflow(e);
    }
  }

  private static FieldOverflow overflow(ArithmeticException cause) {
    FieldOverflow overflow = new FieldOverflow();
    overflow.initCause(cause);
    return overflow;
  }
}
