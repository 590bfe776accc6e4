package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import java.nio.charset.StandardCharsets;

/// Text as PostgreSQL holds it: valid UTF-8 without U+0000.
public final class FileUtf8 {
  /// Longest value whose copies are not worth asking for memory.
  static final int SMALL_BYTES = 1 << 16;

  /// Longest text of a number, a time and the like: the longest numeric, and zeros that it does not need.
  private static final int MAX_TEXT_BYTES = 1 << 20;

  private FileUtf8() {}

  /// @throws EngineException CHARACTER_NOT_IN_REPERTOIRE, in PostgreSQL's words
  static void check(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      int length = bytes[at] > 0 ? 1 : sequence(bytes, at, to);
      if (length == 0) {
        throw invalid(bytes, at, to);
      }
      at += length;
    }
  }

  /// Length of the character that begins at a byte which is none of ASCII; 0: none does.
  private static int sequence(byte[] bytes, int at, int to) {
    int lead = bytes[at] & 0xFF;
    if (lead >= 0xC2 && lead < 0xE0) {
      return follows(bytes, at + 1, to, 0x80, 0xBF) ? 2 : 0;
    }
    if (lead >= 0xE0 && lead < 0xF0) {
      int least = lead == 0xE0 ? 0xA0 : 0x80;
      int most = lead == 0xED ? 0x9F : 0xBF;
      return follows(bytes, at + 1, to, least, most) && follows(bytes, at + 2, to, 0x80, 0xBF)
          ? 3
          : 0;
    }
    if (lead >= 0xF0 && lead < 0xF5) {
      int least = lead == 0xF0 ? 0x90 : 0x80;
      int most = lead == 0xF4 ? 0x8F : 0xBF;
      return follows(bytes, at + 1, to, least, most)
              && follows(bytes, at + 2, to, 0x80, 0xBF)
              && follows(bytes, at + 3, to, 0x80, 0xBF)
          ? 4
          : 0;
    }
    return 0;
  }

  private static boolean follows(byte[] bytes, int at, int to, int least, int most) {
    return at < to && (bytes[at] & 0xFF) >= least && (bytes[at] & 0xFF) <= most;
  }

  private static EngineException invalid(byte[] bytes, int at, int to) {
    int lead = bytes[at] & 0xFF;
    int length = lead < 0xC0 || lead >= 0xF8 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    StringBuilder message = new StringBuilder("invalid byte sequence for encoding \"UTF8\":");
    for (int i = at; i < Math.min(at + length, to); i++) {
      message.append(" 0x%02x".formatted(bytes[i]));
    }
    return new EngineException(ErrorCode.CHARACTER_NOT_IN_REPERTOIRE, message.toString());
  }

  /// @throws EngineException CHARACTER_NOT_IN_REPERTOIRE
  public static String text(byte[] bytes, int from, int to) {
    check(bytes, from, to);
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }

  /// Without the blanks around it.
  ///
  /// @throws EngineException CHARACTER_NOT_IN_REPERTOIRE
  static String stripped(byte[] bytes, int from, int to) {
    int begin = from;
    int end = to;
    while (begin < end && Spaces.isSpace(bytes[begin])) {
      begin++;
    }
    while (begin < end && Spaces.isSpace(bytes[end - 1])) {
      end--;
    }
    if (end - begin > MAX_TEXT_BYTES) {
      throw new EngineException(
          ErrorCode.INVALID_TEXT_REPRESENTATION,
          "value of %d bytes is longer than its type takes: \"%s\""
              .formatted(end - begin, shown(bytes, begin, end)));
    }
    return text(bytes, begin, end);
  }

  /// Text that a message shows for bytes that may be anything.
  public static String shown(byte[] bytes, int from, int to) {
    return ValueErrors.shown(bytes, from, to);
  }
}
