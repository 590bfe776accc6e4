package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.header.Prefer;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.StoredAnswer;
import dev.kakehashi.rest.job.http.IdempotentPosts;
import dev.kakehashi.rest.job.http.JobRoutes;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `POST /v1/sql`: statements, answered while they run, or as jobs. Thread-safe.
///
/// | request has | answer |
/// |---|---|
/// | nothing of the below | rows as they come, however long it takes |
/// | `Prefer: respond-async` | 202 and the job |
/// | `Prefer: wait=N` | 200, or 202 when the time is over or the result is long |
/// | `Idempotency-Key` | the same as with `wait`, without it for [#KEYED_WAIT]; the same job each time |
public final class SqlRoutes {
  private static final Duration KEYED_WAIT = Duration.ofSeconds(60);

  private final SqlService service;
  private final StatementDoor door;
  private final IdempotentPosts posts;
  private final TransactionActs control;

  public SqlRoutes(SqlService service, Jobs jobs, JobRoutes jobRoutes) {
    this.service = service;
    this.door = new StatementDoor(service, jobs, jobRoutes);
    this.posts = new IdempotentPosts(jobs);
    this.control = new TransactionActs(service);
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/sql")
            .accepts("application/json", "application/sql")
            .parameters(SqlRequest.QUERY)
            .handleDirectly(this::post));
  }

  private void post(Exchange exchange, byte[] body) {
    TransactionHeader header =
        TransactionHeader.parse(exchange.request().header(TransactionHeader.NAME));
    SqlRequest request = SqlRequest.parse(exchange.request(), body, service.limits());
    @Nullable TransactionStatement text = TransactionStatement.of(request.sql());
    if (header.verb() == TransactionHeader.Verb.AUTO) {
      request.requireStatement();
    }
    if (text != null || !request.hasStatement()) {
      exchange.block(blocking ->
          posts.answer(
              blocking, body, true, () -> control(blocking.request().user(), header, text)));
      return;
    }
    answer(exchange, body, request, header);
  }

  /// Answers by a statement, in the transaction that the request names; as a job if the request asks for one, or has a key.
  ///
  /// @param body of the exchange's request
  public void answer(Exchange exchange, byte[] body, SqlRequest request, TransactionHeader header) {
    Prefer prefer = Prefer.parse(exchange.request().header("Prefer"));
    if (prefer.respondAsync()
        || prefer.waitSeconds() >= 0
        || exchange.request().header(IdempotentPosts.FIELD) != null) {
      StatementOrder order =
          StatementOrder.of(request, AnswerFormat.of(exchange.request(), request.isObjects()), body)
              .waiting(KEYED_WAIT);
      exchange.block(blocking -> door.job(blocking, order));
    } else {
      SqlCall.start(service, exchange, request, header);
    }
  }

  /// Answers by a statement whose rows become something else than rows; otherwise as the other one.
  ///
  /// @param isAlone the statement commits while it runs, and is refused in a transaction
  public void answer(
      Exchange exchange, byte[] body, SqlRequest request, AnswerFormat format, boolean isAlone) {
    TransactionHeader header = exchange.request().transaction();
    Prefer prefer = exchange.request().prefer();
    if (prefer.respondAsync()
        || prefer.waitSeconds() >= 0
        || exchange.request().header(IdempotentPosts.FIELD) != null) {
      StatementOrder order = StatementOrder.of(request, format, body).waiting(KEYED_WAIT);
      StatementOrder whole = isAlone ? order.commitsItself("") : order;
      exchange.block(blocking -> door.job(blocking, whole));
    } else {
      SqlCall.start(service, exchange, request, format, header);
    }
  }

  /// Answers by a statement that has a transaction of its own and may wait for long: it holds no thread.
  public void answerAlone(Exchange exchange, SqlRequest request) {
    SqlCall.start(service, exchange, request, TransactionHeader.NONE);
  }

  private StoredAnswer control(
      RequestUser user, TransactionHeader header, @Nullable TransactionStatement text)
      throws InterruptedException {
    RequestAnswer answer = control.perform(user, header, text);
    String field = TransactionFields.of(service.requests(), user, answer, true);
    EngineException failure = answer.failure();
    if (failure != null) {
      throw Problem.of(failure).withHeader(TransactionHeader.NAME, field);
    }
    return new StoredAnswer(
        204, List.of(new StoredAnswer.Header(TransactionHeader.NAME, field)), "", new byte[0]);
  }
}
