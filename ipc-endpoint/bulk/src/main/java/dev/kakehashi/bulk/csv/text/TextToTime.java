package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.bulk.DateTimeTexts;
import dev.kakehashi.formats.TimeInput;
import dev.kakehashi.formats.TimeText;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Calendars;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// date, time, timestamp and timestamptz.
final class TextToTime extends TextColumn {
  private static final int DATE_BYTES = 10;
  private static final int CLOCK_BYTES = 8;
  private static final long NONE = Long.MIN_VALUE;
  private static final int FIRST_YEAR = 1900;
  private static final int END_YEAR = 2100;

  /// Days of the first of each month since 2000-01-01, and of the one behind the last.
  private static final int[] MONTHS = new int[12 * (END_YEAR - FIRST_YEAR) + 1];

  static {
    for (int i = 0; i < MONTHS.length; i++) {
      MONTHS[i] = (int) Calendars.days(FIRST_YEAR + i / 12, i % 12 + 1, 1);
    }
  }

  private final int typeOid;
  private final int precision;

  private final @Nullable DateTimeTexts texts;

  TextToTime(int typeOid, int modifier, @Nullable DateTimeTexts texts) {
    this.texts = texts;
    this.typeOid = typeOid;
    this.precision = modifier < 0 || typeOid == TypeOid.DATE ? 6 : Math.min(modifier, 6);
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    long value =
        switch (typeOid) {
          case TypeOid.DATE -> to - from == DATE_BYTES ? days(bytes, from) : NONE;
          case TypeOid.TIME -> clock(bytes, from, to);
          default -> timestamp(bytes, from, to);
        };
    if (value == NONE) {
      value = slow(FileUtf8.stripped(bytes, from, to));
    }
    batch.setWord(column, precision < 6 ? Micros.round(value, precision) : value);
  }

  private long slow(String text) {
    if (texts != null) {
      return texts.dateTime(typeOid, text);
    }
    return switch (typeOid) {
      case TypeOid.DATE -> TimeInput.date(text);
      case TypeOid.TIME -> TimeInput.time(text);
      case TypeOid.TIMESTAMP -> TimeInput.timestamp(text, false);
      default -> TimeInput.timestamp(text, true);
    };
  }

  /// A timestamp without a zone, or in UTC for timestamptz.
  private long timestamp(byte[] bytes, int from, int to) {
    if (to - from < DATE_BYTES + 1 + CLOCK_BYTES) {
      return NONE;
    }
    int end = to;
    if (typeOid == TypeOid.TIMESTAMPTZ) {
      if (bytes[to - 1] == 'Z') {
        end--;
      } else if (bytes[to - 3] == '+' && bytes[to - 2] == '0' && bytes[to - 1] == '0') {
        end -= 3;
      }
    }
    long days = days(bytes, from);
    byte separator = bytes[from + DATE_BYTES];
    if (days == NONE || (separator != ' ' && separator != 'T')) {
      return NONE;
    }
    long micros = clock(bytes, from + DATE_BYTES + 1, end);
    return micros == NONE ? NONE : days * Calendars.MICROS_PER_DAY + micros;
  }

  /// `YYYY-MM-DD` of about our time.
  private static long days(byte[] bytes, int at) {
    int century = two(bytes, at);
    int years = two(bytes, at + 2);
    int month = two(bytes, at + 5);
    int day = two(bytes, at + 8);
    if ((century | years | month | day) < 0 || bytes[at + 4] != '-' || bytes[at + 7] != '-') {
      return NONE;
    }
    int year = 100 * century + years;
    if (year < FIRST_YEAR || year >= END_YEAR || month < 1 || month > 12) {
      return NONE;
    }
    int index = 12 * (year - FIRST_YEAR) + month - 1;
    int first = MONTHS[index];
    return day >= 1 && first + day <= MONTHS[index + 1] ? first + day - 1 : NONE;
  }

  /// `hh:mm:ss` and up to six digits behind a point.
  private static long clock(byte[] bytes, int from, int to) {
    if (to - from < CLOCK_BYTES) {
      return NONE;
    }
    int hours = two(bytes, from);
    int minutes = two(bytes, from + 3);
    int seconds = two(bytes, from + 6);
    if ((hours | minutes | seconds) < 0
        || bytes[from + 2] != ':'
        || bytes[from + 5] != ':'
        || hours > 23
        || minutes > 59
        || seconds > 59) {
      return NONE;
    }
    long micros = Calendars.MICROS_PER_SECOND * (3600 * hours + 60 * minutes + seconds);
    int at = from + CLOCK_BYTES;
    if (at == to) {
      return micros;
    }
    int digits = to - at - 1;
    if (bytes[at] != '.' || digits < 1 || digits > 6) {
      return NONE;
    }
    long fraction = 0;
    for (at++; at < to; at++) {
      int digit = bytes[at] - '0';
      if (digit < 0 || digit > 9) {
        return NONE;
      }
      fraction = 10 * fraction + digit;
    }
    return micros + fraction * Decimals.power(6 - digits);
  }

  /// Two digits; negative if they are none.
  private static int two(byte[] bytes, int at) {
    int tens = bytes[at] - '0';
    int ones = bytes[at + 1] - '0';
    return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : 10 * tens + ones;
  }

  /// A time of day as PostgreSQL writes it.
  static String clock(long micros) {
    byte[] bytes = new byte[TimeText.MAX_BYTES];
    int end = TimeText.putTime(bytes, 0, micros);
    return new String(bytes, 0, end, StandardCharsets.US_ASCII);
  }
}
