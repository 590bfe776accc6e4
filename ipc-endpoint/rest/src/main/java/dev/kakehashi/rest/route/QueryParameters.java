package dev.kakehashi.rest.route;

import dev.kakehashi.rest.problem.Problem;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parameters of a query string, all of them known to the route and each there once. Immutable.
final class QueryParameters {
  private static final QueryParameters NONE = new QueryParameters(Map.of());

  private final Map<String, String> values;

  private QueryParameters(Map<String, String> values) {
    this.values = values;
  }

  /// @param query as it was sent; null: none
  /// @throws Problem 400: a parameter is unknown, comes twice or is no text
  static QueryParameters parse(@Nullable String query, Set<String> known) {
    if (query == null || query.isEmpty()) {
      return NONE;
    }
    Map<String, String> values = new LinkedHashMap<>();
    int at = 0;
    // At most as many as the route knows, and one more that is refused: no limit of their number is
    // needed.
    while (at <= query.length()) {
      int end = query.indexOf('&', at);
      end = end < 0 ? query.length() : end;
      if (end > at) {
        add(values, query.substring(at, end), known);
      }
      at = end + 1;
    }
    return new QueryParameters(values);
  }

  private static void add(Map<String, String> values, String pair, Set<String> known) {
    int equals = pair.indexOf('=');
    String name = PercentText.decode(equals < 0 ? pair : pair.substring(0, equals), true);
    if (!known.contains(name)) {
      throw Problem.unknownName("query parameter", name, known);
    }
    String value = equals < 0 ? "" : PercentText.decode(pair.substring(equals + 1), true);
    if (values.put(name, value) != null) {
      throw Problem.badRequest("query parameter \"" + name + "\" comes twice");
    }
  }

  @Nullable String get(String name) {
    return values.get(name);
  }

  /// All parameters that were given.
  Map<String, String> all() {
    return Map.copyOf(values);
  }
}
