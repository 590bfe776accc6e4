package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.api.queue.QueueChanges;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transaction of the store. Operations are called by one thread at a time (the caller serialises statements); only
/// [#whenEnded(Runnable)] and [#isEnded()] may be called from anywhere.
public interface StoreTransaction {
  long id();

  /// Names the transaction in the record of its commit, see [dev.kakehashi.engine.api.RecoveredOutcomes]; before its end.
  ///
  /// @param number 0: it is not named
  void reference(long number);

  /// Timestamp from which on it may still read: what was replaced by later commits is kept for it. Any thread, approximately.
  long heldSnapshot();

  /// Takes a newer snapshot for the statements to come. Views that were taken before stay valid, and what they see is kept.
  void refreshSnapshot();

  /// The same, and lets go of what only earlier views see: none of them may be in use any more.
  void advanceSnapshot();

  /// It reads nothing before the next [#advanceSnapshot()], and nothing is kept for it meanwhile, as far as its isolation lets it: no view
  /// may be in use.
  void letGoOfSnapshot();

  /// Declaration of a long transaction at its beginning.
  ///
  /// @param label for messages; may be empty
  /// @param priority greater ones go first
  /// @param writes tables that it may change, by tableId
  /// @param reads tables that nobody else may change meanwhile, because it reads them
  record LongArea(String label, int priority, Set<Long> writes, Set<Long> reads) {}

  /// Asks whether a long transaction may begin a statement; it may take a new snapshot then.
  ///
  /// @param tables that the statement reads and that nobody else may change from then on
  /// @param viewsInUse whether views that were taken before have to stay valid
  /// @param whenReady called once, from any thread, when it is worth to ask again, if the answer is false
  /// @return whether the statement may begin; always true for others than long ones
  boolean mayBegin(Set<Long> tables, boolean viewsInUse, Runnable whenReady);

  /// Whether what it reads can make no other transaction fail. Until then a deferrable one must not read; the answer true is for good, and
  /// so it is at once for all others.
  ///
  /// A call that answers false may have taken a new snapshot.
  ///
  /// @param news called once, from any thread, when it is worth to ask again, if the answer is false; it must not block, and must not call
  ///     the store
  boolean hasSafeSnapshot(Runnable news);

  /// Transactions whose end a deferrable one waits for, as it was told by [#hasSafeSnapshot]; any thread.
  List<Long> waitedFor();

  /// Whether a long transaction may commit, or be prepared, now: it does so after those that come before it and have read what it changes.
  ///
  /// @param whenReady called once, from any thread, when it is worth to ask again, if the answer is false
  boolean mayCommit(Runnable whenReady);

  /// Whether the log has room for many changes now: what was committed before is kept in the heap until the base image has it.
  ///
  /// @param whenReady called once, from any thread, when it is worth to ask again, if the answer is false
  boolean logHasRoom(Runnable whenReady);

  /// Number of a long transaction in the order of their declarations; 0: it is none.
  long epoch();

  /// Begins a statement: it sees the snapshot and what earlier statements of this transaction did, not what it does itself.
  ReadView beginStatement();

  /// Begins a statement of a client's command: of what earlier statements of this transaction did it sees what they did for lesser
  /// commands, or for none.
  ///
  /// @param command its number, unsigned; 0: as without
  ReadView beginStatement(int command);

  /// Changes from now on are made for a command of the client: statements of that command and lesser ones do not see them.
  ///
  /// @param command its number, unsigned; 0: for none, every later statement sees them
  void changeFor(int command);

  /// A point to roll back to; later marks are greater.
  long mark();

  /// Undoes every change made since `mark`.
  void rollbackTo(long mark);

  /// Whether it has read what others have committed, or taken values of sequences, and that is not durable yet. Any thread; what is being
  /// read meanwhile may not count.
  boolean hasUndurableReads();

  /// Whether it has changed rows, queues or the catalogue, or relies on a record that is not durable yet.
  boolean hasWrites();

  /// Results that it gave out rely on a record of [Store#putSequencePosition]: a stored commit is reported when that is durable, too. Any
  /// thread.
  void reliesOn(long record);

  /// Begins a statement that sees the newest commits, whatever snapshot the transaction has. The versions that it sees are kept until
  /// [#endLatest()] or a newer snapshot.
  ReadView beginLatest();

  /// No view of [#beginLatest()] is in use any more.
  void endLatest();

  /// Changes the catalogue. The transaction sees it at once, everybody else when it has committed; rolling back undoes it.
  ///
  /// The caller sees to it that transactions which run beside each other change different entries and tables, that one index is made at a
  /// time, and that nobody else uses what it drops.
  ///
  /// @throws DuplicateKey when a new unique index meets duplicates; nothing is changed then
  /// @throws RowConflict when it meets a key that another running transaction has (un)made; nothing is changed then
  void define(Store.CatalogChange change);

  /// Its changes of queues, made at the first call. They have a share in [#mark()] and [#rollbackTo], and become effective with its commit.
  /// Any thread that works for a statement of it.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException READ_ONLY_TRANSACTION, NO_SUCH_TRANSACTION (it has ended),
  ///     FEATURE_NOT_SUPPORTED (the store has no queues)
  QueueChanges queueChanges();

  /// Changes of the catalogue that it has made and not undone, in order.
  List<Store.CatalogChange> definitions();

  /// Tables whose rows it has changed or locked.
  Set<Long> changedTables();

  /// Changes that it has made to the rows of a table since a mark.
  ///
  /// @param columns what is wanted of them
  RowChanges changes(long tableId, long mark, int[] columns);

  /// Validates and commits. `done` gets null or the failure (then the transaction is aborted), exactly once, possibly on the durability
  /// thread.
  ///
  /// @param stored true: reported when it survives power loss; false: as soon as others can see it
  void commit(boolean stored, Consumer<@Nullable Throwable> done);

  /// Undoes everything. Idempotent; a prepared transaction stays as it is.
  void abort();

  /// Validates and makes durable what is needed to commit later, whatever happens in between: until [#commit] or [#rollbackPrepared] it
  /// keeps its rows from others, also after a restart, and takes no further statement.
  ///
  /// @param done gets null or the failure (then the transaction is aborted), exactly once, possibly on the durability thread
  void prepare(Preparation preparation, Consumer<@Nullable Throwable> done);

  /// Undoes a prepared transaction. If it fails and the transaction has not ended, it is still prepared; the same holds for a [#commit] of
  /// it.
  void rollbackPrepared(Consumer<@Nullable Throwable> done);

  /// Whether it holds all row locks that it has taken: not so if an earlier version has prepared it, which did not note those that are
  /// shared.
  boolean knowsLocks();

  /// How it was prepared; null before.
  @Nullable Preparation preparation();

  boolean isEnded();

  /// Runs `wake` once when this transaction has ended; at once if it already has. `wake` must not block.
  void whenEnded(Runnable wake);
}
