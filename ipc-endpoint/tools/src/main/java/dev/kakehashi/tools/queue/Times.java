package dev.kakehashi.tools.queue;

import dev.kakehashi.protocol.value.PgInterval;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Times of options: `20s`, `500ms`, `2h`, `7d`; a number alone is seconds.
final class Times implements ITypeConverter<Duration> {
  private static final Pattern FORM = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d)?");

  /// Longest time in days, which its microseconds can hold.
  private static final long MOST_DAYS = 99_999_999;

  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long NANOS_PER_MICRO = 1_000;

  /// As a parameter; null stays null.
  ///
  /// @param time of [#convert]
  static @Nullable PgInterval interval(@Nullable Duration time) {
    return time == null
        ? null
        // Nanoseconds would end with 292 years.
        : new PgInterval(
            0,
            0,
            Math.multiplyExact(time.getSeconds(), MICROS_PER_SECOND)
                + time.getNano() / NANOS_PER_MICRO);
  }

  @Override
  public Duration convert(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException("\"" + text + "\" is no time, as 20s, 500ms or 2h");
    }
    long number = Long.parseLong(matcher.group(1));
    String unit = matcher.group(2);
    if ("d".equals(unit) && number > MOST_DAYS) {
      throw new TypeConversionException(
          "\"" + text + "\" is too long a time, " + MOST_DAYS + "d is the longest");
    }
    return switch (unit == null ? "s" : unit) {
      case "ms" -> Duration.ofMillis(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      case "d" -> Duration.ofDays(number);
      default -> Duration.ofSeconds(number);
    };
  }
}
