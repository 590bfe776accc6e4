package dev.kakehashi.engine.store.recovery;

import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.durable.DefinitionCodec;
import dev.kakehashi.engine.store.durable.StoreImage;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.TreeLoad;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.transaction.PreparedCodec;
import dev.kakehashi.engine.store.transaction.RowTransaction;
import dev.kakehashi.engine.store.transaction.StoreTransactions;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Rebuilds the store in memory from its durable image: catalogue and definitions first, then the rows of all tables, with their indexes,
/// on all cores.
public final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

  /// Row identifiers per unit of work, as pages: large enough that seeking costs nothing, small enough to share.
  private static final long PAGES_PER_UNIT = 64;

  /// Parts that an index is merged in, for each thread; more than one, because they are not equal.
  private static final int MERGES_OF_THREAD = 4;

  private static final long MIN_SCRATCH_BYTES = 64 << 20;
  private static final long MAX_SCRATCH_BYTES = 256 << 20;

  /// For all loaders together.
  private static final long ALL_SCRATCH_BYTES = 512 << 20;

  /// Divisor of the store's memory: the loaders together get at most this part of it.
  private static final int SCRATCH_SHARE = 8;

  private final StoreTransactions store;
  private final DurableLog log;

  public Recovery(StoreTransactions store, DurableLog log) {
    this.store = store;
    this.log = log;
  }

  /// @param withPrepared whether prepared transactions come back; on a standby they wait for its promotion
  /// @return what became of transactions of earlier runs
  public RecoveredOutcomes run(boolean withPrepared) {
    long start = System.nanoTime();
    Map<String, byte[]> catalog = StoreImage.catalog(log);
    long[] firstFreeId = {1};
    scanKind(StoreKeys.NEXT_ID, (key, value) -> firstFreeId[0] = value.getLong());
    scanKind(
        StoreKeys.TABLE, (key, value) -> store.tables().add(definition(StoreImage.bytes(value))));
    store.sequences().putAll(StoreImage.sequences(log));
    RecoveredOutcomes outcomes = outcomes();
    store.catalog().recovered(catalog, firstFreeId[0]);
    loadTables();
    if (withPrepared) {
      loadPrepared();
    }
    store.tables().all().forEach(table -> table.pages.finishRecovery());
    List<RowTable> tables = store.tables().all();
    LOG.info(
        "recovered {} rows of {} tables in {} ms",
        tables.stream().mapToLong(RowTable::rowCount).sum(),
        tables.size(),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    return outcomes;
  }

  private RecoveredOutcomes outcomes() {
    Map<Integer, Long> commits = new HashMap<>();
    Map<Integer, RecoveredOutcomes.Decision> decisions = new HashMap<>();
    scanKind(
        StoreKeys.OUTCOME,
        (key, value) -> {
          long reference = value.getLong();
          int place = RecoveredOutcomes.place(reference);
          if (key.get(1) == StoreKeys.COMMITTED) {
            commits.put(place, reference);
          } else {
            decisions.put(place, new RecoveredOutcomes.Decision(reference, value.get() != 0));
          }
        });
    return new RecoveredOutcomes(Map.copyOf(commits), Map.copyOf(decisions), true);
  }

  /// Prepared transactions, as they were: their changes in flight on top of the committed rows.
  private void loadPrepared() {
    List<RowTransaction> current = new ArrayList<>(1);
    scanKind(
        StoreKeys.PREPARED,
        (key, value) -> {
          int transactionBytes = 2 + (key.get(1) & 0xFF);
          if (key.remaining() == transactionBytes) {
            current.clear();
            current.add(store.recoverPrepared(PreparedCodec.decode(value)));
          } else if (current.isEmpty()) {
            throw PreparedCodec.corrupted("changes without their transaction");
          } else if (key.remaining() == transactionBytes + StoreKeys.DEFINITION_KEY_BYTES) {
            // Before its rows, in the order of the keys.
            current.getFirst().redefine(change(StoreImage.bytes(value)));
          } else if (key.remaining() == transactionBytes + StoreKeys.QUEUE_KEY_BYTES
              && key.get(transactionBytes) == StoreKeys.QUEUE) {
            byte[] changes = StoreImage.bytes(value);
            current.getFirst().recoverQueues(queues().recovered(changes, 0, changes.length));
          } else if (key.remaining() == transactionBytes + StoreKeys.ROW_KEY_BYTES
              && key.get(transactionBytes) == StoreKeys.ROW_LOCKS) {
            current
                .getFirst()
                .recoverLocks(
                    store.tables().find(key.getLong(transactionBytes + 1)),
                    key.getLong(transactionBytes + 9),
                    value);
          } else if (key.remaining() == transactionBytes + StoreKeys.ROW_KEY_BYTES) {
            replay(
                current.getFirst(),
                key.getLong(transactionBytes + 1),
                key.getLong(transactionBytes + 9),
                value);
          } else {
            throw PreparedCodec.corrupted("unexpected key");
          }
        });
    int count = store.prepared().size();
    if (count > 0) {
      LOG.info("{} prepared transactions wait for their commit or rollback", count);
    }
  }

  private QueueSystem queues() {
    QueueSystem queues = store.queues();
    if (queues == null) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          "a prepared transaction has changes of queues, and the store is opened without queues");
    }
    return queues;
  }

  private void replay(RowTransaction transaction, long tableId, long rowId, ByteBuffer value) {
    RowTable table = store.tables().find(tableId);
    if (table == null) {
      return; // dropped in the moment when the transaction was prepared
    }
    RowVersion version = null;
    if (value.hasRemaining()) {
      version = new RowVersion(table.form.layout.columns);
      NativeInput input = NativeInput.of(value);
      try {
        table.form.decode(input, table.pool, version);
      } finally {
        Reference.reachabilityFence(input);
      }
    }
    table.replay(transaction, rowId, version);
  }

  /// A part of a table's rows, that one loader loads.
  private record Unit(RowTable table, long from, long to) {}

  private void loadTables() {
    List<Unit> units = new ArrayList<>();
    Map<TableIndex, TreeLoad> indexes = new HashMap<>();
    for (RowTable table : store.tables().all()) {
      for (TableIndex index : table.form.indexes()) {
        indexes.put(index, index.tree.load());
      }
      long count = (lastRow(table) >>> Page.SLOT_BITS) / PAGES_PER_UNIT + 1;
      for (long unit = 0; unit < count; unit++) {
        long from = (unit * PAGES_PER_UNIT) << Page.SLOT_BITS;
        long to = ((unit + 1) * PAGES_PER_UNIT) << Page.SLOT_BITS;
        units.add(new Unit(table, from, to));
      }
    }
    if (units.isEmpty()) {
      return;
    }
    int threads = Math.min(Runtime.getRuntime().availableProcessors(), units.size());
    AtomicInteger next = new AtomicInteger();
    List<Callable<Void>> loads =
        Collections.nCopies(
            threads,
            () -> {
              load(units, indexes, next, threads);
              return null;
            });
    try (ExecutorService executor =
        Executors.newFixedThreadPool(
            threads, task -> new Thread(task, "kakehashi-store-recovery"))) {
      runAll(executor, loads);
      // Indexes with the most entries come first, so that none of them is left when the others are
      // ready.
      List<TreeLoad> largestFirst =
          indexes.values().stream()
              .sorted(Comparator.comparingInt(TreeLoad::leaves).reversed())
              .toList();
      int parts = threads * MERGES_OF_THREAD;
      runAll(
          executor,
          largestFirst.stream()
              .flatMap(index -> index.merges(parts).stream())
              .map(Executors::callable)
              .toList());
      runAll(
          executor,
          largestFirst.stream().map(index -> Executors.callable(index::complete)).toList());
      List<Callable<Object>> longKeys = new ArrayList<>();
      for (RowTable table : store.tables().all()) {
        for (TableIndex index : table.form.indexes()) {
          long[] rows = Objects.requireNonNull(indexes.get(index)).later();
          if (rows.length > 0) {
            longKeys.add(Executors.callable(() -> enterLongKeys(table, index, rows)));
          }
        }
      }
      runAll(executor, longKeys);
    }
  }

  /// Makes the entries of rows whose keys are too long for leaves that are built of runs.
  private static void enterLongKeys(RowTable table, TableIndex index, long[] rows) {
    RowVersion version = new RowVersion(table.form.layout.columns);
    KeyBuffer key = new KeyBuffer(64);
    for (long rowId : rows) {
      Page page = Objects.requireNonNull(table.page(rowId >>> Page.SLOT_BITS));
      version.readHead(page, Page.slotOf(rowId));
      index.encode(version, key);
      index.complete(key, rowId);
      index.tree.insert(key);
    }
  }

  private void load(
      List<Unit> units, Map<TableIndex, TreeLoad> indexes, AtomicInteger next, int threads) {
    boolean loaded = false;
    try (RowLoader loader =
        new RowLoader(log, store.parts().pool(), indexes, scratchBytes(threads))) {
      for (int i = next.getAndIncrement(); i < units.size(); i = next.getAndIncrement()) {
        Unit unit = units.get(i);
        loader.load(unit.table(), unit.from(), unit.to());
      }
      loader.finish();
      loaded = true;
    } finally {
      if (!loaded) {
        next.set(units.size()); // nothing becomes of what the others would load
      }
    }
  }

  /// Bytes that a loader collects entries in. The larger, the fewer times it comes to each leaf of an index whose keys are in no order; but
  /// whoever gives the store little memory has little beside it.
  private long scratchBytes(int loaders) {
    long least = Math.min(MIN_SCRATCH_BYTES, ALL_SCRATCH_BYTES / loaders);
    long share =
        Math.min(ALL_SCRATCH_BYTES, store.parts().pool().limitBytes() / SCRATCH_SHARE) / loaders;
    return Math.max(least, Math.min(MAX_SCRATCH_BYTES, share));
  }

  private static <T> void runAll(ExecutorService executor, List<Callable<T>> work) {
    try {
      for (Future<T> future : executor.invokeAll(work)) {
        future.get();
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR, "could not recover the store", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(ErrorCode.QUERY_CANCELED, "interrupted during recovery", e);
    }
  }

  private long lastRow(RowTable table) {
    return log.lastKey(StoreKeys.row(table.tableId(), 0), StoreKeys.row(table.tableId() + 1, 0))
        .map(key -> ByteBuffer.wrap(key).getLong(9))
        .orElse(0L);
  }

  private void scanKind(int kind, DurableLog.Visitor visitor) {
    StoreImage.scanKind(log, kind, visitor);
  }

  private static TableDefinition definition(byte[] bytes) {
    try {
      return DefinitionCodec.decode(bytes);
    } catch (IOException e) {
      throw corrupted("a table definition", e);
    }
  }

  private static Store.CatalogChange change(byte[] bytes) {
    try {
      return DefinitionCodec.decodeChange(bytes);
    } catch (IOException e) {
      throw corrupted("a change of the catalogue", e);
    }
  }

  private static EngineException corrupted(String what, IOException reason) {
    return new EngineException(
        ErrorCode.DATA_CORRUPTED,
        "store is corrupted: " + what + " cannot be read: " + reason.getMessage(),
        reason);
  }
}
