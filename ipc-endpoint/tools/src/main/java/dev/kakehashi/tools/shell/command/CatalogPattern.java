package dev.kakehashi.tools.shell.command;

import org.jspecify.annotations.Nullable;

/// A pattern of names as psql has it: `*` and `?`, `schema.name`, quotes; other letters are lower case.
///
/// @param schema as LIKE has it; null: none was said
/// @param name as LIKE has it; null: any
record CatalogPattern(@Nullable String schema, @Nullable String name) {

  static CatalogPattern of(@Nullable String word) {
    if (word == null) {
      return new CatalogPattern(null, null);
    }
    StringBuilder part = new StringBuilder();
    String schema = null;
    boolean quoted = false;
    for (int i = 0; i < word.length(); i++) {
      char c = word.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (quoted) {
        append(part, c);
      } else if (c == '.') {
        schema = part.toString();
        part.setLength(0);
      } else if (c == '*') {
        part.append('%');
      } else if (c == '?') {
        part.append('_');
      } else {
        append(part, Character.toLowerCase(c));
      }
    }
    return new CatalogPattern(schema, part.isEmpty() ? null : part.toString());
  }

  private static void append(StringBuilder part, char c) {
    if (c == '%' || c == '_' || c == '\\') {
      part.append('\\');
    }
    part.append(c);
  }

  /// A condition of SQL. Without a schema, those of the system are left out.
  String condition(String schemaColumn, String nameColumn) {
    StringBuilder text = new StringBuilder();
    if (schema == null) {
      text.append(schemaColumn).append(" NOT IN ('kakehashi_catalog', 'information_schema')");
    } else {
      text.append(schemaColumn).append(" LIKE ").append(literal(schema));
    }
    if (name != null) {
      text.append(" AND ").append(nameColumn).append(" LIKE ").append(literal(name));
    }
    return text.toString();
  }

  /// As [#condition], of names without schema.
  String condition(String nameColumn) {
    return name == null ? "true" : nameColumn + " LIKE " + literal(name);
  }

  static String literal(String text) {
    String quoted = "'" + text.replace("'", "''") + "'";
    return quoted.indexOf('\\') >= 0 ? "E" + quoted.replace("\\", "\\\\") : quoted;
  }
}
