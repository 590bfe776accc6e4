package dev.kakehashi.application;

import java.util.Locale;

/// An error with an SQLSTATE of its own, which the caller gets with the message. Any other exception is P0001 with its class and message.
public final class ApplicationException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String sqlstate;

  /// @param sqlstate five digits or upper case letters, not of class 00, 01, 02
  /// @throws IllegalArgumentException for any other
  public ApplicationException(String sqlstate, String message) {
    super(message);
    boolean fits =
        sqlstate.length() == 5
            && sqlstate.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'))
            && !sqlstate.startsWith("00")
            && !sqlstate.startsWith("01")
            && !sqlstate.startsWith("02");
    if (!fits) {
      throw new IllegalArgumentException(
          String.format(Locale.ROOT, "\"%s\" is no SQLSTATE of an error", sqlstate));
    }
    this.sqlstate = sqlstate;
  }

  public String sqlstate() {
    return sqlstate;
  }
}
