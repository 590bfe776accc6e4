package dev.kakehashi.applications.define;

import dev.kakehashi.applications.Refusals;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// Paths of routes: `/`, then parts that are words or `{parameter}`.
final class RoutePath {
  private static final Pattern PATH =
      Pattern.compile("/|(/([A-Za-z0-9._~-]+|\\{[A-Za-z_][A-Za-z0-9_]*\\}))+");
  private static final int MAX_LENGTH = 1_000;

  private RoutePath() {}

  /// @param parameters of the route, among which those of the path have to be
  static void check(String place, String path, List<Field> parameters) {
    if (path.length() > MAX_LENGTH || !PATH.matcher(path).matches()) {
      throw Refusals.of(
          "%s: a path is / or parts that begin with /, each a word or {parameter}", place);
    }
    Set<String> seen = new HashSet<>();
    for (String part : path.substring(1).split("/", -1)) {
      if (!part.startsWith("{")) {
        continue;
      }
      String name = part.substring(1, part.length() - 1);
      if (!seen.add(name)) {
        throw Refusals.of("%s: {%s} stands there twice", place, name);
      }
      if (parameters.stream().noneMatch(field -> fits(field, name, parameters.size()))) {
        throw Refusals.of("%s: its argument has no component %s", place, name);
      }
    }
  }

  /// A class that is no record is one parameter, of any name.
  private static boolean fits(Field field, String name, int count) {
    return field.name().isEmpty()
        ? count == 1
        : field.name().equals(name)
            || field.name().equals(dev.kakehashi.applications.type.MemberName.ofComponent(name));
  }

  /// Whether two paths take the same requests: their words are equal, parameters stand at the same places.
  static boolean sameRequests(String one, String other) {
    return one.replaceAll("\\{[^}]*\\}", "{}").equals(other.replaceAll("\\{[^}]*\\}", "{}"));
  }
}
