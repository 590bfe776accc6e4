package dev.kakehashi.valuetext.time;

import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.DateTimeTokens.Kind;
import dev.kakehashi.valuetext.time.DateTimeTokens.Token;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Reads the tokens of a date, a time or both, as PostgreSQL's `DecodeDateTime()` and `DecodeTimeOnly()` with DateStyle "ISO, MDY". Labels
/// before numbers (`y2001m02d04`) and abbreviations of zones that meant other offsets at other times are not known.
final class DateTimeParser {
  private static final int JULIAN_WITH_ZONE = TimeFields.DATE | TimeFields.TIME | TimeFields.ZONE;

  private static final int SECONDS_PER_HOUR = 3600;

  /// The last whole day of timestamps.
  private static final long LAST_DAY = Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY - 1;

  private final String text;
  private final boolean timeOnly;
  private final Zone sessionZone;
  private final LongSupplier now;
  private final TimeFields fields;
  private final List<Token> tokens;

  /// "t" or "julian" before the next token.
  private DateTimeWord.@Nullable Kind label;

  /// A word that is the whole value, EPOCH, INFINITY or MINUS_INFINITY, unless one behind it says another day.
  private DateTimeWord.@Nullable Kind special;

  /// Seconds east of UTC, if ZONE was read and `zone` is null.
  private int offsetSeconds;

  private @Nullable Zone zone;

  /// @param type as errors name it
  /// @param timeOnly whether there may be no date
  /// @param sessionZone in which "now" is a local time
  /// @param now the instant of "now"
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_DATETIME_FORMAT, DATETIME_OVERFLOW, INVALID_TIME_ZONE_DISPLACEMENT
  ///     or, for the name of a zone, INVALID_PARAMETER_VALUE
  DateTimeParser(String type, String text, boolean timeOnly, Zone sessionZone, LongSupplier now) {
    this.timeOnly = timeOnly;
    this.sessionZone = sessionZone;
    this.now = now;
    this.text = text;
    this.fields = new TimeFields(type, text);
    List<Token> split = DateTimeTokens.split(text);
    if (split == null) {
      throw fields.invalid();
    }
    this.tokens = split;
    read();
  }

  TimeFields fields() {
    return fields;
  }

  /// EPOCH, INFINITY or MINUS_INFINITY; null: the fields are the value.
  DateTimeWord.@Nullable Kind special() {
    return special;
  }

  /// The instant of a local time of the fields, in the zone that was read or else in the session's.
  ///
  /// @return microseconds since 2000-01-01 UTC, not checked
  long instant(long local) {
    if (!fields.has(TimeFields.ZONE)) {
      return sessionZone.toInstant(local);
    }
    return zone != null
        ? zone.toInstant(local)
        : local - offsetSeconds * Calendars.MICROS_PER_SECOND;
  }

  /// Seconds east of UTC of a time of day, in a zone on the day that was read or else today.
  int offsetSeconds() {
    if (fields.has(TimeFields.ZONE) && zone == null) {
      return offsetSeconds;
    }
    if (fields.has(TimeFields.DATE)) {
      long civil = Calendars.civil(fields.days());
      if (!Calendars.isValidJulian(Calendars.year(civil), Calendars.month(civil))) {
        // PostgreSQL knows no offset of a day that it has no number for.
        return 0;
      }
    }
    long day =
        fields.has(TimeFields.DATE)
            ? Math.clamp(fields.days(), Calendars.MIN_DATE, LAST_DAY)
            : Calendars.dayOf(sessionZone.toLocal(now.getAsLong()));
    long local = day * Calendars.MICROS_PER_DAY + fields.time();
    return (zone != null ? zone : sessionZone).localOffsetSeconds(local);
  }

  private void read() {
    for (int i = 0; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      switch (token.kind()) {
        case DATE -> date(token.text(), i);
        case TIME -> clock(token.text());
        case SIGNED_NUMBER -> offset(token.text());
        case NUMBER -> number(token.text(), i);
        case WORD, SIGNED_WORD -> word(token.text(), i);
      }
    }
    fields.complete();
    if (special != null) {
      return;
    }
    if (timeOnly) {
      fields.checkTime();
    }
    if (!fields.has(timeOnly ? TimeFields.TIME : TimeFields.DATE)) {
      throw fields.invalid();
    }
    // Summer time is that of an abbreviation.
    if (fields.has(TimeFields.SUMMER) && (zone != null || !fields.has(TimeFields.ZONE))) {
      throw fields.invalid();
    }
    if (timeOnly && zone != null && !zone.isFixed() && !fields.has(TimeFields.DATE)) {
      throw fields.invalid();
    }
  }

  private void clock(String clock) {
    if (!timeOnly && label != null) {
      if (label != DateTimeWord.Kind.ISO_TIME) {
        throw fields.invalid();
      }
      label = null;
    }
    fields.clock(clock);
    if (!timeOnly) {
      fields.checkTime();
    }
    fields.see(TimeFields.TIME);
  }

  private void date(String date, int i) {
    boolean digits = DateTimeTokens.isDigit(date.charAt(0));
    if (label == DateTimeWord.Kind.JULIAN && !timeOnly) {
      int dash = signOf(date);
      fields.setJulian(fields.integer(date.substring(0, dash)));
      label = null;
      fields.see(JULIAN_WITH_ZONE);
      offsetSeconds = offsetOf(date.substring(dash));
    } else if (isDateThere(i)) {
      if (digits || (label != null && !timeOnly)) {
        timeWithOffset(date);
      } else {
        named(date);
      }
    } else {
      fields.date(date);
    }
  }

  /// Whether a token that looks like a date is something else: a time with an offset, or the name of a zone.
  private boolean isDateThere(int i) {
    if (timeOnly) {
      return !(i == 0
          && tokens.size() >= 2
          && (tokens.getLast().kind() == Kind.DATE || tokens.get(1).kind() == Kind.TIME));
    }
    return label != null || fields.has(TimeFields.MONTH | TimeFields.DAY);
  }

  /// `hhmmss-zz`
  private void timeWithOffset(String time) {
    label = null;
    int dash = signOf(time);
    if (fields.has(TimeFields.TIME)) {
      throw fields.invalid();
    }
    offsetSeconds = offsetOf(time.substring(dash));
    fields.see(TimeFields.ZONE);
    fields.numberField(time.substring(0, dash), timeOnly ? TimeFields.DATE : 0);
  }

  private int signOf(String text) {
    int dash = text.indexOf('-');
    if (dash < 0) {
      throw fields.invalid();
    }
    return dash;
  }

  private void number(String number, int i) {
    if (label == DateTimeWord.Kind.JULIAN) {
      label = null;
      julian(number);
      return;
    }
    if (label == DateTimeWord.Kind.ISO_TIME) {
      label = null;
      if (fields.hasAny(TimeFields.TIME)) {
        throw fields.invalid();
      }
      fields.numberField(number, TimeFields.DATE);
      return;
    }
    int point = number.indexOf('.');
    int assumed = timeOnly ? TimeFields.DATE : 0;
    if (timeOnly
        && point >= 0
        && i == 0
        && tokens.size() >= 2
        && tokens.getLast().kind() == Kind.DATE) {
      fields.date(number);
    } else if (!timeOnly && point >= 0 && !fields.hasAny(TimeFields.DATE)) {
      fields.date(number);
    } else if (point > 2) {
      fields.numberField(number, assumed);
    } else if (timeOnly && point >= 0) {
      throw fields.invalid();
    } else if (timeOnly ? number.length() > 4 : isRunTogether(number)) {
      fields.numberField(number, assumed);
    } else if (timeOnly) {
      fields.number(number, false, assumed);
    } else {
      fields.number(number);
    }
  }

  /// Six digits and more are a date or a time unless both are there.
  private boolean isRunTogether(String number) {
    return number.length() >= 6
        && !(fields.hasAny(TimeFields.DATE) && fields.hasAny(TimeFields.TIME));
  }

  private void julian(String number) {
    int point = number.indexOf('.');
    fields.see(TimeFields.DATE);
    special = null;
    fields.setJulian(fields.integer(point < 0 ? number : number.substring(0, point)));
    if (point >= 0) {
      fields.see(TimeFields.TIME);
      double fraction =
          point == number.length() - 1 ? 0 : Double.parseDouble(number.substring(point));
      fields.setTime((long) (fraction * Calendars.MICROS_PER_DAY));
    }
  }

  private void word(String text, int i) {
    ZoneAbbreviation abbreviation = ZoneAbbreviation.find(text);
    if (abbreviation != null) {
      fields.see(TimeFields.ZONE | (abbreviation.summer() ? TimeFields.SUMMER : 0));
      offsetSeconds = abbreviation.seconds();
      return;
    }
    if (text.equals("dst")) {
      fields.see(TimeFields.SUMMER);
      offsetSeconds += SECONDS_PER_HOUR;
      return;
    }
    DateTimeWord word = DateTimeWord.find(text);
    if (word == null) {
      Zone found = Zone.find(text);
      if (found == null) {
        throw fields.invalid();
      }
      fields.see(TimeFields.ZONE);
      zone = found;
      return;
    }
    switch (word.kind()) {
      case NOTHING -> {}
      case AM, PM -> fields.setHalfOfDay(word.kind());
      case AD, BC -> fields.setEra(word.kind() == DateTimeWord.Kind.BC);
      case JULIAN -> label = word.kind();
      case ISO_TIME -> isoTime(i);
      case NOW -> now();
      case ALL_BALLS -> {
        fields.see(TimeFields.TIME | TimeFields.ZONE);
        fields.setTime(0);
        special = null;
      }
      default -> dateWord(word);
    }
  }

  private void dateWord(DateTimeWord word) {
    if (timeOnly) {
      throw fields.invalid();
    }
    switch (word.kind()) {
      case MONTH -> fields.setMonth(word.value());
      case DAY_OF_WEEK -> fields.see(TimeFields.DAY_OF_WEEK);
      case TODAY -> today(0);
      case TOMORROW -> today(1);
      case YESTERDAY -> today(-1);
      case EPOCH, INFINITY, MINUS_INFINITY -> {
        fields.see(TimeFields.SPECIAL);
        special = word.kind();
      }
      default -> throw fields.invalid();
    }
  }

  private void isoTime(int i) {
    if (!timeOnly && !fields.has(TimeFields.DATE)) {
      throw fields.invalid();
    }
    Kind next = i + 1 < tokens.size() ? tokens.get(i + 1).kind() : null;
    if (next != Kind.NUMBER && next != Kind.TIME && next != Kind.DATE) {
      throw fields.invalid();
    }
    label = DateTimeWord.Kind.ISO_TIME;
  }

  private void now() {
    long instant = now.getAsLong();
    long local = sessionZone.toLocal(instant);
    fields.setTime(Calendars.timeOf(local));
    if (timeOnly) {
      fields.see(TimeFields.TIME);
      return;
    }
    fields.see(JULIAN_WITH_ZONE);
    special = null;
    fields.setDays(Calendars.dayOf(local));
    offsetSeconds = sessionZone.offsetSeconds(instant);
  }

  private void today(int daysLater) {
    fields.see(TimeFields.DATE);
    special = null;
    fields.setDays(Calendars.dayOf(sessionZone.toLocal(now.getAsLong())) + daysLater);
  }

  private void offset(String offset) {
    int seconds = offsetOf(offset);
    fields.see(TimeFields.ZONE);
    offsetSeconds = seconds;
  }

  private void named(String name) {
    zone = Zone.named(name);
    fields.see(TimeFields.ZONE);
  }

  private int offsetOf(String offset) {
    int seconds = ZoneOffsetText.parse(offset);
    if (seconds == ZoneOffsetText.TOO_FAR) {
      throw ValueErrors.zoneOutOfRange(text);
    }
    if (seconds == ZoneOffsetText.MALFORMED) {
      throw fields.invalid();
    }
    return seconds;
  }
}
