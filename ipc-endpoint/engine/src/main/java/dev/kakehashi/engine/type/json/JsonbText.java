package dev.kakehashi.engine.type.json;

import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The text of `jsonb`: keys once, the last one of equal ones, ordered by length and then by bytes; numbers as numeric shows them; a blank
/// behind `:` and `,`.
final class JsonbText {
  /// Order of an object's keys.
  static final Comparator<String> KEYS =
      Comparator.comparingInt((String key) -> key.getBytes(StandardCharsets.UTF_8).length)
          .thenComparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

  private static final int INDENTATION = 4;

  /// Values between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 8) - 1;

  /// Characters of a string between two looks, less one.
  private static final int CHARACTERS_MASK = (1 << 14) - 1;

  private int written;
  private final StringBuilder out = new StringBuilder();
  private final boolean indented;

  private JsonbText(boolean indented) {
    this.indented = indented;
  }

  static String of(JsonValue value) {
    JsonbText text = new JsonbText(false);
    text.append(value, 0);
    return text.out.toString();
  }

  /// jsonb_pretty()
  static String pretty(JsonValue value) {
    JsonbText text = new JsonbText(true);
    text.append(value, 0);
    return text.out.toString();
  }

  /// The members as jsonb keeps them.
  static Map<String, JsonValue> members(JsonValue.JsonObject object) {
    Map<String, JsonValue> members = new TreeMap<>(KEYS);
    object.members().forEach(member -> members.put(member.key(), member.value()));
    return members;
  }

  private void append(JsonValue value, int level) {
    if ((++written & CHECK_MASK) == 0) {
      Interrupts.check();
    }
    switch (value) {
      case JsonValue.Text text -> out.append(quoted(text.value()));
      case JsonValue.JsonNumber number -> out.append(number(number.source()));
      case JsonValue.Array array -> {
        out.append('[');
        List<JsonValue> elements = array.elements();
        for (int i = 0; i < elements.size(); i++) {
          separate(i == 0, level + 1);
          append(elements.get(i), level + 1);
        }
        close(level, ']');
      }
      case JsonValue.JsonObject object -> {
        out.append('{');
        Map<String, JsonValue> members = members(object);
        boolean first = true;
        for (Map.Entry<String, JsonValue> member : members.entrySet()) {
          separate(first, level + 1);
          first = false;
          out.append(quoted(member.getKey())).append(": ");
          append(member.getValue(), level + 1);
        }
        close(level, '}');
      }
      default -> out.append(value.source());
    }
  }

  private void separate(boolean first, int level) {
    if (indented) {
      out.append(first ? "\n" : ",\n").repeat(" ", INDENTATION * level);
    } else if (!first) {
      out.append(", ");
    }
  }

  private void close(int level, char bracket) {
    if (indented) {
      // Also around nothing.
      out.append('\n').repeat(" ", INDENTATION * level);
    }
    out.append(bracket);
  }

  /// A number as numeric shows it.
  static String number(String source) {
    try (VarHeap heap = new VarHeap()) {
      return NumericConversion.toText(NumericConversion.parse(source, heap));
    }
  }

  /// A string with quotes, escaped as PostgreSQL does.
  static String quoted(String value) {
    StringBuilder out = new StringBuilder(value.length() + 2).append('"');
    for (int i = 0; i < value.length(); i++) {
      if ((i & CHARACTERS_MASK) == CHARACTERS_MASK) {
        Interrupts.check();
      }
      char c = value.charAt(i);
      switch (c) {
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        default -> {
          if (c < ' ') {
            out.append(String.format("\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    return out.append('"').toString();
  }
}
