package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Elements of an array in PostgreSQL's text form, `{1,NULL,"a b"}`, whatever its dimensions.
public final class ArrayText {
  private final String text;
  private int at;
  private final List<@Nullable String> elements = new ArrayList<>();

  private ArrayText(String text) {
    this.text = text;
  }

  /// The elements in their order, those of inner arrays one after the other; null is SQL's null.
  ///
  /// @throws EngineException 22P02 for text that is no array
  public static List<@Nullable String> elements(String text) {
    ArrayText array = new ArrayText(text);
    array.skipBounds();
    array.braces();
    array.skipSpace();
    if (array.at < text.length()) {
      throw array.malformed();
    }
    return array.elements;
  }

  /// `[2:4][1:2]=`
  private void skipBounds() {
    skipSpace();
    if (at < text.length() && text.charAt(at) == '[') {
      int equals = text.indexOf('=', at);
      if (equals < 0) {
        throw malformed();
      }
      at = equals + 1;
      skipSpace();
    }
  }

  private void braces() {
    if (next() != '{') {
      throw malformed();
    }
    skipSpace();
    if (peek() == '}') {
      at++;
      return;
    }
    while (true) {
      skipSpace();
      if (peek() == '{') {
        braces();
      } else {
        elements.add(element());
      }
      skipSpace();
      char separator = next();
      if (separator == '}') {
        return;
      }
      if (separator != ',') {
        throw malformed();
      }
    }
  }

  private @Nullable String element() {
    StringBuilder value = new StringBuilder();
    if (peek() == '"') {
      at++;
      for (char c = next(); c != '"'; c = next()) {
        value.append(c == '\\' ? next() : c);
      }
      return value.toString();
    }
    // Blanks at the end of a bare element do not belong to it, unless they are escaped.
    int length = 0;
    boolean escaped = false;
    for (char c = peek(); c != ',' && c != '}'; c = peek()) {
      at++;
      if (c == '"' || c == '{') {
        throw malformed();
      }
      boolean literal = c == '\\';
      value.append(literal ? next() : c);
      escaped |= literal;
      if (literal || !isSpace(c)) {
        length = value.length();
      }
    }
    if (length == 0) {
      throw malformed();
    }
    value.setLength(length);
    String bare = value.toString();
    return !escaped && bare.equalsIgnoreCase("null") ? null : bare;
  }

  private char peek() {
    if (at >= text.length()) {
      throw malformed();
    }
    return text.charAt(at);
  }

  private char next() {
    char c = peek();
    at++;
    return c;
  }

  private void skipSpace() {
    while (at < text.length() && isSpace(text.charAt(at))) {
      at++;
    }
  }

  private static boolean isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }

  private EngineException malformed() {
    return new EngineException(
        ErrorCode.INVALID_TEXT_REPRESENTATION, "malformed array literal: \"" + text + "\"");
  }
}
