package dev.kakehashi.rest.route;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.rest.header.TransactionAnswer;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.problem.Problems;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The one answer to a request: fields of its header first, then it is sent whole by [#send], or as a stream that either ends well or
/// breaks the framing, so that no client takes a part for the whole.
///
/// One thread at a time. [#fail] and [#abort] may come from any thread.
public final class ExchangeAnswer {
  private static final Logger LOG = LoggerFactory.getLogger(ExchangeAnswer.class);

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

  private final ExchangeRequest request;
  private final Response response;
  private final Callback callback;

  /// Set by who ends the exchange; nobody answers after him.
  private final AtomicBoolean isEnded = new AtomicBoolean();

  private @Nullable ExchangeOutput output;

  /// @param callback completed when the exchange has ended, exactly once
  ExchangeAnswer(ExchangeRequest request, Response response, Callback callback) {
    this.request = request;
    this.response = response;
    this.callback = callback;
  }

  /// Says how a transaction stands. A failure that is answered later keeps it; the last one counts.
  public ExchangeAnswer transaction(TransactionAnswer answer) {
    response.getHeaders().put(TransactionHeader.NAME, answer.field());
    return this;
  }

  /// Adds a field to the answer's header.
  public ExchangeAnswer header(String name, String value) {
    response.getHeaders().add(name, value);
    return this;
  }

  /// Adds a field that was made beforehand.
  public ExchangeAnswer header(HttpField field) {
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
  /// @param body must stay as it is until the exchange has ended, see the callback of [Exchange#onEnd]
  public void send(int status, ContentType type, ByteBuffer body) {
    response.getHeaders().put(type.field());
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.remaining());
    send(status, body);
  }

  /// Ends the exchange with the change to another protocol.
  void upgrade(String protocol) {
    if (!isEnded.compareAndSet(false, true)) {
      throw new IllegalStateException("two answers by " + request.route());
    }
    request.closeBody();
    response.getHeaders().put(HttpHeader.UPGRADE, protocol);
    response.getHeaders().put(HttpHeader.CONNECTION, "Upgrade");
    response.setStatus(101);
    response.write(true, ByteBuffer.allocate(0), callback);
  }

  private void send(int status, ByteBuffer body) {
    if (!isEnded.compareAndSet(false, true)) {
      throw new IllegalStateException("two answers by " + request.route());
    }
    request.closeBody();
    response.setStatus(status);
    response.write(true, request.isHead() ? ByteBuffer.allocate(0) : body, callback);
  }

  /// Says that fields will follow the body of a stream, see [ExchangeOutput#trailer].
  public ExchangeAnswer announceTrailers(String... names) {
    response.getHeaders().add("Trailer", String.join(", ", names));
    return this;
  }

  /// Begins an answer of unknown length. [ExchangeOutput#finish] ends it well; else it is broken when the handler returns.
  ///
  /// @throws Problem 505: a client of HTTP/1.0 could not tell a part from the whole
  public ExchangeOutput stream(int status, ContentType type) {
    if (!request.isHttp11()) {
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
      throw new IllegalStateException("two answers by " + request.route());
    }
    response.getHeaders().put(type.field());
    response.setStatus(status);
    output = new ExchangeOutput(response, hasTrailers);
    return output;
  }

  /// Ends the exchange after its handler has returned.
  ///
  /// @throws IllegalStateException there is no answer, or it is not finished
  void end() {
    if (output == null) {
      if (!isEnded.get()) {
        throw new IllegalStateException("no answer by " + request.route());
      }
      return;
    }
    if (!output.isFinished()) {
      throw new IllegalStateException("the answer was not finished by " + request.route());
    }
    if (isEnded.compareAndSet(false, true)) {
      request.closeBody();
      callback.succeeded();
    }
  }

  /// Answers with a failure, or breaks the answer that has begun. Without effect on an exchange that has ended.
  void fail(Throwable failure) {
    if (!isEnded.compareAndSet(false, true)) {
      return;
    }
    request.closeBody();
    if (response.isCommitted()) {
      log(failure);
      callback.failed(failure);
    } else {
      removeEntity(response);
      ProblemAnswer.send(response, callback, Problems.of(failure));
    }
  }

  /// Breaks the framing: the client sees that the answer is not whole.
  void abort(Throwable failure) {
    if (isEnded.compareAndSet(false, true)) {
      callback.failed(failure);
    }
  }

  private void log(Throwable failure) {
    switch (failure) {
      // The client has gone.
      case IOException gone -> LOG.debug("an answer of {} breaks off", request.route(), gone);
      case Problem problem ->
          LOG.warn("an answer of {} breaks off: {}", request.route(), problem.detail());
      case EngineException engine ->
          LOG.warn("an answer of {} breaks off: {}", request.route(), engine.getMessage());
      default -> LOG.error("an answer of {} breaks off", request.route(), failure);
    }
  }

  /// Removes what belonged to the answer that will not be sent. Fields of the door and the state of the transaction remain.
  private static void removeEntity(Response response) {
    for (HttpHeader header : ENTITY) {
      response.getHeaders().remove(header);
    }
  }
}
