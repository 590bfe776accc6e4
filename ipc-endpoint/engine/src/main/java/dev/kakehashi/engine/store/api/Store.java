package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.FollowedLog;
import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// All data of one data directory. Thread-safe.
///
/// Opened with `StoreFactory.open(StoreConfig)`, which recovers: every commit reported as stored is there, nothing
/// half-done is. [#close()] makes everything durable.
public interface Store extends AutoCloseable {
  /// Begins a transaction with a snapshot of now.
  ///
  /// @param readOnly promises that nothing will be changed
  /// @param serializable read sets are validated at commit
  StoreTransaction begin(boolean readOnly, boolean serializable);

  /// Begins a serializable read-only transaction that makes nobody fail: it has to wait for a safe snapshot before it reads, see
  /// [StoreTransaction#hasSafeSnapshot].
  StoreTransaction beginDeferrable();

  /// Begins a long transaction: others keep out of its area from now on. Its first statement has to wait, see [StoreTransaction#mayBegin].
  StoreTransaction beginLong(boolean serializable, StoreTransaction.LongArea area);

  /// Memory and transactions of the store.
  ///
  /// @param limitBytes most memory for rows, versions and indexes
  /// @param reservedBytes memory taken from the system
  /// @param usedBytes of that, what rows, versions and indexes use
  /// @param queuedWrites changes whose old versions wait until nobody can see them
  /// @param published timestamp of the newest commit
  /// @param horizon everybody sees the commits up to here; what was replaced later is kept
  record Usage(
      long limitBytes,
      long reservedBytes,
      long usedBytes,
      long queuedWrites,
      long published,
      long horizon) {}

  Usage usage();

  /// Disk use of the store since it was opened. Times in milliseconds since 1970, 0: never.
  ///
  /// @param groups flushes of commits
  /// @param commits in them
  /// @param flushNanos that they took
  /// @param logBytes since the checkpoint
  /// @param logSegments that have them
  /// @param unappliedBytes of them that the base image does not have
  /// @param backups that were begun
  /// @param diskBytes of the file system; 0: there is none, or it does not say
  record DiskUse(
      long groups,
      long commits,
      long flushNanos,
      long logBytes,
      long logSegments,
      long unappliedBytes,
      long checkpoints,
      long lastCheckpointMillis,
      long backups,
      long lastBackupMillis,
      long diskBytes,
      long diskFreeBytes) {}

  DiskUse diskUse();

  /// Where its log stands; null: it has no positions.
  @Nullable LogStatus logStatus();

  /// Begins to send the log to a standby, see `DurableLog.feed`.
  LogFeed feed(LogRequest request) throws IOException;

  /// Keeps the log from now on for a standby that asks later, see `DurableLog.keepFor`.
  void keepLogFor(String standby) throws IOException;

  /// Lets commits wait for a standby from now on; null: for none.
  void synchronous(@Nullable SynchronousConfig config);

  /// Says how many bytes of the log are kept for a standby that lacks them; without it, all.
  void standbyBacklog(long bytes);

  /// Nobody is told of a commit any more: those that wait for a standby, and later ones, wait for none. Any thread, at the end.
  void closing();

  /// Timelines of its log as text; empty: it has none.
  String timelines();

  /// Begins to apply what the log of a standby gets; once.
  ///
  /// @return null: it is none
  @Nullable FollowedLog follow(TableGuard guard);

  /// Timestamp of the commit of a primary that has made a table since the standby's start; 0: it is older, or there is no such table.
  long madeAt(long tableId);

  /// Changes the most memory for rows, versions and indexes; at once. If they have more, nobody gets any until they have less.
  ///
  /// @param bytes as in [StoreConfig]
  void memoryLimit(long bytes);

  /// Memory of a table; null: the table does not exist any more.
  @Nullable TableMemory memoryOf(long tableId);

  /// Transactions that the primary of a standby has prepared and not decided, which the standby leaves as they are; null: it is none.
  @Nullable List<Preparation> preparedByPrimary();

  /// Transactions that were prepared and not decided, also by earlier runs.
  List<StoreTransaction> prepared();

  /// @throws IllegalArgumentException if there is no such table
  TableStore table(long tableId);

  /// Readers in other processes believe only what was prepared for this version of the catalogue from now on.
  void definitions(long version);

  /// Descriptor of the file of the store's memory in this process; -1: nobody else can map it. Belongs to the store.
  int sharedMemory();

  /// Entries of the catalogue: opaque to the store, kept in the order of their keys.
  Map<String, byte[]> catalog();

  /// Sets the listener for committed catalogue changes. It gets them in their order, before the transaction ends, on the thread that
  /// commits it.
  void catalogListener(Consumer<List<CatalogChange>> listener);

  /// One change of the catalogue, made by [StoreTransaction#define].
  sealed interface CatalogChange {
    record Put(String key, byte[] value) implements CatalogChange {}

    record Remove(String key) implements CatalogChange {}

    record CreateTable(TableDefinition definition) implements CatalogChange {}

    record DropTable(long tableId) implements CatalogChange {}

    /// Builds the index from the rows that are there, while others write.
    record CreateIndex(long tableId, IndexDefinition index) implements CatalogChange {}

    record DropIndex(long tableId, long indexId) implements CatalogChange {}

    /// The noted position of a sequence is not needed any more.
    record ForgetSequence(long stateId) implements CatalogChange {}

    /// A sequence begins with a value that it has not given yet.
    record StartSequence(long stateId, long first) implements CatalogChange {}

    /// Says anew which columns refuse null and what indexes are called. A column of an index that refuses null stays so.
    record Redefine(TableDefinition definition) implements CatalogChange {}

    /// Gives a table other columns: drops, adds or moves them, without a look at its rows. No index may have a column that is dropped.
    ///
    /// @param definition the form to come, with the present indexes
    /// @param origins where each column comes from; empty: the definition says where they lie
    record Reshape(TableDefinition definition, List<Placement.Origin> origins)
        implements CatalogChange {}
  }

  /// Hands out numbers for tables and indexes. A number that a committed catalogue change has used is never given out again, also after a
  /// crash.
  long nextObjectId();

  /// Where a sequence stands, by the number of its state; null if nothing was noted yet. As of the store's opening, for states that are not
  /// given a new position.
  @Nullable SequencePosition sequencePosition(long stateId);

  /// Notes where a sequence stands, in the order of commits: it is durable before any commit that follows. Does not wait.
  ///
  /// @return number of the record, for [StoreTransaction#reliesOn]
  /// @throws EngineException if the log cannot be written now
  long putSequencePosition(long stateId, SequencePosition position);

  /// The table of this number, perhaps not committed yet; null: there is none.
  @Nullable TableStore findTable(long tableId);

  /// Whether there is a table of this number, perhaps not committed yet.
  default boolean hasTable(long tableId) {
    return findTable(tableId) != null;
  }

  /// Which threads may flush, besides the store's own, from now on.
  void blockingExecutor(BlockingExecutor executor);

  /// Outcomes of transactions of earlier runs, as recovery has found them.
  RecoveredOutcomes recoveredOutcomes();

  /// Calls back, from any thread, when all that has been committed before is durable; never if the store closes before.
  void whenAllDurable(Runnable done);

  /// The queues whose changes are in this store's log; null: it was opened without. The store closes them.
  @Nullable QueueSystem queues();

  /// Writes changes of queues that belong to no transaction, in the order of commits; see [QueueChanges.Writer].
  void writeQueues(QueueChanges changes, Consumer<@Nullable Throwable> done);

  /// Holds the files of the store as of a moment not before this call; see [dev.kakehashi.engine.api.Engine#backup()].
  Backup backup();

  @Override
  void close();
}
