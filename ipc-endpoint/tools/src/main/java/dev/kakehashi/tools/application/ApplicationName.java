package dev.kakehashi.tools.application;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A name of an application or procedure as the command line has it, written as SQL does.
///
/// @param text for statements
/// @param schema as the catalogue has it; `public` without one
/// @param name as the catalogue has it
record ApplicationName(String text, String schema, String name) {
  private static final String PART = "[A-Za-z_][A-Za-z0-9_$]*|\"(?:[^\"]|\"\")+\"";
  private static final Pattern NAME = Pattern.compile("(?:(" + PART + ")\\.)?(" + PART + ")");

  /// @throws IllegalArgumentException it is no name, perhaps with a schema
  static ApplicationName parse(String text) {
    Matcher matcher = NAME.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("\"" + text + "\" is not a name: [schema.]name");
    }
    @Nullable String schema = matcher.group(1);
    return new ApplicationName(
        text, schema == null ? "public" : plain(schema), plain(matcher.group(2)));
  }

  private static String plain(String part) {
    return part.startsWith("\"")
        ? part.substring(1, part.length() - 1).replace("\"\"", "\"")
        : part.toLowerCase(java.util.Locale.ROOT);
  }

  /// The name that a file's name suggests: `shop-1.2.jar` is `shop`.
  static ApplicationName ofFile(String file) {
    Matcher matcher = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*).*").matcher(file);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "no application can be called after \"" + file + "\"; give it a name by --name");
    }
    return parse(matcher.group(1));
  }
}
