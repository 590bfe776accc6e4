package dev.kakehashi.engine.type.json;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.text.TextCursor;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/// Reads JSON as PostgreSQL does. It keeps the text of every value, which `json` shows as it was written and for which the libraries have
/// no place.
final class JsonParser extends TextCursor {
  /// Deeper values would take the thread's stack; PostgreSQL's limit is that of its own stack.
  private static final int MAX_DEPTH = 3000;

  private final boolean asWritten;
  private int depth;

  private JsonParser(String text, boolean asWritten) {
    super(text);
    this.asWritten = asWritten;
  }

  /// A value whose strings are needed only as they are written: escapes that are no characters are taken as well.
  ///
  /// @throws EngineException 22P02 for text that is no JSON
  static JsonValue asWritten(String text) {
    return new JsonParser(text, true).parse();
  }

  /// A value.
  ///
  /// @throws EngineException 22P02 for text that is no JSON, 22P05 for characters that text cannot have
  static JsonValue parse(String text) {
    return new JsonParser(text, false).parse();
  }

  private JsonValue parse() {
    skipBlanks();
    JsonValue value = value();
    skipBlanks();
    if (!atEnd()) {
      throw malformed();
    }
    return value;
  }

  private JsonValue value() {
    checkNowAndThen();
    int start = at;
    return switch (peek()) {
      case '{' -> object(start);
      case '[' -> array(start);
      case '"' -> {
        String value = string();
        yield new JsonValue.Text(text.substring(start, at), value);
      }
      case 't' -> {
        word("true");
        yield new JsonValue.Bool("true", true);
      }
      case 'f' -> {
        word("false");
        yield new JsonValue.Bool("false", false);
      }
      case 'n' -> {
        word("null");
        yield JsonWords.NULL;
      }
      default -> {
        number();
        yield new JsonValue.JsonNumber(text.substring(start, at));
      }
    };
  }

  private void enter() {
    at++;
    if (++depth > MAX_DEPTH) {
      throw new EngineException(ErrorCode.LIMIT_EXCEEDED, "JSON value is nested too deeply");
    }
    skipBlanks();
  }

  private JsonValue array(int start) {
    enter();
    List<JsonValue> elements = new ArrayList<>();
    if (peek() == ']') {
      at++;
    } else {
      do {
        skipBlanks();
        elements.add(value());
      } while (more(']'));
    }
    depth--;
    return new JsonValue.Array(text.substring(start, at), elements);
  }

  private JsonValue object(int start) {
    enter();
    List<JsonValue.Member> members = new ArrayList<>();
    if (peek() == '}') {
      at++;
    } else {
      do {
        skipBlanks();
        if (peek() != '"') {
          throw malformed();
        }
        String key = string();
        skipBlanks();
        if (next() != ':') {
          throw malformed();
        }
        skipBlanks();
        members.add(new JsonValue.Member(key, value()));
      } while (more('}'));
    }
    depth--;
    return new JsonValue.JsonObject(text.substring(start, at), members);
  }

  private boolean more(char close) {
    skipBlanks();
    char c = next();
    if (c != ',' && c != close) {
      throw malformed();
    }
    return c == ',';
  }

  private void word(String word) {
    if (!text.startsWith(word, at)) {
      throw malformed();
    }
    at += word.length();
    if (!atEnd() && isWordCharacter(text.charAt(at))) {
      throw malformed();
    }
  }

  private static boolean isWordCharacter(char c) {
    return (c >= '0' && c <= '9')
        || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || c == '_'
        || c >= 0x80;
  }

  private void number() {
    if (peek() == '-') {
      at++;
    }
    if (peek() == '0') {
      at++;
    } else {
      digits();
    }
    if (!atEnd() && text.charAt(at) == '.') {
      at++;
      digits();
    }
    if (!atEnd() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
      at++;
      if (peek() == '+' || peek() == '-') {
        at++;
      }
      digits();
    }
    if (!atEnd() && isWordCharacter(text.charAt(at))) {
      throw malformed();
    }
  }

  private void digits() {
    int start = at;
    while (!atEnd() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == start) {
      throw malformed();
    }
  }

  private String string() {
    StringBuilder value = new StringBuilder();
    at++;
    for (char c = next(); c != '"'; c = next()) {
      if (c < ' ') {
        throw malformed();
      }
      if (c == '\\') {
        escape(value);
      } else {
        value.append(c);
      }
    }
    return value.toString();
  }

  private void escape(StringBuilder value) {
    char c = next();
    switch (c) {
      case '"', '\\', '/' -> value.append(c);
      case 'b' -> value.append('\b');
      case 'f' -> value.append('\f');
      case 'n' -> value.append('\n');
      case 'r' -> value.append('\r');
      case 't' -> value.append('\t');
      case 'u' -> unicode(value);
      default -> throw malformed();
    }
  }

  private void unicode(StringBuilder value) {
    char c = unit();
    if (c == 0) {
      refuse(
          new EngineException(
                  ErrorCode.UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
              .withDetail("\\u0000 cannot be converted to text."));
    } else if (Character.isHighSurrogate(c)) {
      if (text.startsWith("\\u", at)) {
        int save = at;
        at += 2;
        char low = unit();
        if (Character.isLowSurrogate(low)) {
          value.append(c).append(low);
          return;
        }
        at = save;
      }
      refuse(malformed().withDetail("Unicode low surrogate must follow a high surrogate."));
    } else if (Character.isLowSurrogate(c)) {
      refuse(malformed().withDetail("Unicode low surrogate must follow a high surrogate."));
    } else {
      value.append(c);
    }
  }

  private void refuse(EngineException refused) {
    if (!asWritten) {
      throw refused;
    }
  }

  private char unit() {
    int value = 0;
    for (int i = 0; i < 4; i++) {
      char digit = next();
      if (!HexFormat.isHexDigit(digit)) {
        throw malformed();
      }
      value = value * 16 + HexFormat.fromHexDigit(digit);
    }
    return (char) value;
  }

  @Override
  protected boolean isBlank(char c) {
    return " \t\n\r".indexOf(c) >= 0;
  }

  @Override
  protected EngineException malformed() {
    return new EngineException(
        ErrorCode.INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json");
  }
}
