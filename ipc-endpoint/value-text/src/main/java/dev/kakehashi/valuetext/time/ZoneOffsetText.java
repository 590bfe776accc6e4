package dev.kakehashi.valuetext.time;

import java.util.ArrayList;
import java.util.List;

/// Input of offsets from UTC, as PostgreSQL's `DecodeTimezone()`: `+hh`, `+hhmm`, `+hh:mm` or `+hh:mm:ss`, plus is to the east.
final class ZoneOffsetText {
  /// A text that is no offset.
  static final int MALFORMED = Integer.MIN_VALUE;

  /// An offset that is too far from UTC.
  static final int TOO_FAR = Integer.MAX_VALUE;

  private static final int MAX_HOURS = 15;
  private static final int MAX_DIGITS = 9;

  private ZoneOffsetText() {}

  /// Seconds east of UTC, MALFORMED or TOO_FAR.
  ///
  /// @param offset begins with a sign
  static int parse(String offset) {
    List<Integer> parts = new ArrayList<>();
    int at = 1;
    do {
      int end = DateTimeTokens.endOfDigits(offset, at);
      if (end - at > MAX_DIGITS) {
        return TOO_FAR;
      }
      parts.add(end == at ? 0 : Integer.parseInt(offset, at, end, 10));
      at = end + 1;
    } while (parts.size() < 3 && at <= offset.length() && offset.charAt(at - 1) == ':');
    boolean atEnd = at > offset.length();
    int hours = parts.get(0);
    int minutes = parts.size() > 1 ? parts.get(1) : 0;
    int seconds = parts.size() > 2 ? parts.get(2) : 0;
    if (parts.size() == 1 && atEnd && offset.length() > 3) {
      minutes = hours % 100;
      hours /= 100;
    }
    if (hours > MAX_HOURS || minutes > 59 || seconds > 59) {
      return TOO_FAR;
    }
    if (!atEnd) {
      return MALFORMED;
    }
    int east = hours * 3600 + minutes * 60 + seconds;
    return offset.charAt(0) == '-' ? -east : east;
  }
}
