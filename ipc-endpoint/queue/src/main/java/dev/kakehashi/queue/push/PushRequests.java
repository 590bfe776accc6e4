package dev.kakehashi.queue.push;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.SocketAddressResolver;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/// Posts tasks to targets by HTTP/1.1. Thread-safe.
///
/// Redirects are not followed, no cookie is kept, no body of an answer is read further than it comes. The client begins with the first
/// request, and has a thread for its sockets then.
final class PushRequests implements AutoCloseable {
  private static final int MAX_CONNECTIONS = 256;
  private static final int THREADS = 8;

  /// Statuses by which a target refuses the request itself. Others, 401, 403 and 404 among them, come also while a target is being
  /// installed or configured, so they are tried again.
  private static final Set<Integer> FOR_GOOD =
      Set.of(400, 405, 406, 410, 411, 413, 414, 415, 422, 431);

  private static final Duration LONGEST_RETRY = Duration.ofHours(1);

  private final PushTargets targets;
  private final PushSignature signature;
  private final LongSupplier wallMillis;
  private @Nullable HttpClient client;
  private boolean closed;

  PushRequests(PushTargets targets, PushSignature signature, LongSupplier wallMillis) {
    this.targets = targets;
    this.signature = signature;
    this.wallMillis = wallMillis;
  }

  private synchronized HttpClient client() throws Exception {
    HttpClient present = client;
    if (closed) {
      throw new IllegalStateException("closed");
    }
    if (present == null) {
      QueuedThreadPool threads = new QueuedThreadPool(THREADS, 2);
      threads.setName("kakehashi-push");
      threads.setDaemon(true);
      present = new HttpClient();
      present.setExecutor(threads);
      present.setFollowRedirects(false);
      present.setMaxConnectionsPerDestination(MAX_CONNECTIONS);
      present.setMaxRequestsQueuedPerDestination(10_000);
      present.setHttpCookieStore(new HttpCookieStore.Empty());
      present.setSocketAddressResolver(new CheckedAddresses(targets));
      present.setUserAgentField(new HttpField(HttpHeader.USER_AGENT, "Kakehashi"));
      present.start();
      client = present;
    }
    return present;
  }

  /// Looks at each address at the time of its connection.
  private record CheckedAddresses(PushTargets targets) implements SocketAddressResolver {
    @Override
    public void resolve(
        String host,
        int port,
        Map<String, Object> context,
        Promise<List<InetSocketAddress>> promise) {
      List<InetSocketAddress> addresses;
      try {
        addresses =
            targets.resolve(host).stream()
                .map((InetAddress each) -> new InetSocketAddress(each, port))
                .toList();
      } catch (EngineException e) {
        promise.failed(e);
        return;
      }
      promise.succeeded(addresses);
    }
  }

  /// Posts a task.
  ///
  /// @param done called once, on any thread
  void post(QueueDefinition queue, String url, LeasedTask task, Consumer<PushOutcome> done) {
    try {
      URI target = targets.check(url);
      long seconds = wallMillis.getAsLong() / 1000;
      byte[] body = task.payload().bytes();
      Request request =
          client()
              .newRequest(target)
              .method(HttpMethod.POST)
              .timeout(queue.options().push().deadlineMillis(), TimeUnit.MILLISECONDS)
              .headers(fields ->
                  fields
                      .put("Idempotency-Key", Long.toString(task.taskId()))
                      .put("Kakehashi-Queue", queue.schema() + "." + queue.name())
                      .put("Kakehashi-Task", Long.toString(task.taskId()))
                      .put("Kakehashi-Attempt", Integer.toString(task.token().attempt()))
                      .put("Kakehashi-Timestamp", Long.toString(seconds))
                      .put(
                          "Kakehashi-Signature",
                          "v1=" + signature.sign(seconds, task.taskId(), body)))
              .body(
                  new BytesRequestContent(
                      task.payload().json() ? "application/json" : "application/octet-stream",
                      body));
      request.send(
          new Response.Listener() {
            @Override
            public void onComplete(Result result) {
              done.accept(outcome(result));
            }
          });
    } catch (Exception e) {
      // Whatever keeps a request from being sent is the attempt's failure.
      done.accept(PushOutcome.failed(reason(e)));
    }
  }

  private PushOutcome outcome(Result result) {
    Throwable failure = result.getFailure();
    if (failure != null) {
      return PushOutcome.failed(
          failure instanceof TimeoutException
              ? "the target did not answer within the deadline"
              : reason(failure));
    }
    int status = result.getResponse().getStatus();
    if (status >= 200 && status < 300) {
      return PushOutcome.DONE;
    }
    String error = "the target answered " + status;
    if (status >= 300 && status < 400) {
      error += ": redirects are not followed";
    }
    boolean overloaded = status == 429 || status == 503;
    return new PushOutcome(
        error,
        overloaded ? retryAfter(result.getResponse().getHeaders().get(HttpHeader.RETRY_AFTER)) : -1,
        overloaded,
        FOR_GOOD.contains(status));
  }

  /// Seconds, or a time; negative: neither.
  private long retryAfter(@Nullable String field) {
    if (field == null) {
      return -1;
    }
    long millis = -1;
    if (field.matches("[0-9]{1,9}")) {
      millis = Long.parseLong(field) * 1000;
    } else {
      try {
        Instant until =
            ZonedDateTime.parse(field, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
        millis = Math.max(0, until.toEpochMilli() - wallMillis.getAsLong());
      } catch (DateTimeException e) {
        return -1;
      }
    }
    return Math.min(millis, LONGEST_RETRY.toMillis());
  }

  private static String reason(Throwable failure) {
    String message = failure.getMessage();
    return failure instanceof EngineException && message != null
        ? message
        : "the target could not be reached: " + failure;
  }

  /// Ends the client; requests that are under way fail.
  @Override
  public void close() {
    HttpClient present;
    synchronized (this) {
      closed = true;
      present = client;
      client = null;
    }
    if (present != null) {
      try {
        present.stop();
      } catch (Exception e) {
        throw new IllegalStateException("could not stop the client of pushes", e);
      }
    }
  }
}
