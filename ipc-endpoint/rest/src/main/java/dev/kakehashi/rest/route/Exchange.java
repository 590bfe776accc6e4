package dev.kakehashi.rest.route;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.header.Prefer;
import dev.kakehashi.rest.header.TransactionAnswer;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.problem.Problems;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One request of a route and its answer.
///
/// Target, user and content type are checked before a handler sees it. The answer is sent whole by [#send], or as a stream that either ends well or breaks the framing, so that no client
/// takes a part for the whole.
///
/// One thread at a time. [#abort], [#fail] and the listeners of [#onFailure] may come from any thread.
public final class Exchange {
  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);
  private static final byte[] EMPTY = {};

  /// Fields that describe a body.
  private static final List<HttpHeader> ENTITY =
      List.of(
          HttpHeader.CONTENT_TYPE,
          HttpHeader.CONTENT_LENGTH,
          HttpHeader.CONTENT_ENCODING,
          HttpHeader.CONTENT_RANGE,
          HttpHeader.CONTENT_LOCATION,
          HttpHeader.ETAG,
          HttpHeader.LAST_MODIFIED,
          HttpHeader.ACCEPT_RANGES,
          HttpHeader.CACHE_CONTROL,
          HttpHeader.LOCATION);

  private final Request request;
  private final Response response;
  private final Callback callback;
  private final Route route;
  private final String[] variables;
  private final QueryParameters parameters;
  private final Users.@Nullable Known user;
  private final BodyLimits bodyLimits;
  private final ClientWatch clients;
  private final boolean hasBody;

  /// Set by who ends the exchange; nobody answers after him.
  private final AtomicBoolean isEnded = new AtomicBoolean();

  private @Nullable ExchangeOutput output;
  private @Nullable BodyInput input;

  /// @param callback completed when the exchange has ended, exactly once
  /// @param user null: of a route for everybody
  /// @throws Problem 400: a query parameter is unknown, comes twice or is no text; 413, 415
  public Exchange(
      Request request,
      Response response,
      Callback callback,
      Routes.Found found,
      Users.@Nullable Known user,
      BodyLimits bodyLimits,
      ClientWatch clients) {
    this.request = request;
    this.response = response;
    this.callback = callback;
    this.route = found.route();
    this.variables = found.variables();
    this.user = user;
    this.bodyLimits = bodyLimits;
    this.clients = clients;
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

  /// Who asks.
  ///
  /// @throws IllegalStateException the route is for everybody
  public RequestUser user() {
    return known().user();
  }

  /// Who asks, and since when he may.
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

  /// Says how a transaction stands. A failure that is answered later keeps it; the last one counts.
  public Exchange answerTransaction(TransactionAnswer answer) {
    response.getHeaders().put(TransactionHeader.NAME, answer.field());
    return this;
  }

  /// The media type of the request's body, in small letters and without parameters; empty: it has no body.
  public String contentType() {
    return BodyChecks.mediaType(request);
  }

  /// Bytes that the client has announced; -1: he has not.
  public long contentLength() {
    return request.getLength();
  }

  /// The request's body, not longer than the route allows. Reads block and throw a [Problem] for a body that ends early, is too long or too slow. The exchange closes it.
  public InputStream body() {
    if (input == null) {
      input = new BodyInput(request, new BodyGauge(route, hasBody, bodyLimits));
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

  /// Reads the body and calls a direct handler, without blocking.
  public void start(DirectHandler handler) {
    new BodyCollector(
            request,
            new BodyGauge(route, hasBody, bodyLimits),
            request.getLength(),
            new BodyCollector.Receiver() {
              @Override
              public void received(byte[] body) {
                try {
                  handler.handle(Exchange.this, body);
                } catch (Throwable e) {
                  fail(e);
                }
              }

              @Override
              public void failed(Throwable failure) {
                fail(failure);
              }
            })
        .run();
  }

  /// Goes on with this exchange on a virtual thread, which may block. For direct handlers that have read the body and not answered.
  public void block(Handler handler) {
    // A request that waits for its handler is not idle.
    waits();
    Thread.ofVirtual().name("http").start(() -> run(handler));
  }

  /// A direct handler answers later: until then the connection is not idle as long as its client is there.
  public void waits() {
    request.addIdleTimeoutListener(timeout -> ClientPresence.isGone(request));
  }

  /// Work for this request runs, however long: until the answer the connection is not idle, and a client who goes is noticed within some seconds.
  ///
  /// @param gone called once if he goes; must not block
  public void watch(Runnable gone) {
    waits();
    onEnd(clients.add(request, gone));
  }

  /// Calls a handler on a virtual thread that reads the body as it comes. It may answer later: then whatever it throws is the answer, and otherwise callbacks answer.
  public void read(Handler handler) {
    Thread.ofVirtual()
        .name("http-body")
        .start(() -> {
          try {
            handler.handle(this);
          } catch (Throwable e) {
            fail(e);
          }
        });
  }

  private void run(Handler handler) {
    try {
      handler.handle(this);
      if (output != null && !output.isFinished()) {
        throw new IllegalStateException("the answer was not finished by " + route);
      }
      end();
    } catch (Throwable e) {
      fail(e);
    }
  }

  private void end() {
    if (output == null) {
      if (!isEnded.get()) {
        throw new IllegalStateException("no answer by " + route);
      }
    } else if (isEnded.compareAndSet(false, true)) {
      close();
      callback.succeeded();
    }
  }

  /// Adds a field to the answer's header.
  public Exchange answerHeader(String name, String value) {
    response.getHeaders().add(name, value);
    return this;
  }

  /// Adds a field that was made beforehand.
  public Exchange answerHeader(HttpField field) {
    response.getHeaders().add(field);
    return this;
  }

  /// Whether the client may have got a part of the answer.
  public boolean isCommitted() {
    return response.isCommitted();
  }

  /// Sends an answer without a body and ends the exchange.
  public void send(int status) {
    if (status != 204 && status != 304) {
      response.getHeaders().put(HttpHeader.CONTENT_LENGTH, 0);
    }
    send(status, ByteBuffer.allocate(0));
  }

  /// Sends a whole answer and ends the exchange. It does not block.
  public void send(int status, ContentType type, byte[] body) {
    send(status, type, ByteBuffer.wrap(body));
  }

  /// As [#send(int, ContentType, byte[])].
  ///
  /// @param body must stay as it is until the exchange has ended, see the callback of [#onEnd]
  public void send(int status, ContentType type, ByteBuffer body) {
    response.getHeaders().put(type.field());
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.remaining());
    send(status, body);
  }

  private void send(int status, ByteBuffer body) {
    if (!isEnded.compareAndSet(false, true)) {
      throw new IllegalStateException("two answers by " + route);
    }
    close();
    response.setStatus(status);
    response.write(true, isHead() ? ByteBuffer.allocate(0) : body, callback);
  }

  /// Says that fields will follow the body of a stream, see [ExchangeOutput#trailer].
  public Exchange announceTrailers(String... names) {
    response.getHeaders().add("Trailer", String.join(", ", names));
    return this;
  }

  /// Begins an answer of unknown length. [ExchangeOutput#finish] ends it well; else it is broken when the handler returns.
  ///
  /// @throws Problem 505: a client of HTTP/1.0 could not tell a part from the whole
  public ExchangeOutput stream(int status, ContentType type) {
    if (request.getConnectionMetaData().getHttpVersion().getVersion()
        < HttpVersion.HTTP_1_1.getVersion()) {
      throw Problem.of(505, "http-version", "HTTP version", "HTTP/1.0 cannot carry this answer");
    }
    return begin(status, type, true);
  }

  /// Begins an answer of known length. Fewer bytes break it.
  public ExchangeOutput stream(int status, ContentType type, long length) {
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, length);
    return begin(status, type, false);
  }

  private ExchangeOutput begin(int status, ContentType type, boolean hasTrailers) {
    if (output != null || isEnded.get()) {
      throw new IllegalStateException("two answers by " + route);
    }
    response.getHeaders().put(type.field());
    response.setStatus(status);
    output = new ExchangeOutput(response, hasTrailers);
    return output;
  }

  /// Called when the client has gone or stopped, if that is noticed before the answer is complete. Must not block.
  public void onFailure(Runnable listener) {
    request.addFailureListener(failure -> listener.run());
  }

  /// Whether the client has gone by now: he has closed the connection, or his side of it. A system call.
  public boolean isClientGone() {
    return ClientPresence.isGone(request);
  }

  /// Called once if the exchange ends and its answer has not been written whole. Must not block.
  public void onBroken(Runnable listener) {
    Request.addCompletionListener(
        request,
        failure -> {
          if (failure != null) {
            listener.run();
          }
        });
  }

  /// Called once when the exchange has ended, however. Must not block.
  public void onEnd(Runnable listener) {
    Request.addCompletionListener(request, failure -> listener.run());
  }

  /// Answers with a failure, or breaks the answer that has begun. Without effect on an exchange that has ended.
  public void fail(Throwable failure) {
    if (!isEnded.compareAndSet(false, true)) {
      return;
    }
    close();
    if (response.isCommitted()) {
      log(failure);
      callback.failed(failure);
    } else {
      removeEntity(response);
      ProblemAnswer.send(response, callback, Problems.of(failure));
    }
  }

  private void log(Throwable failure) {
    switch (failure) {
      // The client has gone.
      case IOException gone -> LOG.debug("an answer of {} breaks off", route, gone);
      case Problem problem -> LOG.warn("an answer of {} breaks off: {}", route, problem.detail());
      case EngineException engine ->
          LOG.warn("an answer of {} breaks off: {}", route, engine.getMessage());
      default -> LOG.error("an answer of {} breaks off", route, failure);
    }
  }

  /// Removes what belonged to the answer that will not be sent. What the door has added and how the transaction stands remain.
  private static void removeEntity(Response response) {
    for (HttpHeader header : ENTITY) {
      response.getHeaders().remove(header);
    }
  }

  /// Breaks the framing: the client sees that the answer is not whole.
  public void abort(Throwable failure) {
    if (isEnded.compareAndSet(false, true)) {
      callback.failed(failure);
    }
  }

  private void close() {
    if (input != null) {
      input.close();
    }
  }
}
