package dev.kakehashi.rest.route;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// One method of one path, what it takes, and who answers it. Immutable.
///
/// A path is a template: `/v1/jobs/{token:token}/files/{n:int}`. See [PathTemplate] for the kinds of variables.
public final class Route {
  /// Long enough for a statement of 1 MB as a JSON string.
  public static final long DEFAULT_MAX_BODY = 8L << 20;

  private final String method;
  private final PathTemplate path;
  private final Set<String> parameters;
  private final List<String> accepts;
  private final List<String> codings;
  private final long maxBody;
  private final boolean anonymous;
  private final boolean readsBody;
  private final @Nullable Handler handler;
  private final @Nullable DirectHandler directHandler;

  private Route(Route route, String prefix) {
    this.method = route.method;
    this.path = PathTemplate.parse(prefix + route.path);
    this.parameters = route.parameters;
    this.accepts = route.accepts;
    this.codings = route.codings;
    this.maxBody = route.maxBody;
    this.anonymous = route.anonymous;
    this.readsBody = route.readsBody;
    this.handler = route.handler;
    this.directHandler = route.directHandler;
  }

  private Route(Route route, Runnable check) {
    this.method = route.method;
    this.path = route.path;
    this.parameters = route.parameters;
    this.accepts = route.accepts;
    this.codings = route.codings;
    this.maxBody = route.maxBody;
    this.anonymous = route.anonymous;
    this.readsBody = route.readsBody;
    Handler behind = route.handler;
    this.handler =
        behind == null
            ? null
            : exchange -> {
              check.run();
              behind.handle(exchange);
            };
    DirectHandler directlyBehind = route.directHandler;
    this.directHandler =
        directlyBehind == null
            ? null
            : (exchange, body) -> {
              check.run();
              directlyBehind.handle(exchange, body);
            };
  }

  private Route(Builder builder, @Nullable Handler handler, @Nullable DirectHandler directHandler) {
    this.method = builder.method;
    this.path = PathTemplate.parse(builder.template);
    this.parameters = Set.copyOf(builder.parameters);
    this.accepts = List.copyOf(builder.accepts);
    this.codings = List.copyOf(builder.codings);
    this.maxBody = builder.maxBody;
    this.anonymous = builder.anonymous;
    this.readsBody = builder.readsBody;
    this.handler = handler;
    this.directHandler = directHandler;
  }

  /// A route that has no body. HEAD is answered by the same handler.
  public static Builder get(String template) {
    return new Builder("GET", template);
  }

  /// A route that takes no body unless [Builder#accepts] names what it takes.
  public static Builder post(String template) {
    return new Builder("POST", template);
  }

  public static Builder delete(String template) {
    return new Builder("DELETE", template);
  }

  /// Another method, in capital letters.
  public static Builder of(String method, String template) {
    return new Builder(method, template);
  }

  /// The same below another path.
  Route below(String prefix) {
    return new Route(this, prefix);
  }

  /// The same, where each request is looked at first.
  ///
  /// @param check throws what the request is answered with instead; must not block
  public Route checked(Runnable check) {
    return new Route(this, check);
  }

  public String method() {
    return method;
  }

  public PathTemplate path() {
    return path;
  }

  /// Names of the query parameters that it knows.
  public Set<String> parameters() {
    return parameters;
  }

  /// Media types of bodies, as `application/json`; empty: it takes no body.
  public List<String> accepts() {
    return accepts;
  }

  /// Content codings of bodies besides `identity`, which the handler undoes.
  public List<String> codings() {
    return codings;
  }

  /// Bytes of a body as they are sent.
  public long maxBody() {
    return maxBody;
  }

  /// Whether it is for everybody who reaches the listener.
  public boolean isAnonymous() {
    return anonymous;
  }

  /// Whether the handler reads the body as it comes, see [Builder#handleBody].
  public boolean readsBody() {
    return readsBody;
  }

  /// Null: [#directHandler] answers.
  public @Nullable Handler handler() {
    return handler;
  }

  /// Null: [#handler] answers.
  public @Nullable DirectHandler directHandler() {
    return directHandler;
  }

  @Override
  public String toString() {
    return method + " " + path;
  }

  /// Gathers what a route takes. Not thread-safe.
  public static final class Builder {
    private final String method;
    private final String template;
    private final Set<String> parameters = new TreeSet<>();
    private final List<String> accepts = new ArrayList<>();
    private final List<String> codings = new ArrayList<>();
    private long maxBody = DEFAULT_MAX_BODY;
    private boolean anonymous;
    private boolean readsBody;

    private Builder(String method, String template) {
      this.method = method;
      this.template = template;
    }

    /// Query parameters; any other is refused.
    public Builder parameters(String... names) {
      parameters.addAll(List.of(names));
      return this;
    }

    /// Media types of the body in small letters, without parameters; any other is 415.
    public Builder accepts(String... mediaTypes) {
      accepts.addAll(List.of(mediaTypes));
      return this;
    }

    /// Content codings of the body in small letters, which the handler undoes; any other but `identity` is 415.
    public Builder codings(String... names) {
      codings.addAll(List.of(names));
      return this;
    }

    /// @param bytes beyond which a body is 413; Long.MAX_VALUE: only the handler's own limits hold
    public Builder maxBody(long bytes) {
      this.maxBody = bytes;
      return this;
    }

    /// For everybody who reaches the listener.
    public Builder anonymous() {
      this.anonymous = true;
      return this;
    }

    public Route handle(Handler handler) {
      return new Route(this, handler, null);
    }

    /// For bodies that may be long: the handler reads [ExchangeRequest#body] as it comes, on a virtual thread, and answers at once or
    /// later.
    public Route handleBody(Handler handler) {
      this.readsBody = true;
      return new Route(this, handler, null);
    }

    public Route handleDirectly(DirectHandler handler) {
      return new Route(this, null, handler);
    }
  }
}
