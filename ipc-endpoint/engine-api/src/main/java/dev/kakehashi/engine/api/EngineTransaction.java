package dev.kakehashi.engine.api;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// An open transaction. Thread-safe; operations take effect in the order of the calls, after the statements that were
/// executed before them. End is safe: an end after the end reports the state that holds.
public interface EngineTransaction {
  /// Life of a transaction.
  enum State {
    ACTIVE,
    /// Durable, waiting for the decision of somebody else (two-phase commit), who names it by its global id: for commit and rollback of
    /// this interface it has ended.
    PREPARED,
    COMMITTED,
    ABORTED
  }

  /// When a commit is reported.
  enum CommitResponse {
    /// It survives power loss, and so does what it has read of others.
    STORED,
    /// Others can see it.
    AVAILABLE
  }

  /// Engine's number of the transaction, unique in the life of the store.
  long id();

  /// Gives the transaction a number by which its beginner knows it; at most once, before it is used. The log names it with the commit, see
  /// [RecoveredOutcomes]: its lower 16 bits are a place that no other open transaction has, and the bits above grow with each transaction
  /// at that place. 0: none.
  void reference(long number);

  /// For whom it is, for the engine's tables. Set once, before the first statement; without it, it is nobody's.
  void owner(Viewer viewer);

  /// Activity of its clients, for the engine's tables. Set once, before the first statement; without it, nobody knows.
  default void activity(ClientActivity activity) {}

  /// Says that it ends with its first statement, which may then do what a transaction block cannot. Set before that; without it, it does
  /// not.
  default void ofOneStatement() {}

  BeginOptions options();

  State state();

  /// Why the engine has ended, or is ending, the transaction by itself (TRANSACTION_TIMEOUT, TRANSACTION_TERMINATED); null if it has not.
  default @Nullable EngineException failure() {
    return null;
  }

  /// Whether it has changed anything.
  boolean hasWrites();

  /// Whether it has read what others have committed and what would not survive power loss yet. Any thread.
  boolean hasUndurableReads();

  /// Commits. Queries of it that still run are canceled first, so whoever wants their rows waits for them.
  ///
  /// A transaction that has ended reports its end: null if it was committed, [#failure()] or TRANSACTION_ABORTED if it was aborted.
  ///
  /// @param done receives null, or why it was aborted instead (SERIALIZATION_FAILURE, ...); exactly once, from any thread, must not block.
  ///     TRANSACTION_RESOLUTION_UNKNOWN alone means that nobody knows whether it was committed; after any other failure nothing of it is
  ///     there, now or later
  void commit(CommitResponse response, Consumer<@Nullable EngineException> done);

  /// Aborts; running statements are canceled, and so is one that waits for another transaction. Idempotent; of a committed transaction it
  /// changes nothing.
  ///
  /// @param done called exactly once when nothing of the transaction runs any more and its effects are undone; the answers of canceled
  ///     statements may come after it
  void rollback(Runnable done);

  /// Establishes savepoint `level` (1 is the outermost) on top of the current ones, and those of the levels between that are not there: the
  /// client has not told of them before, because nothing was done in them.
  ///
  /// @param done receives null, or INVALID_PARAMETER_VALUE: the level is there
  void savepoint(int level, Consumer<@Nullable EngineException> done);

  /// Merges savepoint `level` and those above into what is below.
  ///
  /// @param done receives null, or NO_SUCH_SAVEPOINT, which changes nothing
  void releaseSavepoint(int level, Consumer<@Nullable EngineException> done);

  /// Undoes what was done since savepoint `level`, with definitions and locks; the savepoint stays, those above go. Queries that began
  /// after it are canceled. A row that it gives back can be changed by others at once; one that has waited for it already may do so until
  /// the end of the transaction.
  ///
  /// @param done receives null, or NO_SUCH_SAVEPOINT, which changes nothing
  void rollbackToSavepoint(int level, Consumer<@Nullable EngineException> done);
}
