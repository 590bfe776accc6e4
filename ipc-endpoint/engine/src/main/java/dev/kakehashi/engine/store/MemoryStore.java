package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.BlockingExecutor;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.store.GarbageCollector.Garbage;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SegmentedLog;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
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
/// How the parts fit: [RowTable] has [Page]s and [TableIndex]es; [RowWriter] changes rows, [ScanCursor] and [IndexCursor] read them without latches;
/// [RowTransaction] lists its writes; [Committer] orders commits; [GroupCommit] makes them durable in that order through a [DurableLog];
/// [GarbageCollector] frees what no snapshot can see. Latches and locks are taken in this order, and none is held across a wait for another transaction:
///
/// collector's `freeing` → stripe of a unique index → page latch → index structure lock → index node latch → pool
///
/// Under the lock of the catalogue nothing is taken. The commit lock is taken with none of them held; under it come the durability thread's lock and nothing else.
final class MemoryStore implements Store {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryStore.class);
  private static final int SLOT_BITS = 16;

  /// Object identifiers that a change of the catalogue keeps free behind those that are in use.
  private static final int ID_BATCH = 64;

  /// How long close() waits for running transactions.
  private static final long CLOSE_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final MemoryPool pool;
  private final DurableLog log;
  private final TransactionSlots slots = new TransactionSlots();
  private final Readers chainReaders = new Readers();
  private final GroupCommit groupCommit;

  /// Written by recovery, before others have the store.
  private RecoveredOutcomes recoveredOutcomes = RecoveredOutcomes.NONE;

  private final GarbageCollector collector;
  private final Committer committer;
  private final LongTransactions longTransactions = new LongTransactions(this);
  private final AtomicLong nextTransaction = new AtomicLong(1);
  private final Map<Long, RowTable> tables = new ConcurrentHashMap<>();

  private final Map<Long, SequencePosition> sequences = new ConcurrentHashMap<>();

  private final Map<String, RowTransaction> prepared = new ConcurrentHashMap<>();

  /// Serialises changes of the catalogue; guards `catalog`, `nextId` and `closed`.
  private final Object catalogLock = new Object();

  private volatile Map<String, byte[]> catalog = Map.of();
  private volatile Consumer<List<CatalogChange>> catalogListener = changes -> {};
  private long nextId = 1;

  /// Only grows: by changes of the catalogue and by whoever frees for memory; read by each commit.
  private final AtomicLong commonTimestamp = new AtomicLong(Stamp.FIRST_TIMESTAMP);

  private volatile boolean closed;

  /// Null for one that is being checked.
  private volatile @Nullable Path directory;

  private final AtomicBoolean backingUp = new AtomicBoolean();

  interface LogOpener {
    DurableLog open(Path log, Path image);
  }

  private MemoryStore(MemoryPool pool, DurableLog log) {
    this.pool = pool;
    this.log = log;
    this.groupCommit = new GroupCommit(log);
    this.collector = new GarbageCollector(this, pool);
    this.committer = new Committer(this, groupCommit, collector);
  }

  static MemoryStore open(StoreConfig config) {
    return open(config, SegmentedLog::open);
  }

  /// @param opener opens or makes a log, in the first directory, and its base image, in the second: tests have smaller ones
  static MemoryStore open(StoreConfig config, LogOpener opener) {
    DataDirectory.prepare(config.directory());
    DurableLog log =
        opener.open(
            DataDirectory.log(config.directory()), DataDirectory.database(config.directory()));
    DataDirectory.upgrade(config.directory());
    MemoryStore store = open(log, config.memoryLimitBytes());
    store.directory = config.directory();
    return store;
  }

  /// Recovers a store from a log, which belongs to it from now on.
  static MemoryStore open(DurableLog log, long memoryLimitBytes) {
    MemoryPool pool = new MemoryPool(memoryLimitBytes);
    MemoryStore store = new MemoryStore(pool, log);
    store.collector.start();
    boolean recovered = false;
    try {
      // Rows that were there are there again, also if they take more memory than when they were
      // written, or the limit is lower now.
      pool.limited(false);
      new Recovery(store, log).run();
      pool.limited(true);
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

  MemoryPool pool() {
    return pool;
  }

  TransactionSlots slots() {
    return slots;
  }

  @Override
  public void whenAllDurable(Runnable done) {
    committer.whenAllDurable(done);
  }

  Committer committer() {
    return committer;
  }

  Readers chainReaders() {
    return chainReaders;
  }

  LongTransactions longTransactions() {
    return longTransactions;
  }

  GarbageCollector collector() {
    return collector;
  }

  long published() {
    return committer.published();
  }

  /// Timestamps up to here are seen by everybody who runs or will run.
  long horizon() {
    // Read before the slots are looked at, see TransactionSlots.
    long published = committer.published();
    return slots.horizon(published);
  }

  // ---- transactions ----

  @Override
  public StoreTransaction begin(boolean readOnly, boolean serializable) {
    return beginRows(readOnly, serializable, false);
  }

  @Override
  public StoreTransaction beginLong(boolean serializable, StoreTransaction.LongArea area) {
    RowTransaction transaction = beginRows(false, serializable, false);
    transaction.admission().declare(area);
    return transaction;
  }

  @Override
  public StoreTransaction beginDeferrable() {
    // It is watched from its first statement on, see SerializableTransactions.isSafe.
    return beginRows(true, false, true);
  }

  private RowTransaction beginRows(boolean readOnly, boolean serializable, boolean deferrable) {
    if (closed) {
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "store is closed");
    }
    int slot = slots.claim(committer.published());
    long id = nextTransaction.getAndIncrement() << SLOT_BITS | slot;
    RowTransaction transaction =
        serializable
            ? committer.beginSerializable(id, slot, readOnly)
            : new RowTransaction(
                this, id, slot, committer.published(), readOnly, deferrable, null, null);
    transaction.bound();
    slots.own(slot, transaction);
    return transaction;
  }

  /// A transaction that an earlier run has prepared, without its writes.
  RowTransaction recoverPrepared(PreparedCodec.Header header) {
    int slot = slots.claim(committer.published());
    long id = nextTransaction.getAndIncrement() << SLOT_BITS | slot;
    RowTransaction transaction =
        new RowTransaction(
            this, id, slot, committer.published(), false, false, header.reads(), null);
    slots.own(slot, transaction);
    transaction.recoverPrepared(header.preparation());
    if (header.reads() != null) {
      committer.guard(transaction);
    }
    return transaction;
  }

  void addPrepared(RowTransaction transaction) {
    prepared.put(globalId(transaction), transaction);
  }

  void removePrepared(RowTransaction transaction) {
    prepared.remove(globalId(transaction), transaction);
  }

  private static String globalId(RowTransaction transaction) {
    return Objects.requireNonNull(transaction.preparation()).globalId();
  }

  @Override
  public Usage usage() {
    long horizon = horizon();
    return new Usage(
        pool.limitBytes(),
        pool.reservedBytes(),
        pool.usedBytes(),
        collector.queuedWrites(),
        committer.published(),
        horizon);
  }

  @Override
  public void memoryLimit(long bytes) {
    StoreConfig.checkMemory(bytes);
    pool.limitBytes(bytes);
  }

  @Override
  public @Nullable TableMemory memoryOf(long tableId) {
    RowTransaction reader = beginRows(true, false, false);
    try {
      RowTable table = findTable(tableId);
      return table == null || table.isDropped() ? null : MemoryCount.of(table);
    } finally {
      reader.abort();
    }
  }

  @Override
  public List<StoreTransaction> prepared() {
    return List.copyOf(prepared.values());
  }

  /// @throws EngineException OBJECT_IN_USE if a prepared transaction has changed rows of the table, or a long one keeps it from others
  void checkNotInUse(RowTable table) {
    LongTransactions.Claim guard = longTransactions.guardOf(table.tableId());
    if (guard != null) {
      throw new EngineException(
              ErrorCode.OBJECT_IN_USE,
              "cannot drop or truncate a table that a long transaction preserves")
          .withDetail("It is preserved for long transaction %s.".formatted(guard.describe()))
          .withHint("Wait for its end, or roll it back. In that transaction itself, use DELETE.");
    }
    for (RowTransaction transaction : prepared.values()) {
      if (transaction.hasWritten(table)) {
        throw new EngineException(
                ErrorCode.OBJECT_IN_USE,
                "cannot drop or truncate a table that a prepared transaction has changed")
            .withDetail("Transaction \"%s\" is prepared.".formatted(globalId(transaction)))
            .withHint("Commit or roll back the prepared transaction first.");
      }
    }
  }

  static int slotOf(long transactionId) {
    return (int) transactionId & (1 << SLOT_BITS) - 1;
  }

  /// Where the reads of a view are noted; null unless its transaction is serializable, and somebody depends on what it reads.
  @Nullable ReadSet readSet(ReadView view) {
    RowTransaction owner = slots.owner(slotOf(view.transactionId()));
    if (owner == null || owner.id() != view.transactionId()) {
      return null;
    }
    ReadSet reads = owner.noted();
    return reads == null || view.snapshot() <= owner.snapshot() ? reads : reads.newest();
  }

  /// The running transaction of a slot has read what was committed up to a timestamp: its own end is not reported as durable before that is.
  void hasSeen(int slot, long timestamp) {
    if (committer.isDurableCommit(timestamp)) {
      return;
    }
    // If it has ended meanwhile, whoever has the slot now waits for more than he has read.
    RowTransaction owner = slots.owner(slot);
    if (owner != null) {
      owner.hasSeen(timestamp);
    }
  }

  /// Timestamp of the last commit that every transaction depends on, whatever it reads.
  long commonTimestamp() {
    return commonTimestamp.get();
  }

  /// From now on every transaction depends on the commits up to a timestamp. Called before anybody can see what they have changed in the catalogue, or not see any more what they
  /// have deleted.
  void concernsAll(long timestamp) {
    commonTimestamp.accumulateAndGet(timestamp, Math::max);
  }

  /// A transaction has ended: its stamps are gone, its slot may have a new owner.
  void release(RowTransaction transaction) {
    if (transaction.noted() != null || transaction.deferrable) {
      committer.leave(transaction);
    }
    transaction.endClaim();
    slots.release(transaction.slot);
  }

  // ---- tables and catalogue ----

  @Override
  public TableStore table(long tableId) {
    return rowTable(tableId);
  }

  private RowTable rowTable(long tableId) {
    RowTable table = tables.get(BoxedIds.of(tableId));
    if (table == null) {
      throw new IllegalArgumentException("no table " + tableId);
    }
    return table;
  }

  /// See [DurableLog#hasRoom].
  boolean logHasRoom(Runnable whenReady) {
    return log.hasRoom(whenReady);
  }

  @Override
  public Map<String, byte[]> catalog() {
    return catalog;
  }

  @Override
  public void catalogListener(Consumer<List<CatalogChange>> listener) {
    catalogListener = listener;
  }

  /// Changes of the catalogue are committed: its entries are the new ones.
  void publishCatalog(List<CatalogChange> changes) {
    synchronized (catalogLock) {
      Map<String, byte[]> entries = new TreeMap<>(catalog);
      for (CatalogChange change : changes) {
        if (change instanceof CatalogChange.Put put) {
          entries.put(put.key(), put.value());
        } else if (change instanceof CatalogChange.Remove remove) {
          entries.remove(remove.key());
        }
      }
      catalog = Collections.unmodifiableMap(entries);
      catalogListener.accept(changes);
    }
  }

  @Override
  public long nextObjectId() {
    synchronized (catalogLock) {
      return nextId++;
    }
  }

  /// Says in a record that changes the catalogue which numbers are given out.
  void reserveIds(LogRecord record) {
    long upTo;
    synchronized (catalogLock) {
      upTo = nextId + ID_BATCH;
    }
    record.put(StoreKeys.nextId(), ByteBuffer.allocate(8).putLong(upTo).array());
  }

  @Override
  public @Nullable SequencePosition sequencePosition(long stateId) {
    return sequences.get(stateId);
  }

  @Override
  public long putSequencePosition(long stateId, SequencePosition position) {
    LogRecord record = new LogRecord(32);
    record.put(StoreKeys.sequence(stateId), position.encoded());
    long number = committer.append(record);
    sequences.put(stateId, position);
    return number;
  }

  /// Takes over what recovery has found.
  void recovered(RecoveredOutcomes found) {
    recoveredOutcomes = found;
  }

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return recoveredOutcomes;
  }

  /// Takes over what recovery has found.
  void recoveredSequence(long stateId, SequencePosition position) {
    sequences.put(stateId, position);
  }

  void forgetSequence(long stateId) {
    sequences.remove(stateId);
  }

  @Override
  public boolean hasTable(long tableId) {
    return tables.containsKey(BoxedIds.of(tableId));
  }

  @Override
  public Backup backup() {
    Path home = Objects.requireNonNull(directory, "a store without a directory");
    if (!backingUp.compareAndSet(false, true)) {
      throw new EngineException(ErrorCode.OBJECT_IN_USE, "another backup is running");
    }
    boolean begun = false;
    try {
      Backup files = log.backup(DataDirectory.backupWorkspace(home));
      begun = true;
      return new StoreBackup(files, DataDirectory.formatFile(home), () -> backingUp.set(false));
    } finally {
      if (!begun) {
        backingUp.set(false);
      }
    }
  }

  RowTable addTable(TableDefinition definition) {
    RowTable table = new RowTable(this, definition);
    if (tables.putIfAbsent(definition.tableId(), table) != null) {
      throw new IllegalArgumentException("table %d exists".formatted(definition.tableId()));
    }
    return table;
  }

  @Nullable RowTable findTable(long tableId) {
    return tables.get(tableId);
  }

  void forgetTable(long tableId) {
    tables.remove(tableId);
  }

  /// Frees something when everybody who may know it has ended.
  void freeLater(Runnable action) {
    Garbage garbage = new Garbage();
    garbage.addAction(action);
    committer.retire(garbage);
    collector.ready(garbage);
  }

  /// Takes over what recovery has found.
  void recovered(Map<String, byte[]> entries, long firstFreeId) {
    synchronized (catalogLock) {
      catalog = Collections.unmodifiableMap(new TreeMap<>(entries));
      nextId = firstFreeId;
    }
  }

  List<RowTable> allTables() {
    return new ArrayList<>(tables.values());
  }

  /// Transactions that may still read.
  private int running() {
    return slots.running() - prepared.size();
  }

  @Override
  public void close() {
    synchronized (catalogLock) {
      if (closed) {
        return;
      }
      closed = true;
    }
    long deadline = System.nanoTime() + CLOSE_WAIT_NANOS;
    while (running() > 0 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(1_000_000);
    }
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
