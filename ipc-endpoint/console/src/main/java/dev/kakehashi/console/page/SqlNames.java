package dev.kakehashi.console.page;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/// Names in statements and addresses. Stateless.
final class SqlNames {
  private SqlNames() {}

  /// A name in quotes, which is itself whatever it has.
  static String quoted(String name) {
    return "\"" + name.replace("\"", "\"\"") + "\"";
  }

  static String quoted(String schema, String name) {
    return quoted(schema) + "." + quoted(name);
  }

  /// A text as a constant.
  static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  /// As it is shown.
  static String shown(String schema, String name) {
    return schema.equals("public") ? name : schema + "." + name;
  }

  /// An address with parameters.
  ///
  /// @param pairs names and values in turn
  static String address(String path, String... pairs) {
    StringBuilder address = new StringBuilder(path);
    for (int i = 0; i < pairs.length; i += 2) {
      address
          .append(i == 0 ? '?' : '&')
          .append(pairs[i])
          .append('=')
          .append(URLEncoder.encode(pairs[i + 1], StandardCharsets.UTF_8));
    }
    return address.toString();
  }
}
