package dev.kakehashi.rest.job.http;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;

/// Dates of HTTP, in the one form that is still sent (RFC 9110, 5.6.7). Stateless.
final class HttpDate {
  /// Value of a text that is no date.
  static final long NONE = Long.MIN_VALUE;

  private static final DateTimeFormatter FORM =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);

  private HttpDate() {}

  /// @param seconds since 1970
  static String format(long seconds) {
    return FORM.format(Instant.ofEpochSecond(seconds).atOffset(ZoneOffset.UTC));
  }

  /// @return seconds since 1970, or [#NONE]
  static long parse(String text) {
    try {
      return LocalDateTime.parse(text, FORM).toEpochSecond(ZoneOffset.UTC);
    } catch (DateTimeParseException e) {
      return NONE;
    }
  }
}
