package dev.kakehashi.tck.drive;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.tck.drive.CollectingSink.Reading;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A transaction whose operations are waited for. [#close()] rolls back what has not ended, so that no test leaves locks to the next one.
public final class DrivenTransaction implements AutoCloseable {
  private static final ExecuteOptions NEW_SNAPSHOT = new ExecuteOptions(true, 0, 0, 0);

  private final DrivenEngine client;
  private final EngineTransaction transaction;

  DrivenTransaction(DrivenEngine client, EngineTransaction transaction) {
    this.client = client;
    this.transaction = transaction;
  }

  /// The transaction of the engine.
  public EngineTransaction engine() {
    return transaction;
  }

  /// Rows of a statement with at most one row of parameters; see [RowValues].
  public List<String> query(String sql, @Nullable Object... parameters) {
    return start(sql, parameters).awaitRows();
  }

  /// Count of a statement with at most one row of parameters.
  public long run(String sql, @Nullable Object... parameters) {
    return start(sql, parameters).await();
  }

  /// Starts a statement with at most one row of parameters. READ COMMITTED takes a new snapshot.
  public RunningStatement start(String sql, @Nullable Object... parameters) {
    return start(client.prepare(sql), NEW_SNAPSHOT, parameters);
  }

  /// The same with a time-out of the statement or of its locks, in milliseconds.
  public RunningStatement startWithin(long timeoutMillis, long lockTimeoutMillis, String sql) {
    return start(
        client.prepare(sql),
        new ExecuteOptions(true, timeoutMillis * 1_000_000, 0, lockTimeoutMillis * 1_000_000));
  }

  /// Starts a prepared statement with at most one row of parameters.
  public RunningStatement start(
      Statement statement, ExecuteOptions options, @Nullable Object... parameters) {
    return startBatch(statement, options, new @Nullable Object[][] {parameters});
  }

  /// Starts a prepared statement with rows of parameters.
  public RunningStatement startBatch(
      Statement statement, ExecuteOptions options, @Nullable Object[][] rows) {
    return start(
        statement,
        options,
        rows,
        new CollectingSink(statement.columns(), Reading.KEEP, Integer.MAX_VALUE));
  }

  /// Count of a statement that is run for rows of parameters.
  public long runBatch(String sql, @Nullable Object[][] rows) {
    return startBatch(client.prepare(sql), NEW_SNAPSHOT, rows).await();
  }

  /// Starts a statement without parameters with a reader of one's own.
  public RunningStatement startInto(String sql, Reading reading, int buffers) {
    Statement statement = client.prepare(sql);
    return start(
        statement,
        NEW_SNAPSHOT,
        new @Nullable Object[][] {{}},
        new CollectingSink(statement.columns(), reading, buffers));
  }

  private RunningStatement start(
      Statement statement, ExecuteOptions options, @Nullable Object[][] rows, CollectingSink sink) {
    return new RunningStatement(
        transaction,
        statement,
        RowValues.batch(statement.parameterTypeOids(), rows),
        options,
        sink);
  }

  /// Sets a savepoint.
  public void savepoint(int level) {
    Waits.awaitEnd(done -> transaction.savepoint(level, done));
  }

  /// Releases a savepoint.
  public void release(int level) {
    Waits.awaitEnd(done -> transaction.releaseSavepoint(level, done));
  }

  /// Rolls back to a savepoint.
  public void rollbackTo(int level) {
    Waits.awaitEnd(done -> transaction.rollbackToSavepoint(level, done));
  }

  /// Commits; stored, when this returns.
  public void commit() {
    Waits.await(startCommit());
  }

  /// Starts the commit.
  public CompletableFuture<Boolean> startCommit() {
    return Waits.start(done -> transaction.commit(EngineTransaction.CommitResponse.STORED, done));
  }

  /// Rolls back.
  public void rollback() {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transaction.rollback(() -> Waits.answer(done, true, null));
    Waits.await(done);
  }

  @Override
  public void close() {
    if (transaction.state() == EngineTransaction.State.ACTIVE) {
      rollback();
    }
  }
}
