package dev.kakehashi.engine.api;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A place in an engine's log, printed as one word: timeline, segment and offset in hexadecimal, as in `1/2a/1f40`.
///
/// Places of one timeline are in the order of their segments and offsets. A timeline ends where a restore to an earlier place, or a
/// promotion, has begun another one.
///
/// @param timeline from 1
/// @param segment number of the file
/// @param offset bytes in the file
public record LogPosition(int timeline, long segment, int offset) {
  private static final Pattern WORD =
      Pattern.compile("([0-9a-f]{1,8})/([0-9a-f]{1,15})/([0-9a-f]{1,8})");

  /// Reads a word.
  ///
  /// @throws IllegalArgumentException if it is none
  public static LogPosition parse(String word) {
    Matcher parts = WORD.matcher(word);
    if (parts.matches()) {
      long timeline = Long.parseLong(parts.group(1), 16);
      long offset = Long.parseLong(parts.group(3), 16);
      if (timeline > 0 && timeline <= Integer.MAX_VALUE && offset <= Integer.MAX_VALUE) {
        return new LogPosition((int) timeline, Long.parseLong(parts.group(2), 16), (int) offset);
      }
    }
    throw new IllegalArgumentException(
        "\"%s\" is no position of a log, as 1/2a/1f40".formatted(word));
  }

  @Override
  public String toString() {
    return "%x/%x/%x".formatted(timeline, segment, offset);
  }
}
