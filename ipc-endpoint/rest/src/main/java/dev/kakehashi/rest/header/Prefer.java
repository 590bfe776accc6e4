package dev.kakehashi.rest.header;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// How the client would like to be answered: the field `Prefer` (RFC 7240). An unknown or broken part of it is no preference. Immutable.
///
/// @param respondAsync whether it wants a job
/// @param waitSeconds for which it would wait for the answer itself; -1: it has not said
public record Prefer(boolean respondAsync, int waitSeconds) {
  public static final Prefer NONE = new Prefer(false, -1);

  private static final int MAX_DIGITS = 6;

  /// @param field null: there is none
  public static Prefer parse(@Nullable String field) {
    if (field == null) {
      return NONE;
    }
    boolean respondAsync = false;
    int waitSeconds = -1;
    for (String preference : field.split(",", -1)) {
      int semicolon = preference.indexOf(';');
      String pair = (semicolon < 0 ? preference : preference.substring(0, semicolon)).strip();
      int equals = pair.indexOf('=');
      String name =
          (equals < 0 ? pair : pair.substring(0, equals)).stripTrailing().toLowerCase(Locale.ROOT);
      if (name.equals("respond-async")) {
        respondAsync = true;
      } else if (name.equals("wait") && waitSeconds < 0 && equals > 0) {
        waitSeconds = seconds(pair.substring(equals + 1).strip());
      }
    }
    return new Prefer(respondAsync, waitSeconds);
  }

  private static int seconds(String text) {
    String digits =
        text.length() > 2 && text.startsWith("\"") && text.endsWith("\"")
            ? text.substring(1, text.length() - 1)
            : text;
    boolean isNumber =
        !digits.isEmpty()
            && digits.length() <= MAX_DIGITS
            && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    return isNumber ? Integer.parseInt(digits) : -1;
  }
}
