package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// AT TIME ZONE with the zones of the IANA database that Java has, by full name. Abbreviations and POSIX forms are not known.
final class TimeZones {
  private static final Map<String, String> NAMES = names();
  private static final long UNIX_EPOCH_SECONDS = Calendars.UNIX_EPOCH_DAYS * 86_400L;

  private TimeZones() {}

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

  private static ZoneRules rules(long zoneText) {
    String name = Varlena.string(zoneText);
    String id = NAMES.get(name.toLowerCase(Locale.ROOT));
    if (id == null) {
      throw SqlErrors.invalidParameter("time zone \"" + name + "\" not recognized")
          .withHint("Full names of the IANA database are known, for example Europe/Berlin.");
    }
    return ZoneId.of(id).getRules();
  }

  /// The instant of a local time: in a gap with the offset before it, in an overlap with the one after it, as PostgreSQL.
  static long toInstant(long zoneText, long timestamp) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    ZoneRules rules = rules(zoneText);
    LocalDateTime local = LocalDateTime.ofEpochSecond(unixSeconds(timestamp), 0, ZoneOffset.UTC);
    ZoneOffsetTransition transition = rules.getTransition(local);
    ZoneOffset offset;
    if (transition == null) {
      offset = rules.getOffset(local);
    } else {
      offset = transition.isGap() ? transition.getOffsetBefore() : transition.getOffsetAfter();
    }
    return shift(timestamp, -offset.getTotalSeconds());
  }

  /// The local time of an instant.
  static long toLocal(long zoneText, long timestamp) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    ZoneRules rules = rules(zoneText);
    Instant instant = Instant.ofEpochSecond(unixSeconds(timestamp));
    return shift(timestamp, rules.getOffset(instant).getTotalSeconds());
  }

  /// The same with an offset east of UTC as the zone.
  ///
  /// @param sign 1: to local time, -1: to an instant
  static long byOffset(long interval, long timestamp, int sign) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    if (Intervals.months(interval) != 0 || Intervals.days(interval) != 0) {
      throw SqlErrors.invalidParameter(
          "interval time zone \""
              + Intervals.toText(interval)
              + "\" must not include months or days");
    }
    // The seconds are an int in PostgreSQL.
    return shift(
        timestamp, (long) sign * (int) (Intervals.micros(interval) / Calendars.MICROS_PER_SECOND));
  }

  private static long unixSeconds(long timestamp) {
    return Math.floorDiv(timestamp, Calendars.MICROS_PER_SECOND) + UNIX_EPOCH_SECONDS;
  }

  private static long shift(long timestamp, long seconds) {
    return Calendars.checkedTimestamp(timestamp + seconds * Calendars.MICROS_PER_SECOND);
  }
}
