package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.TransactionUse;
import org.jspecify.annotations.Nullable;

/// One statement that runs, and its rows. The reader closes it; what still runs is canceled then.
final class StatementRun implements AutoCloseable {
  private final SessionPool.Lease lease;
  private final Statement statement;
  private final ResultStream rows;
  private volatile RequestSession.@Nullable Running running;
  private volatile boolean canceled;

  /// @param decided see [ResultStream]; may be called before [#start] returns
  StatementRun(
      SessionPool.Lease lease,
      Statement statement,
      AnswerRoom room,
      int maxBatchBytes,
      Runnable decided) {
    this.lease = lease;
    this.statement = statement;
    this.rows = new ResultStream(room, maxBatchBytes, decided);
  }

  Statement statement() {
    return statement;
  }

  ResultStream rows() {
    return rows;
  }

  /// Runs it. A failure to begin is its answer.
  void start(ParameterBatch parameters, TransactionUse use, ExecuteOptions options) {
    try {
      RequestSession.Running started =
          lease.session().execute(statement, parameters, use, options, rows, rows::finished);
      running = started;
      if (canceled) {
        started.cancel();
      }
    } catch (EngineException e) {
      rows.finished(new RequestAnswer(TransactionState.NONE, 0, 0, 0, e));
    }
  }

  /// Asks it to end with QUERY_CANCELED. Any thread, idempotent.
  void cancel() {
    canceled = true;
    RequestSession.Running now = running;
    if (now != null) {
      now.cancel();
    }
  }

  /// Rows that it has read so far. Any thread, also after the end.
  long rowsScanned() {
    RequestSession.Running now = running;
    return now == null ? 0 : now.rowsScanned();
  }

  @Override
  public void close() {
    if (rows.answer() == null) {
      cancel();
      lease.discard();
    }
    rows.close();
  }
}
