package dev.kakehashi.applications.type;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads and writes JSON: objects as maps, arrays as lists, numbers as [BigDecimal].
final class PayloadJson {
  private static final int MAX_DEPTH = 100;
  private static final int MAX_NUMBER = 1_000;

  private final String text;
  private int at;

  private PayloadJson(String text) {
    this.text = text;
  }

  /// @throws IllegalArgumentException it is no JSON
  static @Nullable Object read(String text) {
    PayloadJson reader = new PayloadJson(text);
    Object value = reader.value(0);
    reader.space();
    if (reader.at < text.length()) {
      throw reader.wrong();
    }
    return value;
  }

  private @Nullable Object value(int depth) {
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException("JSON is nested deeper than " + MAX_DEPTH);
    }
    space();
    char first = at < text.length() ? text.charAt(at) : 0;
    return switch (first) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, @Nullable Object> object(int depth) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    at++;
    space();
    if (next('}')) {
      return object;
    }
    do {
      space();
      if (at >= text.length() || text.charAt(at) != '"') {
        throw wrong();
      }
      String key = string();
      space();
      expect(':');
      object.put(key, value(depth + 1));
      space();
    } while (next(','));
    expect('}');
    return object;
  }

  private List<@Nullable Object> array(int depth) {
    List<@Nullable Object> array = new ArrayList<>();
    at++;
    space();
    if (next(']')) {
      return array;
    }
    do {
      array.add(value(depth + 1));
      space();
    } while (next(','));
    expect(']');
    return array;
  }

  private String string() {
    StringBuilder string = new StringBuilder();
    at++;
    for (; ; ) {
      if (at >= text.length()) {
        throw wrong();
      }
      char c = text.charAt(at++);
      if (c == '"') {
        return string.toString();
      }
      if (c < ' ') {
        throw wrong();
      }
      string.append(c == '\\' ? escaped() : c);
    }
  }

  private char escaped() {
    char c = at < text.length() ? text.charAt(at++) : 0;
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> {
        if (at + 4 > text.length() || !text.substring(at, at + 4).matches("[0-9A-Fa-f]{4}")) {
          throw wrong();
        }
        at += 4;
        yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
      }
      default -> throw wrong();
    };
  }

  private @Nullable Object word(String word, @Nullable Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong();
    }
    at += word.length();
    return value;
  }

  private BigDecimal number() {
    int from = at;
    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String number = text.substring(from, at);
    if (number.length() > MAX_NUMBER
        || !number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")) {
      throw wrong();
    }
    return new BigDecimal(number);
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private boolean next(char c) {
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char c) {
    if (!next(c)) {
      throw wrong();
    }
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("this is no JSON at character " + (at + 1));
  }

  // ---- writing ----

  /// Writes a string with its quotes.
  static void write(StringBuilder out, String string) {
    out.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < ' ') {
            out.append("\\u00")
                .append(Character.forDigit(c >> 4, 16))
                .append(Character.forDigit(c & 15, 16));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
