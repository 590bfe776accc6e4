package dev.kakehashi.rest.sql;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.header.TransactionAnswer;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.StoredAnswer;
import dev.kakehashi.rest.job.http.IdempotentPosts;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// `/v1/transactions` and below: transactions without statements, and outcomes. Thread-safe.
public final class TransactionRoutes {
  private static final JsonFactory JSON = new JsonFactory();
  private static final String ALL = "/v1/transactions";
  private static final String ONE = ALL + "/{handle:token}";
  private static final byte[] NO_BODY = {};

  /// Open ones, as far as the user may see them.
  private static final String LIST =
      "SELECT * FROM kakehashi_catalog.transactions ORDER BY began_at, transaction_id";

  /// A row if there was one to end.
  private static final String TERMINATE =
      "SELECT $1::int8 AS transaction_id WHERE terminate_transaction($1::int8)";

  /// Longer ones are tokens.
  private static final int MAX_ID_DIGITS = 19;

  private final SqlService service;
  private final SqlRoutes statements;
  private final IdempotentPosts posts;
  private final TransactionActs control;

  public TransactionRoutes(SqlService service, SqlRoutes statements, Jobs jobs) {
    this.service = service;
    this.statements = statements;
    this.posts = new IdempotentPosts(jobs);
    this.control = new TransactionActs(service);
  }

  public List<Route> routes() {
    return List.of(
        Route.post(ALL).handle(this::begin),
        Route.get(ALL).handleDirectly((exchange, body) -> list(exchange)),
        Route.get(ONE).handle(this::outcome),
        Route.delete(ONE).handleDirectly((exchange, body) -> delete(exchange)),
        Route.post(ONE + "/commit").parameters("response").handle(this::commit),
        Route.post(ONE + "/rollback").handle(this::rollback),
        Route.post(ONE + "/renew").handle(exchange -> act(exchange, RequestSession::renew)),
        Route.post(ONE + "/cancel")
            .handle(exchange -> act(exchange, RequestSession::cancelTransaction)));
  }

  /// Begins one, with the options of the field.
  private void begin(Exchange exchange) throws Exception {
    @Nullable String field = exchange.request().header(TransactionHeader.NAME);
    TransactionHeader header = TransactionHeader.parse(field == null ? "begin" : field);
    if (header.verb() != TransactionHeader.Verb.BEGIN) {
      throw Problem.badRequest(TransactionHeader.NAME + ": a transaction begins with \"begin\"");
    }
    posts.answer(
        exchange,
        NO_BODY,
        true,
        () -> {
          RequestAnswer answer = control.begin(exchange.request().user(), header);
          String handle = service.requests().token(exchange.request().user(), answer.handle());
          return answer(exchange.request().user(), answer, 201, ALL + "/" + handle);
        });
  }

  private void outcome(Exchange exchange) throws InterruptedException {
    RequestAnswer answer =
        control.run(
            exchange.request().user(),
            exchange.request().variable("handle"),
            RequestSession::outcome);
    if (answer.failure() == null
        && (answer.state() == TransactionState.UNKNOWN
            || answer.state() == TransactionState.NONE)) {
      throw Problem.of(
          new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "there is no such transaction")
              .withDetail("Its outcome is not kept any more, or it belongs to another user."));
    }
    IdempotentPosts.send(exchange, answer(exchange.request().user(), answer, 200, ""));
  }

  private void commit(Exchange exchange) throws Exception {
    CommitResponse response = response(exchange.request().parameter("response"));
    act(exchange, (session, handle, done) -> session.commit(handle, response, done));
  }

  private static CommitResponse response(@Nullable String text) {
    return switch (text == null ? "stored" : text) {
      case "stored" -> CommitResponse.STORED;
      case "available" -> CommitResponse.AVAILABLE;
      default ->
          throw Problem.unknownName(
              "value of response", String.valueOf(text), List.of("stored", "available"));
    };
  }

  private void list(Exchange exchange) {
    statements.answerAlone(exchange, SqlRequest.of(LIST, "[]".getBytes(UTF_8), false).asObjects());
  }

  /// Ends one by its token, or by its number as the list has it.
  private void delete(Exchange exchange) {
    String name = exchange.request().variable("handle");
    boolean isId =
        name.length() <= MAX_ID_DIGITS && name.chars().allMatch(c -> c >= '0' && c <= '9');
    if (isId) {
      statements.answerAlone(
          exchange,
          SqlRequest.of(TERMINATE, ("[\"" + name + "\"]").getBytes(UTF_8), false)
              .asObjects()
              .requireRows(Problem.of(noSuchTransaction())));
    } else {
      exchange.block(this::rollback);
    }
  }

  /// That of another user is ended as far as the user may, by its token.
  private void rollback(Exchange exchange) throws Exception {
    RequestUser user = exchange.request().user();
    String token = exchange.request().variable("handle");
    if (service.requests().handle(user, token).isPresent()) {
      act(exchange, RequestSession::rollback);
      return;
    }
    posts.answer(
        exchange,
        NO_BODY,
        true,
        () -> {
          RequestAnswer answer = control.terminate(user, token);
          if (answer.state() == TransactionState.UNKNOWN) {
            throw Problem.of(noSuchTransaction());
          }
          TransactionAnswer ended = new TransactionAnswer(answer.state(), token, 0, "");
          return new StoredAnswer(
              200,
              List.of(new StoredAnswer.Header(TransactionHeader.NAME, ended.field())),
              ContentType.JSON.value(),
              json(ended));
        });
  }

  private static EngineException noSuchTransaction() {
    return new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "there is no such transaction")
        .withDetail("The transaction has ended, or belongs to another user.");
  }

  private void act(Exchange exchange, TransactionActs.Action action) throws Exception {
    String token = exchange.request().variable("handle");
    posts.answer(
        exchange,
        NO_BODY,
        true,
        () ->
            answer(
                exchange.request().user(),
                control.run(exchange.request().user(), token, action),
                200,
                ""));
  }

  private StoredAnswer answer(RequestUser user, RequestAnswer answer, int status, String location) {
    TransactionAnswer transaction =
        answer.handle() == 0
            ? new TransactionAnswer(answer.state(), "", 0, "")
            : TransactionFields.answer(service.requests(), user, answer);
    EngineException failure = answer.failure();
    if (failure != null) {
      throw Problem.of(failure)
          .withTransaction(transaction.handle())
          .withHeader(TransactionHeader.NAME, transaction.field());
    }
    List<StoredAnswer.Header> headers = new ArrayList<>(2);
    headers.add(new StoredAnswer.Header(TransactionHeader.NAME, transaction.field()));
    if (!location.isEmpty()) {
      headers.add(new StoredAnswer.Header("Location", location));
    }
    return new StoredAnswer(status, headers, ContentType.JSON.value(), json(transaction));
  }

  private static byte[] json(TransactionAnswer transaction) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(160);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("handle", transaction.handle());
      json.writeStringField("state", transaction.state().name().toLowerCase(Locale.ROOT));
      if (transaction.expires() > 0) {
        json.writeStringField("expires", Instant.ofEpochSecond(transaction.expires()).toString());
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    return bytes.toByteArray();
  }
}
