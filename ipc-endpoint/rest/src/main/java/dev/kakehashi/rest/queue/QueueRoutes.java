package dev.kakehashi.rest.queue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeRequest;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.sql.SqlRequest;
import dev.kakehashi.rest.sql.SqlRoutes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// `/v1/queues` and `/v1/leases`: tasks are made, taken and ended. Thread-safe.
///
/// Each request is a statement. One that makes or ends tasks may belong to a transaction; one that takes tasks never does, and a lease ends
/// by time alone, because the client has no session. Tasks that are taken for a client who has gone meanwhile are released at once. A
/// request that waits for tasks holds no thread.
public final class QueueRoutes {
  /// Longest wait for tasks.
  static final long MAX_WAIT_MILLIS = 60_000;

  static final int MAX_LEASED = 1_000;
  static final int MAX_TOKENS = 10_000;
  private static final long MAX_LEASE_MILLIS = 12L * 3_600_000;

  private static final JsonFactory JSON = new JsonFactory();
  private static final String ONE = "/v1/queues/{queue}";
  private static final String LEASE = "/v1/leases/{lease:token}";
  private static final String JSON_TYPE = "application/json";

  private final SqlRoutes statements;

  /// Requests that wait for tasks, or have just waited.
  private final Set<Exchange> waiting = ConcurrentHashMap.newKeySet();

  private volatile boolean isStopping;

  public QueueRoutes(SqlRoutes statements) {
    this.statements = statements;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/queues").handleDirectly((exchange, body) -> list(exchange)),
        Route.get(ONE).handleDirectly((exchange, body) -> describe(exchange)),
        Route.post(ONE + "/tasks").accepts(JSON_TYPE).handleDirectly(this::enqueue),
        Route.delete(ONE + "/tasks/{task:token}").handleDirectly(this::cancel),
        Route.post(ONE + "/lease")
            .parameters("max", "wait", "lease", "group")
            .handleDirectly((exchange, body) -> lease(exchange)),
        Route.post(LEASE + ":complete").handleDirectly(this::complete),
        Route.post(LEASE + ":extend").parameters("lease").handleDirectly(this::extend),
        Route.post(LEASE + ":fail").accepts(JSON_TYPE).handleDirectly(this::fail),
        Route.post(LEASE + ":release").handleDirectly(this::release),
        Route.post("/v1/leases:complete").accepts(JSON_TYPE).handleDirectly(this::completeAll));
  }

  /// Answers all requests that wait for tasks, so that the door can close.
  public void stopWaiting() {
    isStopping = true;
    for (Exchange exchange : waiting) {
      exchange.fail(stopping());
    }
  }

  private static Problem stopping() {
    return Problem.of(503, "stopping", "Stopping", "the endpoint is shutting down")
        .withRetryable(true)
        .withHeader("Retry-After", "5");
  }

  // ---- queues ----

  private void list(Exchange exchange) {
    statements.answerAlone(exchange, SqlRequest.of(QueueSql.QUEUES, row(), false).asObjects());
  }

  private void describe(Exchange exchange) {
    QueueName queue = QueueName.parse(exchange.request().variable("queue"));
    statements.answerAlone(
        exchange,
        SqlRequest.of(QueueSql.QUEUE, row(queue.schemaOrPublic(), queue.name()), false)
            .asObjects()
            .requireRows(queue.missing()));
  }

  // ---- tasks ----

  private void enqueue(Exchange exchange, byte[] body) {
    QueueName queue = QueueName.parse(exchange.request().variable("queue"));
    TaskBody tasks = TaskBody.read(queue.sql(), body);
    SqlRequest request =
        SqlRequest.of(
                tasks.isBytes() ? QueueSql.ENQUEUE_BYTES : QueueSql.ENQUEUE, tasks.rows(), true)
            .asObjects()
            .withStatus(201, 201);
    statements.answer(exchange, body, request, exchange.request().transaction());
  }

  private void cancel(Exchange exchange, byte[] body) {
    QueueName queue = QueueName.parse(exchange.request().variable("queue"));
    change(exchange, body, QueueSql.CANCEL, row(queue.sql(), exchange.request().variable("task")));
  }

  private void lease(Exchange exchange) {
    if (exchange.request().transaction().verb() != TransactionHeader.Verb.AUTO) {
      throw Problem.badRequest(
          TransactionHeader.NAME + ": taking tasks belongs to no transaction, ending them may");
    }
    QueueName queue = QueueName.parse(exchange.request().variable("queue"));
    long max = exchange.request().parameter("max", 1, 1, MAX_LEASED);
    @Nullable String wait = exchange.request().parameter("wait");
    byte[] parameters =
        row(
            queue.sql(),
            Long.toString(max),
            wait == null ? null : time("wait", wait, MAX_WAIT_MILLIS),
            leaseTime(exchange.request()),
            exchange.request().parameter("group"));
    waiting.add(exchange);
    exchange.onEnd(() -> waiting.remove(exchange));
    if (isStopping) {
      throw stopping();
    }
    statements.answerAlone(
        exchange,
        SqlRequest.of(QueueSql.LEASE, parameters, false)
            .asObjects()
            .withStatus(200, 204)
            .givenBackBy(QueueSql.RELEASE));
  }

  // ---- leases ----

  private void complete(Exchange exchange, byte[] body) {
    change(exchange, body, QueueSql.COMPLETE, row(exchange.request().variable("lease")));
  }

  private void completeAll(Exchange exchange, byte[] body) {
    List<String> tokens = new ArrayList<>();
    StrictJson.read(
        body,
        json -> {
          json.object(
              List.of("tokens"), name -> json.array(MAX_TOKENS, index -> tokens.add(json.text())));
          return tokens;
        });
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(64 * tokens.size() + 16);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartArray();
      json.writeArray(tokens.toArray(String[]::new), 0, tokens.size());
      json.writeEndArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    change(exchange, body, QueueSql.COMPLETE_ALL, bytes.toByteArray());
  }

  private void extend(Exchange exchange, byte[] body) {
    if (exchange.request().transaction().verb() != TransactionHeader.Verb.AUTO) {
      throw Problem.badRequest(
          TransactionHeader.NAME + ": a lease's time belongs to no transaction");
    }
    statements.answerAlone(
        exchange,
        SqlRequest.of(
                QueueSql.EXTEND,
                row(exchange.request().variable("lease"), leaseTime(exchange.request())),
                false)
            .asObjects());
  }

  private void fail(Exchange exchange, byte[] body) {
    @Nullable String[] reason = new String[2];
    if (body.length > 0) {
      StrictJson.read(
          body,
          json -> {
            json.object(
                List.of("error", "retry_in"),
                name -> reason[name.equals("error") ? 0 : 1] = json.textOrNull());
            return reason;
          });
    }
    change(
        exchange,
        body,
        QueueSql.FAIL,
        row(exchange.request().variable("lease"), reason[0], WaitTime.orInterval(reason[1])));
  }

  private void release(Exchange exchange, byte[] body) {
    change(exchange, body, QueueSql.RELEASE, row(exchange.request().variable("lease")));
  }

  /// A statement that changes something, perhaps in a transaction.
  private void change(Exchange exchange, byte[] body, String sql, byte[] parameters) {
    statements.answer(
        exchange,
        body,
        SqlRequest.of(sql, parameters, false).asObjects(),
        exchange.request().transaction());
  }

  // ---- parameters ----

  private static @Nullable String leaseTime(ExchangeRequest request) {
    @Nullable String lease = request.parameter("lease");
    return lease == null ? null : time("lease", lease, MAX_LEASE_MILLIS);
  }

  private static String time(String name, String text, long maxMillis) {
    return WaitTime.interval(WaitTime.millis(name, text, maxMillis));
  }

  /// One row of parameters.
  private static byte[] row(@Nullable String... values) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartArray();
      for (String value : values) {
        json.writeString(value);
      }
      json.writeEndArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    return bytes.toByteArray();
  }
}
