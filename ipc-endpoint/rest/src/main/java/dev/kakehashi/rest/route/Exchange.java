package dev.kakehashi.rest.route;

import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.HttpStream;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// One request of a route and its answer, from the first look at it to the end: which thread has it, whether its client is there, and how
/// it ends.
///
/// Target, user and content type are checked before a handler sees it.
///
/// One thread at a time. [#abort], [#fail] and the listeners of [#onFailure] may come from any thread.
public final class Exchange {
  private final Request jettyRequest;
  private final ExchangeRequest request;
  private final ExchangeAnswer answer;
  private final ClientWatch clients;

  /// @param callback completed when the exchange has ended, exactly once
  /// @param user null: of a route for everybody
  /// @throws Problem 400: a query parameter is unknown, comes twice or is no text; 413, 415
  public Exchange(
      Request jettyRequest,
      Response response,
      Callback callback,
      Routes.Found found,
      Users.@Nullable Known user,
      BodyLimits bodyLimits,
      ClientWatch clients) {
    this.jettyRequest = jettyRequest;
    this.clients = clients;
    this.request = new ExchangeRequest(jettyRequest, found, user, bodyLimits);
    this.answer = new ExchangeAnswer(request, response, callback);
  }

  /// Request of the exchange.
  public ExchangeRequest request() {
    return request;
  }

  /// Answer of the exchange.
  public ExchangeAnswer answer() {
    return answer;
  }

  /// Reads the body and calls a direct handler, without blocking.
  public void start(DirectHandler handler) {
    request.collect(
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
        });
  }

  /// Goes on with this exchange on a virtual thread, which may block. For direct handlers that have read the body and not answered.
  public void block(Handler handler) {
    // A request that waits for its handler is not idle.
    waits();
    Thread.ofVirtual().name("http").start(() -> run(handler));
  }

  /// A direct handler answers later: until then the connection is not idle as long as its client is there.
  public void waits() {
    jettyRequest.addIdleTimeoutListener(timeout -> ClientPresence.isGone(jettyRequest));
  }

  /// Work for this request runs, however long: until the answer the connection is not idle, and a client who goes is noticed within some
  /// seconds.
  ///
  /// @param gone called once if he goes; must not block
  public void watch(Runnable gone) {
    waits();
    onEnd(clients.add(jettyRequest, gone));
  }

  /// Calls a handler on a virtual thread that reads the body as it comes. It may answer later: then whatever it throws is the answer, and
  /// otherwise callbacks answer.
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
      answer.end();
    } catch (Throwable e) {
      fail(e);
    }
  }

  /// Whether the client asks to go on with another protocol over this connection.
  public boolean isUpgradeTo(String protocol) {
    return request.isHttp1()
        && protocol.equalsIgnoreCase(request.header("Upgrade"))
        && jettyRequest.getHeaders().contains(HttpHeader.CONNECTION, "upgrade");
  }

  /// Goes on with another protocol over this connection, which ends with it. The exchange ends.
  ///
  /// @param peer owned by the connection from now on, also where the client has gone meanwhile
  public void upgrade(String protocol, Upgraded.Peer peer) {
    Connection connection = jettyRequest.getConnectionMetaData().getConnection();
    jettyRequest.setAttribute(
        HttpStream.UPGRADE_CONNECTION_ATTRIBUTE,
        new Upgraded(
            connection.getEndPoint(),
            jettyRequest.getConnectionMetaData().getConnector().getExecutor(),
            peer));
    onBroken(peer::close);
    answer.upgrade(protocol);
  }

  /// Called when the client has gone or stopped, if that is noticed before the answer is complete. Must not block.
  public void onFailure(Runnable listener) {
    jettyRequest.addFailureListener(failure -> listener.run());
  }

  /// Whether the client has gone by now: he has closed the connection, or his side of it. A system call.
  public boolean isClientGone() {
    return ClientPresence.isGone(jettyRequest);
  }

  /// Called once if the exchange ends and its answer has not been written whole. Must not block.
  public void onBroken(Runnable listener) {
    Request.addCompletionListener(
        jettyRequest,
        failure -> {
          if (failure != null) {
            listener.run();
          }
        });
  }

  /// Called once when the exchange has ended, however. Must not block.
  public void onEnd(Runnable listener) {
    Request.addCompletionListener(jettyRequest, failure -> listener.run());
  }

  /// Answers with a failure, or breaks the answer that has begun. Without effect on an exchange that has ended.
  public void fail(Throwable failure) {
    answer.fail(failure);
  }

  /// Breaks the framing: the client sees that the answer is not whole.
  public void abort(Throwable failure) {
    answer.abort(failure);
  }
}
