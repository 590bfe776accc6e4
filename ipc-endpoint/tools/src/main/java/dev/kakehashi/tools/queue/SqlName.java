package dev.kakehashi.tools.queue;

import java.util.regex.Pattern;

/// A name in a statement's text.
final class SqlName {
  private static final String PART = "(?:[A-Za-z_][A-Za-z0-9_$]*|\"(?:[^\"]|\"\")+\")";
  private static final Pattern NAME = Pattern.compile(PART + "(?:\\." + PART + ")?");

  private SqlName() {}

  /// @throws IllegalArgumentException it is no name, perhaps with a schema
  static String check(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("\"" + name + "\" is not the name of a queue");
    }
    return name;
  }
}
