package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestSession.Cancelable;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.Requests;
import dev.kakehashi.requests.TransactionUse;
import dev.kakehashi.testsupport.BatchSink;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A session of the in-process door whose calls wait for their answers, for tests.
record RequestDoor(RequestSession session) implements AutoCloseable {
  static final RequestUser ALICE = new RequestUser("alice", false);
  static final RequestUser BOB = new RequestUser("bob", false);
  static final RequestUser OPERATOR = new RequestUser("operator", true);
  static final TransactionUse AUTO =
      new TransactionUse.AutoCommit(BeginOptions.DEFAULT, CommitResponse.STORED);

  /// An execution that runs, and its answer to come.
  record Running(Cancelable cancelable, CompletableFuture<RequestAnswer> answer) {
    RequestAnswer get() {
      return await(answer);
    }
  }

  static RequestDoor open(Requests requests, RequestUser user) {
    return new RequestDoor(requests.open(user, "http", "test"));
  }

  static <T> T await(CompletableFuture<T> future) {
    try {
      return future.get(60, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError("there is no answer", e);
    }
  }

  private static RequestAnswer answer(Consumer<Consumer<RequestAnswer>> call) {
    CompletableFuture<RequestAnswer> answer = new CompletableFuture<>();
    call.accept(once(answer));
    return await(answer);
  }

  /// Fails the test's future when there is a second answer.
  private static Consumer<RequestAnswer> once(CompletableFuture<RequestAnswer> future) {
    return answer -> {
      if (!future.complete(answer)) {
        future.obtrudeException(new AssertionError("a second answer: " + answer));
      }
    };
  }

  static RequestAnswer succeeded(RequestAnswer answer) {
    assertNull(answer.failure(), () -> String.valueOf(answer.failure()));
    return answer;
  }

  static void assertFailed(String sqlstate, RequestAnswer answer) {
    EngineException failure = answer.failure();
    assertNotNull(failure, () -> "it succeeded: " + answer);
    assertEquals(sqlstate, failure.code().sqlstate(), failure.getMessage());
  }

  /// A statement, or why there is none.
  private record Prepared(@Nullable Statement statement, @Nullable EngineException failure) {}

  private Prepared prepared(String sql) {
    CompletableFuture<Prepared> prepared = new CompletableFuture<>();
    session.prepare(
        sql,
        new int[0],
        (statement, failure) -> prepared.complete(new Prepared(statement, failure)));
    return await(prepared);
  }

  Statement prepare(String sql) {
    Prepared prepared = prepared(sql);
    return Objects.requireNonNull(prepared.statement(), () -> String.valueOf(prepared.failure()));
  }

  /// Why it cannot be prepared.
  EngineException refusal(String sql) {
    return Objects.requireNonNull(prepared(sql).failure(), "it can be prepared");
  }

  static ParameterBatch parameters(@Nullable Object... values) {
    RowBatchWriter writer = RowBatchWriter.growable(values.length, 1, 1024);
    writer.addRow();
    for (int i = 0; i < values.length; i++) {
      switch (values[i]) {
        case null -> writer.setNull(i);
        case Long number -> writer.setLong(i, number);
        default -> writer.setString(i, String.valueOf(values[i]));
      }
    }
    writer.finish();
    return new ParameterBatch(writer.batch(), 1);
  }

  Running start(
      Statement statement, ParameterBatch parameters, TransactionUse use, ResultSink sink) {
    CompletableFuture<RequestAnswer> answer = new CompletableFuture<>();
    Cancelable cancelable =
        session.execute(statement, parameters, use, ExecuteOptions.DEFAULT, sink, once(answer));
    return new Running(cancelable, answer);
  }

  RequestAnswer execute(String sql, TransactionUse use, @Nullable Object... values) {
    return start(
            prepare(sql),
            values.length == 0 ? ParameterBatch.NONE : parameters(values),
            use,
            new BatchSink(100))
        .get();
  }

  /// The first value of the first row, a number.
  long number(String sql, TransactionUse use) {
    BatchSink sink = new BatchSink(100);
    succeeded(start(prepare(sql), ParameterBatch.NONE, use, sink).get());
    RowBatchReader batch = sink.take();
    return Objects.requireNonNull(batch, "no rows").getLong(0, 0);
  }

  static TransactionUse within(long handle) {
    return new TransactionUse.Continue(handle, false, CommitResponse.STORED);
  }

  RequestAnswer begin(long leaseNanos) {
    return answer(done -> session.begin(BeginOptions.DEFAULT, leaseNanos, done));
  }

  /// Begins one and returns its handle.
  long begin() {
    return succeeded(begin(0)).handle();
  }

  RequestAnswer commit(long handle) {
    return answer(done -> session.commit(handle, CommitResponse.STORED, done));
  }

  RequestAnswer rollback(long handle) {
    return answer(done -> session.rollback(handle, done));
  }

  RequestAnswer terminate(long handle) {
    return answer(done -> session.terminate(handle, done));
  }

  RequestAnswer terminate(String token) {
    return answer(done -> session.terminate(token, done));
  }

  RequestAnswer renew(long handle) {
    return answer(done -> session.renew(handle, done));
  }

  RequestAnswer outcome(long handle) {
    return answer(done -> session.outcome(handle, done));
  }

  RequestAnswer cancelTransaction(long handle) {
    return answer(done -> session.cancelTransaction(handle, done));
  }

  @Override
  public void close() {
    session.close();
  }
}
