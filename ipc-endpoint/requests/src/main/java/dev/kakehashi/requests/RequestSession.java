package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A session of one client of an interface in this process.
///
/// Thread-safe. No call blocks. Each has exactly one answer, on any thread, perhaps before the call returns; the answer must not block.
/// Requests take effect in the order of the calls; statements and ends of one transaction keep that order in the engine, whatever session
/// they came through.
///
/// While nobody else handles requests, a call runs on the calling thread: mostly for microseconds, a light statement for a millisecond at
/// most.
///
/// Handle 0 names no transaction.
public interface RequestSession extends AutoCloseable {
  /// Number that the endpoint has given it, as the table of sessions shows it.
  long id();

  RequestUser user();

  /// Parses and plans one statement, or finds it in the plan cache.
  ///
  /// @param parameterTypeOids 0: to be inferred; may be shorter than the number of parameters
  /// @return to cancel it
  Cancelable prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done);

  /// Runs a statement.
  ///
  /// @param parameters checked against the types of the statement; must stay readable until the answer
  /// @param sink takes the rows, from the engine's threads, into memory outside of the heap
  /// @return to cancel it, and to see how far it is
  Running execute(
      Statement statement,
      ParameterBatch parameters,
      TransactionUse use,
      ExecuteOptions options,
      ResultSink sink,
      Consumer<RequestAnswer> done);

  /// Begins a transaction that lives by its lease alone: it outlives this session.
  ///
  /// @param leaseNanos 0: the default; longer than the longest is the longest
  void begin(BeginOptions options, long leaseNanos, Consumer<RequestAnswer> done);

  /// Commits. The second commit of a transaction reports the state that holds.
  void commit(long handle, CommitResponse response, Consumer<RequestAnswer> done);

  /// Rolls back. For a transaction that has ended it reports the state that holds.
  void rollback(long handle, Consumer<RequestAnswer> done);

  /// Rolls back a transaction of anybody, as far as the user may: his own, those of roles whose rights he has, and with `pg_signal_backend`
  /// all but superusers'. A client that uses it is told with its next request (TRANSACTION_TERMINATED). The answer's state is UNKNOWN if
  /// there is none, or the user may not.
  void terminate(long handle, Consumer<RequestAnswer> done);

  /// The same by its token, which may be another user's.
  void terminate(String token, Consumer<RequestAnswer> done);

  /// Lets the lease begin anew. NO_SUCH_TRANSACTION, LEASE_EXPIRED.
  void renew(long handle, Consumer<RequestAnswer> done);

  /// How a transaction stands or has ended, also before the last start of the endpoint. It renews nothing.
  void outcome(long handle, Consumer<RequestAnswer> done);

  /// Cancels what runs or waits in a transaction, whichever session has sent it.
  void cancelTransaction(long handle, Consumer<RequestAnswer> done);

  /// Cancels what runs or waits in another session, also what commits by itself. The answer's state is UNKNOWN if there is no such session,
  /// or the user may not.
  ///
  /// @param id as the table of sessions shows it
  void cancelSession(long id, Consumer<RequestAnswer> done);

  /// Ends the session: what runs in it is canceled.
  @Override
  void close();

  /// A statement that runs.
  interface Running extends Cancelable {
    /// Rows that its scans and its files have read so far; an estimate. Any thread, also after the end.
    long rowsScanned();
  }

  /// Something that can be canceled.
  @FunctionalInterface
  interface Cancelable {
    /// Asks it to end with QUERY_CANCELED soon. Idempotent, any thread, also after the end.
    void cancel();
  }
}
