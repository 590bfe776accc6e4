package dev.kakehashi.engine.api;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Statements of one client. Used by one thread at a time.
public interface EngineSession extends AutoCloseable {
  /// Parses, validates and plans one statement, or finds it in the plan cache.
  ///
  /// Planning may take milliseconds, so it runs as a job; a cached plan completes on the calling thread.
  ///
  /// Names are looked up in the committed catalogue, or in that of an open transaction in which the session has changed it.
  ///
  /// @param sql one statement, parameters as `$1`, `$2`, ...
  /// @param parameterTypeOids PostgreSQL type OIDs, 0 to infer; may be shorter than the number of parameters
  /// @param done receives the statement or the failure, exactly once; nothing is planned any more then, also after a cancel
  /// @return to cancel it
  Planning prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done);

  /// For whom it works from the next statement on; before the first call, for somebody of its user who sees all.
  void viewer(Viewer newViewer);

  /// Prepares a transaction: the first phase of a two-phase commit, as [EngineTransaction] describes it.
  ///
  /// Running queries of the transaction are canceled. If it fails, the transaction is rolled back.
  ///
  /// @param globalId 1 to 200 bytes of UTF-8
  /// @param done receives null, or INVALID_PARAMETER_VALUE, DUPLICATE_OBJECT, SERIALIZATION_FAILURE, ...; exactly once, from any thread
  void prepare(
      EngineTransaction transaction, String globalId, Consumer<@Nullable EngineException> done);

  /// Commits a prepared transaction.
  ///
  /// @param done receives null, or UNDEFINED_OBJECT, INSUFFICIENT_PRIVILEGE, NOT_IN_PREREQUISITE_STATE (somebody else is deciding), or why
  ///     it could not be made durable
  void commitPrepared(
      String globalId,
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done);

  /// Rolls a prepared transaction back; errors as for [#commitPrepared].
  void rollbackPrepared(String globalId, Consumer<@Nullable EngineException> done);

  /// Listener for leases of tasks that the session has lost without its doing. Must not block; called from any thread.
  default void leaseListener(Consumer<LeaseToken> listener) {}

  /// Ends its leases of tasks, too, at once. Transactions that it has used stay open, and its statements stay valid: both belong to their
  /// holders.
  @Override
  void close();
}
