package dev.kakehashi.rest.route;

import dev.kakehashi.rest.problem.Problem;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Percent-encoded texts of a request's target: strict UTF-8. Stateless.
final class PercentText {
  private PercentText() {}

  /// @param plusIsSpace as in query strings
  /// @throws Problem 400: an escape is broken, or what it encodes is no UTF-8
  static String decode(String text, boolean plusIsSpace) {
    if (text.indexOf('%') < 0 && (!plusIsSpace || text.indexOf('+') < 0)) {
      return text;
    }
    // Jetty gives the target's bytes as characters: those above 127 are UTF-8 that it has decoded.
    ByteBuffer bytes = ByteBuffer.allocate(text.length() * 3);
    int at = 0;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '%') {
        bytes.put((byte) escaped(text, at));
        at += 3;
      } else {
        int end = at + Character.charCount(text.codePointAt(at));
        bytes.put(
            (plusIsSpace && c == '+' ? " " : text.substring(at, end))
                .getBytes(StandardCharsets.UTF_8));
        at = end;
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException e) {
      throw Problem.badRequest("the request's target is not UTF-8");
    }
  }

  private static int escaped(String text, int at) {
    int high = at + 2 < text.length() ? Character.digit(text.charAt(at + 1), 16) : -1;
    int low = at + 2 < text.length() ? Character.digit(text.charAt(at + 2), 16) : -1;
    if (high < 0 || low < 0) {
      throw Problem.badRequest("the request's target has a broken escape");
    }
    return high << 4 | low;
  }
}
