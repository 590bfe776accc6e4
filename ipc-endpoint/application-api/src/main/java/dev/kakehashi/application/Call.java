package dev.kakehashi.application;

import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/// One call of a procedure, route or handler. Used by its own thread; [#isCanceled] by any.
///
/// Its work with tables and queues happens in its transaction, with the rights of the user who calls.
public interface Call {
  /// That of the thread.
  ///
  /// @throws IllegalStateException outside of a call
  static Call current() {
    return CurrentCall.get();
  }

  /// Number of the call, of no other one of this run of the endpoint; in the log, too.
  long id();

  /// Whose rights count.
  String user();

  /// When it is canceled at the latest.
  Optional<Instant> deadline();

  /// Whether the caller has given up, or the time is over. The next use of the engine fails then, and the thread is interrupted.
  boolean isCanceled();

  /// A table, its rows as records: a component for each column of the same name (`unitPrice` for `unit_price`). Columns without a component
  /// are null in inserts, and kept in updates.
  ///
  /// @throws EngineFailure 42P01, 42703, 42804 (naming component and column), 42501
  <R extends Record> TypedTable<R> table(String name, Class<R> row);

  /// @throws EngineFailure 42704, 42501
  <T> TypedQueue<T> queue(String name, Class<T> payload);

  /// Runs a statement of SQL.
  ///
  /// @param row class of its rows
  /// @return its rows, all read
  <R> java.util.List<R> query(String sql, Class<R> row, Object... parameters);

  /// Runs a statement of SQL.
  ///
  /// @return rows changed
  long execute(String sql, Object... parameters);

  /// Undoes what the body has done if it throws.
  <R> R savepoint(Supplier<R> body);

  /// Runs the body in a transaction of its own, which is committed after it, or rolled back if it throws; tried again as procedures of
  /// [TransactionMode#OWN] are.
  <R> R inTransaction(Isolation isolation, Function<Call, R> body);

  /// Runs the body in the transaction of a token, which somebody else has begun and will end.
  <R> R inTransaction(String token, Function<Call, R> body);

  /// Sends a message to a process of the application.
  ///
  /// @return false: it has ended, or never existed
  boolean send(long pid, Object message);

  /// The processes of a name that run.
  java.util.List<Long> processes(String name);

  /// Writes a line to `kakehashi_catalog.application_log`.
  void log(String message);
}
