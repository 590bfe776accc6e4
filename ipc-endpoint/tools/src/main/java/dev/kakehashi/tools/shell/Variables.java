package dev.kakehashi.tools.shell;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Variables of the shell, as psql has them: `:name`, `:'name'`, `:"name"`, `:{?name}`. Not thread-safe.
public final class Variables {
  private final Map<String, String> values = new TreeMap<>();

  /// A reference in a text.
  ///
  /// @param text what stands in its place
  /// @param end where the text goes on
  public record Reference(String text, int end) {}

  public void set(String name, String value) {
    values.put(name, value);
  }

  public void unset(String name) {
    values.remove(name);
  }

  public @Nullable String get(String name) {
    return values.get(name);
  }

  public Map<String, String> all() {
    return values;
  }

  /// Whether a variable says yes.
  public boolean isOn(String name) {
    String value = values.get(name);
    return value != null && isTrue(value, false);
  }

  /// Words of psql: `on`, `true`, `yes`, `1`, or the beginning of one.
  public static boolean isTrue(String value, boolean otherwise) {
    String word = value.toLowerCase(java.util.Locale.ROOT);
    if (word.isEmpty()) {
      return otherwise;
    }
    if ("true".startsWith(word)
        || "yes".startsWith(word)
        || word.equals("on")
        || word.equals("1")) {
      return true;
    }
    if ("false".startsWith(word)
        || "no".startsWith(word)
        || word.equals("of")
        || word.equals("off")
        || word.equals("0")) {
      return false;
    }
    return otherwise;
  }

  /// Whether a name can be a variable's.
  public static boolean isName(String name) {
    return !name.isEmpty() && name.chars().allMatch(Variables::isNamePart);
  }

  private static boolean isNamePart(int c) {
    return Character.isLetterOrDigit(c) || c == '_';
  }

  /// The reference that begins at a colon; null: there is none, or no such variable.
  @Nullable Reference reference(String line, int at) {
    int from = at + 1;
    if (from >= line.length()) {
      return null;
    }
    char c = line.charAt(from);
    if (line.startsWith("{?", from)) {
      int close = line.indexOf('}', from);
      String name = close < 0 ? "" : line.substring(from + 2, close);
      return isName(name)
          ? new Reference(values.containsKey(name) ? "TRUE" : "FALSE", close + 1)
          : null;
    }
    boolean quoted = c == '\'' || c == '"';
    int begin = quoted ? from + 1 : from;
    int end = begin;
    while (end < line.length() && isNamePart(line.charAt(end))) {
      end++;
    }
    String value = values.get(line.substring(begin, end));
    if (value == null || (quoted && (end >= line.length() || line.charAt(end) != c))) {
      return null;
    }
    return new Reference(quoted ? quoted(value, c) : value, quoted ? end + 1 : end);
  }

  /// As a literal or an identifier of SQL.
  public static String quoted(String value, char quote) {
    String text = quote + value.replace("" + quote, "" + quote + quote) + quote;
    return quote == '\'' && value.indexOf('\\') >= 0 ? " E" + text.replace("\\", "\\\\") : text;
  }
}
