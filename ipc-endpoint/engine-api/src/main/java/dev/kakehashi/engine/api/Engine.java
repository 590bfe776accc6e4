package dev.kakehashi.engine.api;

import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// A data engine. Thread-safe. [#close()] refuses new work, ends what runs, makes every commit durable and returns.
///
/// Work under way fails with QUERY_CANCELED, SHUTTING_DOWN or TRANSACTION_ABORTED, and open transactions are rolled back. The last
/// callbacks may come after the close has returned. [#begin] fails with SHUTTING_DOWN from then on. A second close does nothing. Sessions
/// may be closed, and transactions rolled back, afterwards.
public interface Engine extends AutoCloseable {
  /// Capabilities of the engine: always the same, and never more than it has in truth. Each caller asks here first; a request for an absent
  /// one is refused with [EngineException#lacking].
  default Capabilities capabilities() {
    return Capabilities.EMBEDDED;
  }

  /// Makes sure that it can do something.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED, which names the engine and the capability
  default void require(Capability capability) {
    if (!capabilities().has(capability)) {
      throw EngineException.lacking(capabilities(), capability);
    }
  }

  /// Makes sure that it can begin such a transaction.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED, which names the engine and the capability
  default void require(BeginOptions options) {
    require(
        switch (options.isolation()) {
          case READ_COMMITTED -> Capability.READ_COMMITTED;
          case REPEATABLE_READ -> Capability.REPEATABLE_READ;
          case SERIALIZABLE -> Capability.SERIALIZABLE;
        });
    switch (options.kind()) {
      case OCC -> {}
      case LTX -> require(Capability.LONG_TRANSACTIONS);
      case RTX -> require(Capability.READ_ONLY_TRANSACTIONS);
    }
    if (options.deferrable()) {
      require(Capability.SAFE_SNAPSHOTS);
    }
  }

  /// Opens a session: the scope of prepared statements and settings of one client.
  ///
  /// @param userName name the client was authenticated as
  /// @param owner whose prepared transactions it may decide on; empty: everybody's
  EngineSession openSession(String userName, String owner);

  /// How it is, as `kakehashi status` shows it: its nodes, whether it can commit, its oldest undecided transaction; one matter a line. Does
  /// not block.
  default java.util.List<String> health() {
    return java.util.List.of();
  }

  /// A session that may decide on every prepared transaction.
  default EngineSession openSession(String userName) {
    return openSession(userName, "");
  }

  /// Begins a transaction. Returns at once; kinds that wait for their epoch make their first statement wait.
  ///
  /// @throws EngineException when the limit of open transactions is reached (53300), the options name an unknown table (42P01) or do not
  ///     fit the kind (22023), or the engine is shutting down
  EngineTransaction begin(BeginOptions options);

  /// Makes ready in the background what the first statements would wait for. For when clients can attach: the rows are there without it.
  default void warmUp() {}

  /// Transactions that are prepared, also those that an earlier run has prepared.
  java.util.List<PreparedTransaction> preparedTransactions();

  /// Listener of prepared transactions from now on. Set once, before the first transaction.
  void preparedListener(PreparedTransaction.Listener listener);

  /// How transactions of earlier runs have ended, as far as the log says it.
  RecoveredOutcomes recoveredOutcomes();

  /// Calls `done` when all that has been committed before survives power loss, however often it cannot be written until then; never if the
  /// engine is closed before. From any thread.
  void whenAllDurable(Runnable done);

  /// Source of the clients that use this engine, for its tables; called from any thread, must not block. Set once, before the first
  /// session.
  void clientSessions(java.util.function.Supplier<java.util.List<ClientSession>> sessions);

  /// Source of the times that requests took, for the engine's tables: numbers by the steps of [dev.kakehashi.protocol.RequestTimes]; called
  /// from any thread. Set once; before that there are none.
  default void requestTimes(java.util.function.Supplier<long[]> times) {}

  /// Which threads may do what blocks. Set once, before the first transaction.
  void blockingExecutor(BlockingExecutor executor);

  /// Says which transactions tokens of users name: by user and token the number that [EngineTransaction#reference] was given; empty: none.
  /// Without it, none does.
  default void transactionTokens(BiFunction<String, String, OptionalLong> references) {}

  /// Reader and writer of the files of `COPY`. Set once, before the first session; without it, there are none.
  default void bulkAccess(BulkAccess access) {}

  /// Its roles; of an engine without any, everybody may do everything.
  default Roles roles() {
    return Roles.NONE;
  }

  /// Its queues, which it closes; null: it was opened without.
  default @Nullable QueueSystem queues() {
    return null;
  }

  /// Holds the state as of a moment not before this call: every commit reported as stored by then is in it, and nothing half-done. Writers
  /// go on.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED, OBJECT_IN_USE (another backup runs), DISK_FULL, ...
  default Backup backup() {
    throw EngineException.lacking(capabilities(), Capability.BACKUP);
  }

  /// Begins to send the log to a standby, from its position on. The caller runs the feed, and closes it.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED; NOT_IN_PREREQUISITE_STATE if it cannot go on from there; OBJECT_IN_USE if another one
  ///     of its name follows the log
  default LogFeed feed(LogRequest request) throws IOException {
    throw new EngineException(
        dev.kakehashi.protocol.ErrorCode.FEATURE_NOT_SUPPORTED, "this engine has no standbys");
  }

  /// Keeps the log from now on for a standby that is being made, and asks later.
  ///
  /// @param standby name of it
  /// @throws EngineException FEATURE_NOT_SUPPORTED, OBJECT_IN_USE if one of that name asks already
  default void keepLogFor(String standby) throws IOException {
    throw new EngineException(
        dev.kakehashi.protocol.ErrorCode.FEATURE_NOT_SUPPORTED, "this engine has no standbys");
  }

  /// Histories that its log goes on from, as text for endpoints; empty: it has none.
  default String timelines() {
    return "";
  }

  /// The log of a standby, which changes nothing but what that brings; null: it is none.
  default @Nullable FollowedLog followedLog() {
    return null;
  }

  /// Where its log stands; null: it has none. Does not block.
  default @Nullable LogStatus logStatus() {
    return null;
  }

  /// Statements that make the committed definitions again on an engine that has none, in their order, without semicolons.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED
  default java.util.List<String> definitions() {
    throw EngineException.lacking(capabilities(), Capability.DEFINITIONS);
  }

  /// Native applications of the committed catalogue, for interfaces that have routes for them. Does not block.
  default java.util.List<dev.kakehashi.engine.api.application.ApplicationDefinition>
      applicationDefinitions() {
    return java.util.List.of();
  }

  @Override
  void close();

  /// Descriptor of the file that the engine's rows are in, for [DirectRead]s; -1: nobody else can map them. Belongs to the engine.
  default int sharedMemory() {
    return -1;
  }
}
