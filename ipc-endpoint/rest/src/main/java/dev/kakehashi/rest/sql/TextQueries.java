package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.TransactionUse;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Statements whose rows are wanted as texts, and only so many of them: for pages. Each call blocks until its end, and commits by itself.
/// Thread-safe.
public final class TextQueries {
  /// Bounds of one result.
  ///
  /// @param rows that are kept
  /// @param valueBytes of one value that are kept, at least 4
  /// @param bytes of all values together that are kept
  /// @param timeoutNanos 0: none
  public record Limits(int rows, int valueBytes, long bytes, long timeoutNanos) {}

  private final SqlService service;

  public TextQueries(SqlService service) {
    this.service = service;
  }

  /// Runs one statement.
  ///
  /// @param parameters as texts that PostgreSQL would take; those that are missing are null
  /// @param canceler gets how to cancel it, before it begins; canceling may come from any thread, at any time
  /// @throws EngineException why it has failed; QUERY_CANCELED also if the thread was interrupted
  public TextResult run(
      RequestUser user,
      String sql,
      List<@Nullable String> parameters,
      Limits limits,
      Consumer<Runnable> canceler) {
    Cancel cancel = new Cancel();
    canceler.accept(cancel);
    try (SessionPool.Lease lease = service.sessions().lease(user)) {
      Statement statement = lease.prepare(sql, limits.timeoutNanos(), cancel::runs);
      int[] typeOids = statement.parameterTypeOids();
      String[] values = Arrays.copyOf(parameters.toArray(new String[0]), typeOids.length);
      SqlRequest request = SqlRequest.of(sql, values).checked(service.limits());
      try (StatementRun run =
          new StatementRun(
              lease, statement, service.room(), service.limits().batchBytes(), () -> {})) {
        cancel.runs(run::cancel);
        run.start(
            request.parameters(typeOids, service.limits()),
            new TransactionUse.AutoCommit(BeginOptions.DEFAULT, CommitResponse.STORED),
            ExecuteOptions.of(true, limits.timeoutNanos(), 0, 0));
        return read(run, limits);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(ErrorCode.QUERY_CANCELED, "the page was interrupted", e);
    }
  }

  private static TextResult read(StatementRun run, Limits limits) throws InterruptedException {
    RowTexts rows = new RowTexts(run.statement().columns(), limits);
    ResultStream stream = run.rows();
    boolean changes = run.statement().kind() != Statement.Kind.QUERY;
    for (ResultStream.Chunk chunk = stream.next(); chunk != null; chunk = stream.next()) {
      try {
        rows.add(chunk.batch());
      } finally {
        stream.release(chunk);
      }
      if (rows.isCut() && !changes) {
        // The rest is not wanted. A statement that changes rows goes on to its end.
        return rows.result(-1);
      }
    }
    RequestAnswer answer = Objects.requireNonNull(stream.answer());
    if (answer.failure() != null) {
      throw answer.failure();
    }
    return rows.result(answer.rows());
  }

  /// Cancels what runs in a transaction.
  ///
  /// @return false: there is none that runs, or the user may not
  public boolean cancelTransaction(RequestUser user, long handle) {
    return onTransaction(user, session -> done -> session.cancelTransaction(handle, done));
  }

  /// Cancels what runs in a session.
  ///
  /// @param id as the table of sessions shows it
  /// @return false: there is none, or the user may not
  public boolean cancelSession(RequestUser user, long id) {
    return onTransaction(user, session -> done -> session.cancelSession(id, done));
  }

  /// Rolls a transaction back, which may be another user's.
  ///
  /// @return false: there is none of this handle, or the user may not
  public boolean rollBack(RequestUser user, long handle) {
    return onTransaction(user, session -> done -> session.terminate(handle, done));
  }

  private interface Act {
    Consumer<Consumer<RequestAnswer>> of(RequestSession session);
  }

  private boolean onTransaction(RequestUser user, Act act) {
    try (SessionPool.Lease lease = service.sessions().lease(user)) {
      RequestAnswer answer = AnswerFuture.of(act.of(lease.session()));
      return answer.failure() == null && answer.state() != TransactionState.UNKNOWN;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(ErrorCode.QUERY_CANCELED, "the page was interrupted", e);
    }
  }

  /// Cancels what runs last. Thread-safe.
  private static final class Cancel implements Runnable {
    private volatile RequestSession.@Nullable Cancelable running;
    private volatile boolean canceled;

    void runs(RequestSession.Cancelable now) {
      running = now;
      if (canceled) {
        now.cancel();
      }
    }

    @Override
    public void run() {
      canceled = true;
      RequestSession.Cancelable now = running;
      if (now != null) {
        now.cancel();
      }
    }
  }
}
