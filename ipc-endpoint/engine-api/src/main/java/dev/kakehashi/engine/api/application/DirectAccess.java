package dev.kakehashi.engine.api.application;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Tables and queues of a transaction, without SQL. Used by one thread at a time, which may block; never a worker or the poller. All throw
/// [dev.kakehashi.engine.api.error.EngineException].
public interface DirectAccess {
  /// A table or view as the user may use it.
  ///
  /// @param name as in SQL, with or without schema
  DirectTable table(String name);

  /// Runs a statement.
  ///
  /// @param rows gets each row; null: they are not wanted
  /// @return rows changed, or given
  long execute(String sql, @Nullable Object[] parameters, @Nullable RowConsumer rows);

  /// Takes a row; the array is its own.
  @FunctionalInterface
  interface RowConsumer {
    /// @return false: no more are wanted
    boolean row(List<DirectTable.Column> columns, @Nullable Object[] values);
  }

  void savepoint();

  /// Keeps what was done since the last savepoint.
  void releaseSavepoint();

  /// Undoes it, and ends the savepoint.
  void rollbackToSavepoint();

  /// Enqueues a task with this transaction.
  ///
  /// @return its number
  long enqueue(String queue, dev.kakehashi.engine.api.queue.NewTask task);

  /// Completes a task with this transaction.
  void complete(String token);

  /// Fails a task with this transaction.
  void fail(String token, String error);

  /// Cancels work under way, and every later request; from any thread.
  void cancel();
}
