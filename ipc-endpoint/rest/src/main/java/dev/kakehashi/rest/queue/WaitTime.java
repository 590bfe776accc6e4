package dev.kakehashi.rest.queue;

import dev.kakehashi.rest.problem.Problem;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Times of query parameters: `20s`, `500ms`, `1m`; a number alone is seconds.
final class WaitTime {
  private static final Pattern FORM = Pattern.compile("([0-9]{1,9})(ms|s|m|h)?");

  private WaitTime() {}

  /// Milliseconds.
  ///
  /// @param name of the parameter
  /// @throws Problem 400: it is none, or longer than `maxMillis`
  static long millis(String name, String text, long maxMillis) {
    long millis = millis(text);
    if (millis >= 0 && millis <= maxMillis) {
      return millis;
    }
    throw Problem.badRequest(
        "query parameter \""
            + name
            + "\" must be a time up to "
            + maxMillis / 1000
            + "s, for example 20s or 500ms");
  }

  /// Negative: it has another form.
  private static long millis(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return -1;
    }
    String unit = matcher.group(2);
    long factor =
        switch (unit == null ? "s" : unit) {
          case "ms" -> 1;
          case "m" -> 60_000;
          case "h" -> 3_600_000;
          default -> 1_000;
        };
    return Long.parseLong(matcher.group(1)) * factor;
  }

  /// An interval that may be written in this form or in PostgreSQL's.
  static @Nullable String orInterval(@Nullable String text) {
    return text == null || millis(text) < 0 ? text : interval(millis(text));
  }

  /// As the engine takes an interval.
  static String interval(long millis) {
    return "%d.%03d seconds".formatted(millis / 1000, millis % 1000);
  }
}
