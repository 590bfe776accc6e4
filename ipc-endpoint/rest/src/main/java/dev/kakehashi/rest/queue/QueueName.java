package dev.kakehashi.rest.queue;

import dev.kakehashi.rest.problem.Problem;
import java.util.regex.Pattern;

/// A queue as a path names it: `queue`, or `schema.queue`, as the catalogue spells them. Immutable.
///
/// @param schema empty: the search path finds it
record QueueName(String schema, String name) {
  private static final Pattern PLAIN = Pattern.compile("[a-z_][a-z0-9_]*");

  /// @throws Problem 400
  static QueueName parse(String text) {
    int dot = text.indexOf('.');
    String schema = dot < 0 ? "" : text.substring(0, dot);
    String name = text.substring(dot + 1);
    if ((dot >= 0 && schema.isEmpty()) || name.isEmpty()) {
      throw Problem.badRequest("\"" + text + "\" is no queue: write queue or schema.queue");
    }
    return new QueueName(schema, name);
  }

  /// As the engine's functions take it.
  String sql() {
    return schema.isEmpty() ? quoted(name) : quoted(schema) + "." + quoted(name);
  }

  private static String quoted(String name) {
    return PLAIN.matcher(name).matches() ? name : "\"" + name.replace("\"", "\"\"") + "\"";
  }

  /// The schema to look for in the catalogue.
  String schemaOrPublic() {
    return schema.isEmpty() ? "public" : schema;
  }

  /// 404.
  Problem missing() {
    return Problem.notFound("queue \"" + schemaOrPublic() + "." + name + "\" does not exist");
  }
}
