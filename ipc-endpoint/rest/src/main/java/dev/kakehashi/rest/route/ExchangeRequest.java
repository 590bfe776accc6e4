package dev.kakehashi.rest.route;

import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.header.Prefer;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/// Request of a client: where, who, how, and the body.
///
/// One thread at a time.
public final class ExchangeRequest {
  private static final byte[] EMPTY = {};

  private final Request request;
  private final Route route;
  private final String[] variables;
  private final QueryParameters parameters;
  private final Users.@Nullable Known user;
  private final BodyLimits bodyLimits;
  private final boolean hasBody;
  private @Nullable BodyInput input;

  /// @param user null: of a route for everybody
  /// @throws Problem 400: a query parameter is unknown, comes twice or is no text; 413, 415
  ExchangeRequest(
      Request request, Routes.Found found, Users.@Nullable Known user, BodyLimits bodyLimits) {
    this.request = request;
    this.route = found.route();
    this.variables = found.variables();
    this.user = user;
    this.bodyLimits = bodyLimits;
    this.parameters = QueryParameters.parse(request.getHttpURI().getQuery(), route.parameters());
    this.hasBody = BodyChecks.check(request, route);
  }

  public Route route() {
    return route;
  }

  public String method() {
    return request.getMethod();
  }

  /// Whether the answer's body is left out: a handler may spare making it, if it sends the same headers.
  public boolean isHead() {
    return request.getMethod().equals("HEAD");
  }

  /// The path as it was sent.
  public String path() {
    return String.valueOf(request.getHttpURI().getPath());
  }

  /// The path and the query as they were sent.
  public String target() {
    return request.getHttpURI().getPathQuery();
  }

  /// User who asks.
  ///
  /// @throws IllegalStateException the route is for everybody
  public RequestUser user() {
    return known().user();
  }

  /// User who asks, and since when he may.
  ///
  /// @throws IllegalStateException the route is for everybody
  public Users.Known known() {
    if (user == null) {
      throw new IllegalStateException("nobody is known on " + route);
    }
    return user;
  }

  /// The value of a variable of the route's path.
  public String variable(String name) {
    return variables[route.path().variables().indexOf(name)];
  }

  /// The value of a variable of the kind `int`, from 0 to 999,999,999.
  public int intVariable(String name) {
    return Integer.parseInt(variable(name));
  }

  /// A query parameter; null: it was not given.
  public @Nullable String parameter(String name) {
    if (!route.parameters().contains(name)) {
      throw new IllegalArgumentException(route + " does not know the parameter " + name);
    }
    return parameters.get(name);
  }

  /// A query parameter that is a number.
  ///
  /// @throws Problem 400: it is none, or beyond the bounds
  public long parameter(String name, long byDefault, long min, long max) {
    @Nullable String text = parameter(name);
    if (text == null) {
      return byDefault;
    }
    if (!text.isEmpty()
        && text.length() <= 18
        && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
      long value = Long.parseLong(text);
      if (value >= min && value <= max) {
        return value;
      }
    }
    throw Problem.badRequest(
        "query parameter \"" + name + "\" must be a whole number from " + min + " to " + max);
  }

  /// A query parameter that is `true` or `false`.
  ///
  /// @throws Problem 400: it is something else
  public boolean parameter(String name, boolean byDefault) {
    @Nullable String text = parameter(name);
    return switch (text == null ? String.valueOf(byDefault) : text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw Problem.badRequest("query parameter \"" + name + "\" must be true or false");
    };
  }

  /// A field of the request's header; several of one name are joined by commas, as HTTP has it. Null: there is none.
  public @Nullable String header(String name) {
    @Nullable String joined = null;
    for (HttpField field : request.getHeaders()) {
      if (field.getName().equalsIgnoreCase(name)) {
        String value = field.getValue() == null ? "" : field.getValue();
        joined = joined == null ? value : joined + ", " + value;
      }
    }
    return joined;
  }

  /// In which transaction the client wants it to run.
  ///
  /// @throws Problem 400: the field is broken
  public TransactionHeader transaction() {
    return TransactionHeader.parse(header(TransactionHeader.NAME));
  }

  /// How the client would like to be answered.
  public Prefer prefer() {
    return Prefer.parse(header("Prefer"));
  }

  /// The media type of the request's body, in small letters and without parameters; empty: it has no body.
  public String contentType() {
    return BodyChecks.mediaType(request);
  }

  /// Bytes that the client has announced; -1: he has not.
  public long contentLength() {
    return request.getLength();
  }

  /// The request's body, not longer than the route allows. Reads block and throw a [Problem] for a body that ends early, is too long or too
  /// slow. The exchange closes it.
  public InputStream body() {
    if (input == null) {
      input = new BodyInput(request, gauge());
    }
    return input;
  }

  /// The whole body. For routes with a limit that fits into memory.
  ///
  /// @throws Problem as reads of [#body]
  public byte[] bodyBytes() throws IOException {
    return request.getLength() == 0 ? EMPTY : body().readAllBytes();
  }

  /// The fields of a body of the type `application/x-www-form-urlencoded`.
  ///
  /// @param names that it may have, each once
  /// @throws Problem 400: another one, one that comes twice, or what is no UTF-8; as reads of [#body]
  public Map<String, String> form(Set<String> names) throws IOException {
    return QueryParameters.parse(new String(bodyBytes(), StandardCharsets.UTF_8), names).all();
  }

  /// The IP address of who has connected; empty: not by TCP.
  public String clientAddress() {
    return request.getConnectionMetaData().getRemoteSocketAddress() instanceof InetSocketAddress tcp
        ? tcp.getAddress().getHostAddress()
        : "";
  }

  /// Whether the connection is TLS.
  public boolean isSecure() {
    return request.getConnectionMetaData().isSecure();
  }

  /// Whether the client understands an answer of unknown length.
  boolean isHttp11() {
    return request.getConnectionMetaData().getHttpVersion().getVersion()
        >= HttpVersion.HTTP_1_1.getVersion();
  }

  /// Whether the connection has one request at a time, as text.
  boolean isHttp1() {
    return request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_1;
  }

  /// Collects the whole body without blocking, for who does not read [#body].
  void collect(BodyCollector.Receiver receiver) {
    new BodyCollector(request, gauge(), request.getLength(), receiver).run();
  }

  private BodyGauge gauge() {
    return new BodyGauge(route, hasBody, bodyLimits);
  }

  /// Nobody reads the body any more.
  void closeBody() {
    if (input != null) {
      input.close();
    }
  }
}
