package dev.kakehashi.valuetext.time;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A time zone: what its clocks show at each instant. Immutable and thread-safe.
///
/// Known are the zones of the IANA database that Java has, by full name, and fixed offsets in POSIX form (`<+02>-02`, `ABC+3`), whose sign
/// counts to the west. POSIX forms with a summer time are not known.
public final class Zone {
  private static final long UNIX_EPOCH_SECONDS = Calendars.UNIX_EPOCH_DAYS * 86_400L;
  private static final Pattern POSIX =
      Pattern.compile(
          "(?:<([^>]*)>|([^-+0-9,<]*))([+-]?)(\\d{1,2})(?::([0-5]?\\d)(?::([0-5]?\\d))?)?");
  private static final int MAX_OFFSET_SECONDS = 15 * 3600 + 59 * 60 + 59;

  /// Made when a name is first looked up, because every session has a zone: UTC, mostly.
  private static final class Names {
    static final Map<String, String> BY_LOWER_CASE = names();
  }

  private static final class Abbreviations {
    static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("zzz", Locale.ENGLISH);
  }

  public static final Zone UTC = new Zone("UTC", ZoneOffset.UTC.getRules(), ZoneOffset.UTC, "UTC");

  private final String name;
  private final ZoneRules rules;
  private final ZoneId id;
  private final @Nullable String abbreviation;
  private final boolean utc;

  private Zone(String name, ZoneRules rules, ZoneId id, @Nullable String abbreviation) {
    this.name = name;
    this.rules = rules;
    this.id = id;
    this.abbreviation = abbreviation;
    this.utc = rules.isFixedOffset() && rules.getOffset(Instant.EPOCH).getTotalSeconds() == 0;
  }

  private static Map<String, String> names() {
    Map<String, String> names = new TreeMap<>();
    for (String id : ZoneId.getAvailableZoneIds()) {
      // Java's own names, which the IANA database does not have.
      if (!id.startsWith("SystemV/")) {
        names.put(id.toLowerCase(Locale.ROOT), id);
      }
    }
    return names;
  }

  /// The zone of a name, in any case of letters; null: not known.
  public static @Nullable Zone find(String name) {
    String id = Names.BY_LOWER_CASE.get(name.toLowerCase(Locale.ROOT));
    if (id == null) {
      return posix(name);
    }
    if (id.equals("UTC")) {
      return UTC;
    }
    ZoneId zone = ZoneId.of(id);
    return new Zone(id, zone.getRules(), zone, null);
  }

  /// The zone that a function is given by its name.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_PARAMETER_VALUE
  public static Zone named(String name) {
    Zone zone = find(name);
    if (zone == null) {
      throw invalid("time zone \"" + name + "\" not recognized")
          .withHint("Full names of the IANA database are known, for example Europe/Berlin.");
    }
    return zone;
  }

  /// The zone of AT TIME ZONE and its like: an abbreviation such as "EST", else a name.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_PARAMETER_VALUE
  public static Zone abbreviatedOrNamed(String name) {
    ZoneAbbreviation abbreviation = ZoneAbbreviation.find(name.toLowerCase(Locale.ROOT));
    if (abbreviation == null) {
      return named(name);
    }
    ZoneOffset offset = ZoneOffset.ofTotalSeconds(abbreviation.seconds());
    return new Zone(name, offset.getRules(), offset, name);
  }

  /// The zone of make_timestamptz(): besides, an offset with its sign, plus is to the east.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_PARAMETER_VALUE
  public static Zone offsetOrNamed(String text) {
    if (!text.isEmpty() && DateTimeTokens.isDigit(text.charAt(0))) {
      throw invalid("invalid input syntax for type numeric time zone: \"" + text + "\"")
          .withHint("Numeric time zones must have \"-\" or \"+\" as first character.");
    }
    if (text.startsWith("+") || text.startsWith("-")) {
      int seconds = ZoneOffsetText.parse(text);
      if (seconds == ZoneOffsetText.TOO_FAR) {
        throw invalid("numeric time zone \"" + text + "\" out of range");
      }
      Zone zone = seconds == ZoneOffsetText.MALFORMED ? null : ofOffset(seconds);
      if (zone != null) {
        return zone;
      }
    }
    return abbreviatedOrNamed(text);
  }

  private static @Nullable Zone posix(String name) {
    Matcher matcher = POSIX.matcher(name);
    if (!matcher.matches()) {
      return null;
    }
    int west =
        number(matcher.group(4)) * 3600 + number(matcher.group(5)) * 60 + number(matcher.group(6));
    if (west > MAX_OFFSET_SECONDS) {
      return null;
    }
    int east = "-".equals(matcher.group(3)) ? west : -west;
    String abbreviation = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
    ZoneOffset offset = ZoneOffset.ofTotalSeconds(east);
    return new Zone(name, offset.getRules(), offset, abbreviation);
  }

  private static int number(@Nullable String digits) {
    return digits == null ? 0 : Integer.parseInt(digits);
  }

  /// A fixed offset, named as PostgreSQL does, for example `<+05:30>-05:30`; null: too far.
  ///
  /// @param seconds east of UTC
  public static @Nullable Zone ofOffset(long seconds) {
    if (Math.abs(seconds) > MAX_OFFSET_SECONDS) {
      return null;
    }
    String abbreviation = offsetText((int) seconds);
    ZoneOffset offset = ZoneOffset.ofTotalSeconds((int) seconds);
    String name = "<" + abbreviation + ">" + (seconds < 0 ? "+" : "-") + abbreviation.substring(1);
    return new Zone(name, offset.getRules(), offset, abbreviation);
  }

  /// For example +02, -03:30.
  public static String offsetText(int seconds) {
    int distance = Math.abs(seconds);
    StringBuilder text = new StringBuilder(seconds < 0 ? "-" : "+");
    twoDigits(text, distance / 3600);
    if (distance % 3600 != 0) {
      twoDigits(text.append(':'), distance / 60 % 60);
      if (distance % 60 != 0) {
        twoDigits(text.append(':'), distance % 60);
      }
    }
    return text.toString();
  }

  private static void twoDigits(StringBuilder text, int value) {
    text.append((char) ('0' + value / 10)).append((char) ('0' + value % 10));
  }

  /// As SHOW gives it.
  public String name() {
    return name;
  }

  /// Whether its clocks have always had one offset.
  public boolean isFixed() {
    return rules.isFixedOffset();
  }

  /// Seconds east of UTC at an instant.
  public int offsetSeconds(long timestamp) {
    return utc ? 0 : rules.getOffset(instant(timestamp)).getTotalSeconds();
  }

  /// Abbreviation that to_char() writes for TZ.
  public String abbreviation(long timestamp) {
    return abbreviation != null
        ? abbreviation
        : Abbreviations.FORMAT.format(instant(timestamp).atZone(id));
  }

  /// The local time of an instant; infinity stays.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATETIME_OVERFLOW
  public long toLocal(long timestamp) {
    return utc || !Calendars.isFinite(timestamp)
        ? timestamp
        : shift(timestamp, offsetSeconds(timestamp));
  }

  /// Time that clocks show at an instant, to take fields of it: at the end of the range it may be no timestamp. Infinity stays.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATETIME_OVERFLOW
  public long clock(long timestamp) {
    long local = uncheckedClock(timestamp);
    return local < Calendars.MIN_TIMESTAMP && Calendars.isFinite(timestamp)
        ? Calendars.checkedTimestamp(local)
        : local;
  }

  /// Time that clocks show at an instant, to take its time of day: at both ends of the range it may be no timestamp. Infinity stays.
  public long uncheckedClock(long timestamp) {
    // Does not overflow: the last timestamp is eight days before the last word.
    return utc || !Calendars.isFinite(timestamp)
        ? timestamp
        : timestamp + offsetSeconds(timestamp) * Calendars.MICROS_PER_SECOND;
  }

  /// The instant of a local time: in a gap with the offset before it, in an overlap with the one after it, as PostgreSQL.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATETIME_OVERFLOW
  public long toInstant(long local) {
    return utc || !Calendars.isFinite(local) ? local : shift(local, -localOffsetSeconds(local));
  }

  /// The order of a local time and an instant.
  public int compareLocal(long local, long timestamp) {
    // A local time at the end of the range may be an instant beyond it.
    return utc || !Calendars.isFinite(local) || !Calendars.isFinite(timestamp)
        ? Long.compare(local, timestamp)
        : Long.compare(local, timestamp + localOffsetSeconds(local) * Calendars.MICROS_PER_SECOND);
  }

  /// The instant of a local time, in its place among all instants also where it is none.
  public long comparedInstant(long local) {
    boolean isTime = Calendars.isFinite(local) && local < Calendars.END_TIMESTAMP;
    return utc || !isTime ? local : local - localOffsetSeconds(local) * Calendars.MICROS_PER_SECOND;
  }

  /// Seconds east of UTC at a local time: in a gap before it, in an overlap after it.
  public int localOffsetSeconds(long local) {
    LocalDateTime time = LocalDateTime.ofEpochSecond(unixSeconds(local), 0, ZoneOffset.UTC);
    ZoneOffsetTransition transition = rules.getTransition(time);
    if (transition == null) {
      return rules.getOffset(time).getTotalSeconds();
    }
    return (transition.isGap() ? transition.getOffsetBefore() : transition.getOffsetAfter())
        .getTotalSeconds();
  }

  private static Instant instant(long timestamp) {
    return Instant.ofEpochSecond(unixSeconds(timestamp));
  }

  private static long unixSeconds(long timestamp) {
    return Math.floorDiv(timestamp, Calendars.MICROS_PER_SECOND) + UNIX_EPOCH_SECONDS;
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  /// An instant or a local time that many seconds later.
  ///
  /// @throws EngineException DATETIME_OVERFLOW
  public static long shift(long timestamp, long seconds) {
    return Calendars.checkedTimestamp(timestamp + seconds * Calendars.MICROS_PER_SECOND);
  }

  @Override
  public String toString() {
    return name;
  }
}
