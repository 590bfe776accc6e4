package dev.kakehashi.valuetext.time;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Fields of extract() and date_trunc().
public enum TimeUnit {
  MICROSECONDS("us", "usec", "usecs", "usecond", "useconds", "microsecon"),
  MILLISECONDS("ms", "msec", "msecs", "msecond", "mseconds", "millisecon"),
  SECOND("s", "sec", "secs", "second", "seconds"),
  MINUTE("m", "min", "mins", "minute", "minutes"),
  HOUR("h", "hr", "hrs", "hour", "hours"),
  DAY("d", "day", "days"),
  WEEK("w", "week", "weeks"),
  MONTH("mon", "mons", "month", "months"),
  QUARTER("qtr", "quarter"),
  YEAR("y", "yr", "yrs", "year", "years"),
  DECADE("dec", "decs", "decade", "decades"),
  CENTURY("c", "cent", "century", "centuries"),
  MILLENNIUM("mil", "mils", "millennia", "millennium"),
  DAY_OF_WEEK("dow"),
  ISO_DAY_OF_WEEK("isodow"),
  DAY_OF_YEAR("doy"),
  ISO_YEAR("isoyear"),
  JULIAN("julian", "jd", "j"),
  EPOCH("epoch"),
  TIME_ZONE("timezone"),
  TIME_ZONE_HOUR("timezone_h"),
  TIME_ZONE_MINUTE("timezone_m");

  /// PostgreSQL looks at this many characters of a name.
  private static final int SIGNIFICANT_CHARACTERS = 10;

  private static final Map<String, TimeUnit> BY_NAME = new HashMap<>();

  static {
    for (TimeUnit unit : values()) {
      for (String name : unit.names) {
        BY_NAME.put(name, unit);
      }
    }
  }

  @SuppressWarnings("ImmutableEnumChecker") // List.of() is immutable
  private final List<String> names;

  TimeUnit(String... names) {
    this.names = List.of(names);
  }

  /// The unit of a name in any case of letters; null: there is none.
  public static @Nullable TimeUnit find(String name) {
    String key = name.toLowerCase(Locale.ROOT);
    return BY_NAME.get(
        key.length() > SIGNIFICANT_CHARACTERS ? key.substring(0, SIGNIFICANT_CHARACTERS) : key);
  }
}
