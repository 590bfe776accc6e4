package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.FollowedLog;
import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.SynchronousConfig;
import dev.kakehashi.engine.store.api.TableGuard;
import dev.kakehashi.engine.store.api.TableMemory;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.durable.GroupCommit;
import dev.kakehashi.engine.store.durable.StoreBackup;
import dev.kakehashi.engine.store.garbage.GarbageCollector;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.LogQueues;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SegmentedLog;
import dev.kakehashi.engine.store.log.StandbyLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.engine.store.memory.SharedArea;
import dev.kakehashi.engine.store.memory.StoreHead;
import dev.kakehashi.engine.store.recovery.LogFollower;
import dev.kakehashi.engine.store.recovery.Recovery;
import dev.kakehashi.engine.store.table.MemoryCount;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.table.StoreTables;
import dev.kakehashi.engine.store.transaction.StoreTransactions;
import dev.kakehashi.engine.store.version.CommitClock;
import dev.kakehashi.engine.store.version.StoreParts;
import dev.kakehashi.engine.store.version.TransactionSlots;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The store: rows and versions in memory, a durable image beside them.
///
/// How the parts fit: [RowTable] has [dev.kakehashi.engine.store.row.Page]s and [dev.kakehashi.engine.store.row.TableIndex]es;
/// [dev.kakehashi.engine.store.table.RowWriter] changes rows, [dev.kakehashi.engine.store.table.ScanCursor] and
/// [dev.kakehashi.engine.store.table.IndexCursor] read them without latches; [dev.kakehashi.engine.store.transaction.RowTransaction] lists
/// its writes; [dev.kakehashi.engine.store.transaction.Committer] orders commits; [GroupCommit] makes them durable in that order through a
/// [DurableLog]; [GarbageCollector] frees what no snapshot can see. Latches and locks are taken in this order, and none is held across a
/// wait for another transaction:
///
/// collector's `freeing` → stripe of a unique index → page latch → index structure lock → index node latch → pool
///
/// A change of the catalogue takes the order of catalogue commits before the commit lock. Under the catalogue's lock only the queues' lock
/// is taken, by [dev.kakehashi.engine.api.queue.QueueSystem#define]. The commit lock is taken with none of them held, and not with the
/// queues' lock; under it come the durability thread's lock, under which queue changes are placed, and nothing else.
final class MemoryStore implements Store {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryStore.class);

  /// How long close() waits for running transactions.
  private static final long CLOSE_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final MemoryPool pool;
  private final DurableLog log;
  private final GroupCommit groupCommit;
  private final StoreParts parts;
  private final GarbageCollector collector;
  private final StoreTables tables;
  private final StoreTransactions transactions;

  /// Written by recovery, before others have the store.
  private RecoveredOutcomes recoveredOutcomes = RecoveredOutcomes.NONE;

  private volatile boolean closed;

  /// Null: it is no standby's.
  private volatile @Nullable LogFollower follower;

  /// Null for one that is being checked.
  private volatile @Nullable Path directory;

  private final AtomicBoolean backingUp = new AtomicBoolean();
  private final AtomicLong backups = new AtomicLong();
  private volatile long lastBackupMillis;

  interface LogOpener {
    /// @param queues null: there are none
    DurableLog open(Path log, Path image, @Nullable LogQueues queues);
  }

  private MemoryStore(MemoryPool pool, DurableLog log) {
    this.pool = pool;
    this.log = log;
    this.groupCommit = new GroupCommit(log, pool.head());
    this.parts =
        new StoreParts(
            pool, new Readers(), new TransactionSlots(), new CommitClock(pool.head()), groupCommit);
    this.collector = new GarbageCollector(parts);
    this.tables = new StoreTables(parts, collector);
    this.transactions = new StoreTransactions(parts, tables, collector, log);
  }

  static MemoryStore open(StoreConfig config) {
    return open(
        config, (log, image, queues) -> SegmentedLog.open(log, image, queues, config.archive()));
  }

  private static @Nullable StandbyLog followed(StoreConfig config, DurableLog log) {
    return config.isStandby() ? new StandbyLog((SegmentedLog) log) : null;
  }

  /// @param opener opens or makes a log, in the first directory, and its base image, in the second: tests have smaller ones
  static MemoryStore open(StoreConfig config, LogOpener opener) {
    DataDirectory.prepare(config.directory());
    QueueOpener queues = config.queues();
    DurableLog log =
        opener.open(
            DataDirectory.log(config.directory()),
            DataDirectory.database(config.directory()),
            queues == null
                ? null
                : new LogQueues(DataDirectory.queues(config.directory()), queues));
    DataDirectory.upgrade(config.directory());
    MemoryStore store =
        open(log, config.memoryLimitBytes(), followed(config, log), config.isShared());
    store.directory = config.directory();
    return store;
  }

  /// Recovers a store from a log, which belongs to it from now on.
  static MemoryStore open(DurableLog log, long memoryLimitBytes) {
    return open(log, memoryLimitBytes, null, false);
  }

  /// @param followed of a standby's log; null: it is none
  private static MemoryStore open(
      DurableLog log, long memoryLimitBytes, @Nullable StandbyLog followed, boolean isShared) {
    MemoryPool pool =
        isShared
            ? new MemoryPool(memoryLimitBytes, new SharedArea(memoryLimitBytes))
            : new MemoryPool(memoryLimitBytes);
    MemoryStore store = new MemoryStore(pool, log);
    store.collector.start();
    boolean recovered = false;
    try {
      // Rows that were there are there again, also if they take more memory than when they were
      // written, or the limit is lower now.
      pool.limited(false);
      store.recoveredOutcomes = new Recovery(store.transactions, log).run(followed == null);
      // A standby applies all that its primary had room for, whatever readers keep.
      pool.limited(followed == null);
      store.follower = followed == null ? null : new LogFollower(store.transactions, followed, log);
      recovered = true;
    } finally {
      if (!recovered) {
        store.close();
      }
    }
    return store;
  }

  @Override
  public void blockingExecutor(BlockingExecutor executor) {
    groupCommit.blockingExecutor(executor);
  }

  @Override
  public void whenAllDurable(Runnable done) {
    transactions.committer().whenAllDurable(done);
  }

  @Override
  public void definitions(long version) {
    StoreHead head = pool.head();
    if (head != null) {
      head.definitions(version);
    }
  }

  @Override
  public int sharedMemory() {
    return pool.sharedMemory();
  }

  MemoryPool pool() {
    return pool;
  }

  GarbageCollector collector() {
    return collector;
  }

  StoreTransactions transactions() {
    return transactions;
  }

  // ---- transactions ----

  @Override
  public StoreTransaction begin(boolean readOnly, boolean serializable) {
    checkOpen();
    return transactions.begin(readOnly, serializable);
  }

  @Override
  public StoreTransaction beginLong(boolean serializable, StoreTransaction.LongArea area) {
    checkOpen();
    return transactions.beginLong(serializable, area);
  }

  @Override
  public StoreTransaction beginDeferrable() {
    checkOpen();
    return transactions.beginDeferrable();
  }

  private void checkOpen() {
    if (closed) {
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "store is closed");
    }
  }

  @Override
  public Usage usage() {
    long horizon = parts.horizon();
    return new Usage(
        pool.limitBytes(),
        pool.reservedBytes(),
        pool.usedBytes(),
        collector.queuedWrites(),
        parts.clock().published(),
        horizon);
  }

  @Override
  public DiskUse diskUse() {
    DurableLog.Activity activity = log.activity();
    long total = 0;
    long free = 0;
    Path home = directory;
    if (home != null) {
      try {
        FileStore disk = Files.getFileStore(home);
        total = disk.getTotalSpace();
        free = disk.getUsableSpace();
      } catch (IOException e) {
        LOG.debug("the file system of the store does not say its size", e);
      }
    }
    return new DiskUse(
        activity.groups(),
        activity.records(),
        activity.nanos(),
        activity.bytes(),
        activity.segments(),
        activity.unappliedBytes(),
        activity.checkpoints(),
        activity.lastCheckpointMillis(),
        backups.get(),
        lastBackupMillis,
        total,
        free);
  }

  @Override
  public @Nullable LogStatus logStatus() {
    LogStatus status = log.status();
    LogFollower following = follower;
    return status == null || following == null ? status : status.with(following.status());
  }

  @Override
  public void synchronous(@Nullable SynchronousConfig config) {
    groupCommit.waitsForOthers(config != null);
    log.synchronous(config);
  }

  @Override
  public void closing() {
    log.closing();
  }

  @Override
  public void standbyBacklog(long bytes) {
    log.standbyBacklog(bytes);
  }

  @Override
  public String timelines() {
    return log.timelines();
  }

  @Override
  public @Nullable FollowedLog follow(TableGuard guard) {
    LogFollower following = follower;
    if (following != null) {
      following.start(guard);
    }
    return following;
  }

  @Override
  public long madeAt(long tableId) {
    RowTable table = tables.find(tableId);
    return table == null ? 0 : table.madeAt();
  }

  /// @throws EngineException READ_ONLY_TRANSACTION
  private void refuseOnStandby(String what) {
    if (follower != null) {
      throw new EngineException(ErrorCode.READ_ONLY_TRANSACTION, what + " on a standby");
    }
  }

  @Override
  public LogFeed feed(LogRequest request) throws IOException {
    refuseOthersOfStandby();
    return log.feed(request);
  }

  private void refuseOthersOfStandby() {
    if (follower != null) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE, "this endpoint is a standby itself")
          .withHint("Let the other standby follow the primary.");
    }
  }

  @Override
  public void keepLogFor(String standby) throws IOException {
    refuseOthersOfStandby();
    log.keepFor(standby);
  }

  @Override
  public void memoryLimit(long bytes) {
    StoreConfig.checkMemory(bytes);
    pool.limitBytes(bytes);
  }

  @Override
  public @Nullable TableMemory memoryOf(long tableId) {
    StoreTransaction reader = begin(true, false);
    try {
      RowTable table = tables.find(tableId);
      return table == null || table.isDropped() ? null : MemoryCount.of(table);
    } finally {
      reader.abort();
    }
  }

  @Override
  public @Nullable List<Preparation> preparedByPrimary() {
    LogFollower following = follower;
    return following == null ? null : following.prepared();
  }

  @Override
  public List<StoreTransaction> prepared() {
    return transactions.prepared().all();
  }

  // ---- tables and catalogue ----

  @Override
  public TableStore table(long tableId) {
    return tables.require(tableId);
  }

  @Override
  public Map<String, byte[]> catalog() {
    return transactions.catalog().entries();
  }

  @Override
  public void catalogListener(Consumer<List<CatalogChange>> listener) {
    transactions.catalog().listener(listener);
  }

  @Override
  public long nextObjectId() {
    return transactions.catalog().nextObjectId();
  }

  @Override
  public @Nullable SequencePosition sequencePosition(long stateId) {
    return transactions.sequences().get(stateId);
  }

  @Override
  public long putSequencePosition(long stateId, SequencePosition position) {
    refuseOnStandby("cannot use sequences");
    LogRecord record = new LogRecord(32);
    record.put(StoreKeys.sequence(stateId), position.encoded());
    long number = transactions.committer().append(record);
    transactions.sequences().put(stateId, position);
    return number;
  }

  @Override
  public @Nullable QueueSystem queues() {
    // On a standby they follow the log, and nobody uses them.
    return follower == null ? log.queues() : null;
  }

  @Override
  public void writeQueues(QueueChanges changes, Consumer<@Nullable Throwable> done) {
    transactions.committer().writeQueues(changes, done);
  }

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return recoveredOutcomes;
  }

  @Override
  public @Nullable TableStore findTable(long tableId) {
    return tables.find(tableId);
  }

  @Override
  public Backup backup() {
    refuseOnStandby("cannot make a backup");
    Path home = Objects.requireNonNull(directory, "a store without a directory");
    if (!backingUp.compareAndSet(false, true)) {
      throw new EngineException(ErrorCode.OBJECT_IN_USE, "another backup is running");
    }
    boolean begun = false;
    try {
      Backup files = log.backup(DataDirectory.backupWorkspace(home));
      begun = true;
      backups.incrementAndGet();
      lastBackupMillis = System.currentTimeMillis();
      return new StoreBackup(files, DataDirectory.formatFile(home), () -> backingUp.set(false));
    } finally {
      if (!begun) {
        backingUp.set(false);
      }
    }
  }

  /// Transactions that may still read.
  private int running() {
    return parts.slots().running() - transactions.prepared().size();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    LogFollower following = follower;
    if (following != null) {
      following.close();
    }
    long deadline = System.nanoTime() + CLOSE_WAIT_NANOS;
    while (running() > 0 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(1_000_000);
    }
    // A commit that waits for a standby is told to nobody any more.
    closing();
    groupCommit.close();
    collector.close();
    log.close();
    if (running() > 0) {
      // A cursor that is read after its memory is unmapped would take the whole process down.
      LOG.warn("store is closed with {} transactions running; its memory stays mapped", running());
    } else {
      pool.close();
    }
  }
}
