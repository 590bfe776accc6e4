package dev.kakehashi.tools.queue;

import dev.kakehashi.protocol.value.PgInterval;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Times of options: `20s`, `500ms`, `2h`, `7d`; a number alone is seconds.
final class Times implements ITypeConverter<Duration> {
  private static final Pattern FORM = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d)?");

  /// As a parameter; null stays null.
  static @Nullable PgInterval interval(@Nullable Duration time) {
    return time == null
        ? null
        : new PgInterval(0, 0, TimeUnit.NANOSECONDS.toMicros(time.toNanos()));
  }

  @Override
  public Duration convert(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException("\"" + text + "\" is no time, as 20s, 500ms or 2h");
    }
    long number = Long.parseLong(matcher.group(1));
    String unit = matcher.group(2);
    return switch (unit == null ? "s" : unit) {
      case "ms" -> Duration.ofMillis(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      case "d" -> Duration.ofDays(number);
      default -> Duration.ofSeconds(number);
    };
  }
}
