package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.number.FloatText;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Input of intervals: "1 year 2 mons -3 days 04:05:06.7", "@ 1 hour ago", "1-2" (years and months), "P1Y2M3DT4H5M6S".
final class IntervalParser {
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s*(?:([+-]?)(\\d+):(\\d{1,2})(?::(\\d{1,2})(\\.\\d*)?)?(?![\\d:])"
              + "|([+-]?)(\\d+)-(\\d+)(?!\\d)"
              + "|([+-]?)(\\d+)?(\\.\\d*)?\\s*([a-z]+)?)",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern ISO_TOKEN = Pattern.compile("([+-]?)(\\d*)(\\.\\d*)?([YMWDHS])");

  private final String text;
  private long months;
  private long days;
  private long micros;

  private IntervalParser(String text) {
    this.text = text;
  }

  static long parse(String text, VarHeap heap) {
    IntervalParser parser = new IntervalParser(text);
    String trimmed = FloatText.trim(text);
    if (trimmed.startsWith("P")) {
      parser.readIso(trimmed.substring(1));
    } else {
      parser.read(trimmed);
    }
    if (parser.months != (int) parser.months || parser.days != (int) parser.days) {
      throw parser.outOfRange();
    }
    return Intervals.of(heap, (int) parser.months, (int) parser.days, parser.micros);
  }

  private RuntimeException invalid() {
    return SqlErrors.invalidDateTime("interval", text);
  }

  private RuntimeException outOfRange() {
    return SqlErrors.datetimeOverflow("interval field value out of range: \"" + text + "\"");
  }

  private void read(String trimmed) {
    String rest = trimmed.startsWith("@") ? trimmed.substring(1) : trimmed;
    Matcher matcher = TOKEN.matcher(rest);
    int at = 0;
    boolean any = false;
    while (at < rest.length()) {
      if (!matcher.find(at) || matcher.start() != at || matcher.end() == at) {
        throw invalid();
      }
      at = matcher.end();
      if (matcher.group(2) != null) {
        clock(matcher);
      } else if (matcher.group(7) != null) {
        long sign = "-".equals(matcher.group(6)) ? -1 : 1;
        addMonths(sign * number(matcher.group(7)), 12);
        addMonths(sign * number(matcher.group(8)), 1);
      } else if (matcher.group(10) != null || matcher.group(11) != null) {
        boolean last = at >= rest.length();
        if (matcher.group(12) == null && !last) {
          throw invalid();
        }
        String unit = matcher.group(12) == null ? "s" : matcher.group(12).toLowerCase(Locale.ROOT);
        add(matcher.group(9), matcher.group(10), matcher.group(11), unit);
      } else if ("ago".equalsIgnoreCase(matcher.group(12)) && any && at == rest.length()) {
        months = -months;
        days = -days;
        micros = -micros;
      } else {
        throw invalid();
      }
      any = true;
    }
    if (!any) {
      throw invalid();
    }
  }

  private void clock(Matcher matcher) {
    long minute = number(matcher.group(3));
    long second = matcher.group(4) == null ? 0 : number(matcher.group(4));
    if (minute > 59 || second > 60) {
      throw outOfRange();
    }
    long sum = scaled(number(matcher.group(2)), Calendars.MICROS_PER_HOUR);
    sum = plus(sum, minute * Calendars.MICROS_PER_MINUTE + second * Calendars.MICROS_PER_SECOND);
    sum = plus(sum, (long) Math.rint(fraction(matcher.group(5)) * 1e6));
    micros = plus(micros, "-".equals(matcher.group(1)) ? -sum : sum);
  }

  private void readIso(String rest) {
    int time = rest.indexOf('T');
    String datePart = time < 0 ? rest : rest.substring(0, time);
    readIsoPart(datePart, false);
    if (time >= 0) {
      readIsoPart(rest.substring(time + 1), true);
    }
    if (rest.isEmpty() || time == rest.length() - 1) {
      throw invalid();
    }
  }

  private void readIsoPart(String part, boolean time) {
    Matcher matcher = ISO_TOKEN.matcher(part);
    int at = 0;
    while (at < part.length()) {
      if (!matcher.find(at) || matcher.start() != at) {
        throw invalid();
      }
      at = matcher.end();
      boolean empty = matcher.group(2).isEmpty() && matcher.group(3) == null;
      String unit =
          switch (matcher.group(4)) {
            case "Y" -> time ? "" : "year";
            case "M" -> time ? "minute" : "month";
            case "W" -> time ? "" : "week";
            case "D" -> time ? "" : "day";
            case "H" -> time ? "hour" : "";
            default -> time ? "second" : "";
          };
      if (empty || unit.isEmpty()) {
        throw invalid();
      }
      add(matcher.group(1), matcher.group(2), matcher.group(3), unit);
    }
  }

  private void add(
      String signText, @Nullable String whole, @Nullable String fractionText, String unit) {
    long sign = "-".equals(signText) ? -1 : 1;
    long value = whole == null || whole.isEmpty() ? 0 : sign * number(whole);
    double fraction = sign * fraction(fractionText);
    switch (unit) {
      case "us",
          "usec",
          "usecs",
          "usecond",
          "useconds",
          "microsecond",
          "microseconds",
          "microsecon" ->
          addTime(value, fraction, 1);
      case "ms",
          "msec",
          "msecs",
          "msecond",
          "mseconds",
          "millisecond",
          "milliseconds",
          "millisecon" ->
          addTime(value, fraction, 1000);
      case "s", "sec", "secs", "second", "seconds" ->
          addTime(value, fraction, Calendars.MICROS_PER_SECOND);
      case "m", "min", "mins", "minute", "minutes" ->
          addTime(value, fraction, Calendars.MICROS_PER_MINUTE);
      case "h", "hr", "hrs", "hour", "hours" -> addTime(value, fraction, Calendars.MICROS_PER_HOUR);
      case "d", "day", "days" -> {
        days = plus(days, value);
        addTime(0, fraction, Calendars.MICROS_PER_DAY);
      }
      case "w", "week", "weeks" -> {
        days = plus(days, scaled(value, 7));
        addDays(fraction * 7);
      }
      case "mon", "mons", "month", "months" -> {
        addMonths(value, 1);
        addDays(fraction * Intervals.DAYS_PER_MONTH);
      }
      case "y", "yr", "yrs", "year", "years" -> addYears(value, fraction, 1);
      case "dec", "decs", "decade", "decades" -> addYears(value, fraction, 10);
      case "c", "cent", "century", "centuries" -> addYears(value, fraction, 100);
      case "mil", "mils", "millennium", "millennia" -> addYears(value, fraction, 1000);
      default -> throw invalid();
    }
  }

  private void addTime(long value, double fraction, long unitMicros) {
    micros = plus(micros, scaled(value, unitMicros));
    micros = plus(micros, (long) Math.rint(fraction * unitMicros));
  }

  private void addDays(double fractional) {
    long whole = (long) fractional;
    days = plus(days, whole);
    addTime(0, fractional - whole, Calendars.MICROS_PER_DAY);
  }

  private void addYears(long value, double fraction, int years) {
    addMonths(scaled(value, years), 12);
    addMonths((long) Math.rint(fraction * years * 12), 1);
  }

  private void addMonths(long value, int factor) {
    months = plus(months, scaled(value, factor));
  }

  private long number(String digits) {
    if (digits.length() > 18) {
      throw outOfRange();
    }
    return Long.parseLong(digits);
  }

  private static double fraction(@Nullable String text) {
    return text == null || text.length() == 1 ? 0 : Double.parseDouble(text);
  }

  private long scaled(long value, long factor) {
    if (Math.multiplyHigh(value, factor) != (value * factor) >> 63) {
      throw outOfRange();
    }
    return value * factor;
  }

  private long plus(long a, long b) {
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      throw outOfRange();
    }
    return sum;
  }
}
