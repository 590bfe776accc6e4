package dev.kakehashi.rest.route;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// All routes of a door. Built before it starts; immutable then.
public final class Routes {
  private final List<Route> all;
  private final Node root;

  /// Methods by path, for paths without variables: most requests end here.
  private final Map<String, Methods> fixed;

  /// Routes of the paths below [#CHANGING] that are none of these.
  private final @Nullable ChangingRoutes changing;

  private static final String CHANGING = "/v1/apps/";

  private Routes(
      List<Route> all, Node root, Map<String, Methods> fixed, @Nullable ChangingRoutes changing) {
    this.all = all;
    this.root = root;
    this.fixed = fixed;
    this.changing = changing;
  }

  public static Builder builder() {
    return new Builder();
  }

  /// In the order in which they were added.
  public List<Route> all() {
    return all;
  }

  /// Match of a request.
  public sealed interface Match {}

  /// @param variables values of the template's variables, decoded, in the order of the path
  public record Found(Route route, String[] variables) implements Match {}

  /// @param allow methods that the path has, as the header field `Allow` lists them
  public record OtherMethods(String allow) implements Match {}

  /// No such path.
  public record NoPath() implements Match {}

  private static final NoPath NO_PATH = new NoPath();
  private static final String[] NO_VARIABLES = {};

  /// @param path as it was sent, with its escapes
  /// @throws dev.kakehashi.rest.problem.Problem 400: an escape is broken
  public Match match(String method, String path) {
    Methods methods = fixed.get(path);
    if (methods != null) {
      return match(methods, method, NO_VARIABLES);
    }
    if (!path.startsWith("/")) {
      return NO_PATH;
    }
    String[] segments = path.substring(1).split("/", -1);
    for (int i = 0; i < segments.length; i++) {
      segments[i] = PercentText.decode(segments[i], false);
    }
    List<String> variables = new ArrayList<>(2);
    methods = root.find(segments, 0, variables);
    if (methods != null) {
      return match(methods, method, variables.toArray(NO_VARIABLES));
    }
    return changing != null && path.startsWith(CHANGING)
        ? changing.now().match(method, path)
        : NO_PATH;
  }

  private static Match match(Methods methods, String method, String[] variables) {
    Route route = methods.find(method);
    return route == null ? new OtherMethods(methods.allow()) : new Found(route, variables);
  }

  /// The routes of one path.
  private static final class Methods {
    private final Map<String, Route> byMethod = new TreeMap<>();
    private String allow = "OPTIONS";

    @Nullable Route find(String method) {
      Route route = byMethod.get(method);
      return route == null && method.equals("HEAD") ? byMethod.get("GET") : route;
    }

    String allow() {
      return allow;
    }

    void add(Route route) {
      if (byMethod.put(route.method(), route) != null) {
        throw new IllegalArgumentException("two routes for " + route);
      }
      List<String> names = new ArrayList<>(byMethod.keySet());
      if (byMethod.containsKey("GET") && !byMethod.containsKey("HEAD")) {
        names.add("HEAD");
      }
      names.add("OPTIONS");
      allow = String.join(", ", names);
    }
  }

  /// Variables of one kind with the same text behind them. The longer text goes first.
  private record VariableKind(String suffix, PathTemplate.Kind kind)
      implements Comparable<VariableKind> {
    private static final Comparator<VariableKind> ORDER =
        Comparator.<VariableKind>comparingInt(each -> -each.suffix.length())
            .thenComparing(VariableKind::suffix)
            .thenComparing(VariableKind::kind);

    @Override
    public int compareTo(VariableKind other) {
      return ORDER.compare(this, other);
    }
  }

  /// One segment of the paths.
  private static final class Node {
    private final Map<String, Node> texts = new HashMap<>();
    private final Map<VariableKind, Node> variables = new TreeMap<>();
    private PathTemplate.@Nullable Segment variable;
    private @Nullable Methods methods;

    /// A text goes before a variable that would take it, too.
    @Nullable Methods find(String[] segments, int depth, List<String> values) {
      if (depth == segments.length) {
        return methods;
      }
      Node next = texts.get(segments[depth]);
      Methods found = next == null ? null : next.find(segments, depth + 1, values);
      if (found != null) {
        return found;
      }
      for (Node candidate : variables.values()) {
        String value = candidate.variable == null ? null : candidate.variable.take(segments[depth]);
        if (value != null) {
          values.add(value);
          found = candidate.find(segments, depth + 1, values);
          if (found != null) {
            return found;
          }
          values.removeLast();
        }
      }
      return null;
    }
  }

  /// Gathers routes. Not thread-safe.
  public static final class Builder {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,62}");

    private final Set<String> applications = new HashSet<>();
    private final List<Route> all = new ArrayList<>();
    private final Node root = new Node();
    private final Map<String, Methods> fixed = new HashMap<>();
    private @Nullable ChangingRoutes changing;

    private Builder() {}

    /// @throws IllegalArgumentException the method of the path has a route already
    public Builder add(Route route) {
      Node node = root;
      for (PathTemplate.Segment segment : route.path().segments()) {
        if (segment.isVariable()) {
          node =
              node.variables.computeIfAbsent(
                  new VariableKind(segment.text(), segment.kind()), kind -> new Node());
          node.variable = segment;
        } else {
          node = node.texts.computeIfAbsent(segment.text(), text -> new Node());
        }
      }
      if (node.methods == null) {
        node.methods = new Methods();
      }
      node.methods.add(route);
      if (route.path().variables().isEmpty()) {
        fixed.put(route.path().toString(), node.methods);
      }
      all.add(route);
      return this;
    }

    public Builder addAll(Collection<Route> routes) {
      routes.forEach(this::add);
      return this;
    }

    /// @throws IllegalArgumentException its name is none, or it was added before
    public Builder add(RestApplication application) {
      String name = application.name();
      if (!NAME.matcher(name).matches() || !applications.add(name)) {
        throw new IllegalArgumentException("no name for an application, or taken: " + name);
      }
      application.routes().forEach(route -> add(route.below("/v1/apps/" + name)));
      return this;
    }

    /// Routes of paths below `/v1/apps/` that come and go.
    public Builder changing(ChangingRoutes routes) {
      changing = routes;
      return this;
    }

    public Routes build() {
      return new Routes(List.copyOf(all), root, Map.copyOf(fixed), changing);
    }
  }
}
