package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Patterns of SIMILAR TO as regular expressions.
final class SimilarTo {
  private final StringBuilder out = new StringBuilder("^(?:");

  /// Brackets of a character class that are open.
  private int depth;

  /// Whether nothing but `^` has been in the class yet: a `]` there is one of its characters.
  private boolean classBegins;

  private SimilarTo() {}

  /// @param escape one character, or empty: none
  static String regex(String pattern, String escape) {
    if (escape.codePointCount(0, escape.length()) > 1) {
      throw new EngineException(ErrorCode.INVALID_ESCAPE_SEQUENCE, "invalid escape string")
          .withHint("Escape string must be empty or one character.");
    }
    int escapeCharacter = escape.isEmpty() ? -1 : escape.codePointAt(0);
    SimilarTo similar = new SimilarTo();
    boolean escaped = false;
    for (int c : pattern.codePoints().toArray()) {
      if (escaped) {
        similar.escaped(c);
        escaped = false;
      } else if (c == escapeCharacter) {
        escaped = true;
      } else if (similar.depth > 0) {
        similar.inClass(c);
      } else {
        similar.character(c);
      }
    }
    return similar.out.append(")$").toString();
  }

  private void escaped(int c) {
    if (c == '"' && depth == 0) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "separators (an escape character and a double quote) in a pattern of SIMILAR TO are not supported");
    }
    out.append('\\').appendCodePoint(c);
    classBegins = false;
  }

  private void inClass(int c) {
    if (c == '\\') {
      out.append('\\');
    }
    out.appendCodePoint(c);
    if (c == ']' && !classBegins) {
      depth--;
    } else if (c == '[') {
      depth++;
    }
    classBegins &= c == '^';
  }

  private void character(int c) {
    switch (c) {
      case '[' -> {
        depth = 1;
        classBegins = true;
        out.append('[');
      }
      case '%' -> out.append(".*");
      case '_' -> out.append('.');
      case '(' -> out.append("(?:");
      case '\\', '.', '^', '$' -> out.append('\\').append((char) c);
      default -> out.appendCodePoint(c);
    }
  }
}
