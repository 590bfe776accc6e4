package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.GarbageCollector;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.table.StoreTables;
import dev.kakehashi.engine.store.version.CommitClock;
import dev.kakehashi.engine.store.version.StoreParts;
import dev.kakehashi.engine.store.version.TransactionSlots;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Begins the transactions of a store, and has what they share. Thread-safe.
public final class StoreTransactions {
  private final StoreParts parts;
  private final StoreTables tables;
  private final GarbageCollector collector;
  private final DurableLog log;
  private final Committer committer;
  private final LongTransactions longTransactions;
  private final PreparedRegistry prepared = new PreparedRegistry();
  private final CatalogEntries catalog = new CatalogEntries();

  /// Where sequences stand, by the numbers of their states.
  private final Map<Long, SequencePosition> sequences = new ConcurrentHashMap<>();

  private final AtomicLong nextTransaction = new AtomicLong(1);

  public StoreTransactions(
      StoreParts parts, StoreTables tables, GarbageCollector collector, DurableLog log) {
    this.parts = parts;
    this.tables = tables;
    this.collector = collector;
    this.log = log;
    this.committer = new Committer(this, parts, collector);
    this.longTransactions = new LongTransactions(parts.slots(), committer);
  }

  public StoreParts parts() {
    return parts;
  }

  public StoreTables tables() {
    return tables;
  }

  public GarbageCollector collector() {
    return collector;
  }

  public Committer committer() {
    return committer;
  }

  LongTransactions longTransactions() {
    return longTransactions;
  }

  public PreparedRegistry prepared() {
    return prepared;
  }

  public CatalogEntries catalog() {
    return catalog;
  }

  public Map<Long, SequencePosition> sequences() {
    return sequences;
  }

  DurableLog log() {
    return log;
  }

  /// See [DurableLog#queues].
  public @Nullable QueueSystem queues() {
    return log.queues();
  }

  /// See [DurableLog#hasRoom].
  boolean logHasRoom(Runnable whenReady) {
    return log.hasRoom(whenReady);
  }

  /// See [dev.kakehashi.engine.store.api.Store#beginLong].
  public RowTransaction beginLong(boolean serializable, StoreTransaction.LongArea area) {
    RowTransaction transaction = begin(false, serializable);
    transaction.admission().declare(area);
    return transaction;
  }

  /// See [dev.kakehashi.engine.store.api.Store#beginDeferrable].
  public RowTransaction beginDeferrable() {
    // It is watched from its first statement on, see SerializableTransactions.isSafe.
    return begin(true, false, true);
  }

  /// See [dev.kakehashi.engine.store.api.Store#begin].
  public RowTransaction begin(boolean readOnly, boolean serializable) {
    return begin(readOnly, serializable, false);
  }

  private RowTransaction begin(boolean readOnly, boolean serializable, boolean deferrable) {
    TransactionSlots slots = parts.slots();
    CommitClock clock = parts.clock();
    int slot = slots.claim(clock.published());
    long id = newId(slot);
    RowTransaction transaction =
        serializable
            ? committer.beginSerializable(id, slot, readOnly)
            : new RowTransaction(
                this, id, slot, clock.published(), readOnly, deferrable, null, null);
    transaction.bound();
    slots.own(slot, transaction);
    return transaction;
  }

  private long newId(int slot) {
    return TransactionSlots.transactionId(nextTransaction.getAndIncrement(), slot);
  }

  /// A transaction that an earlier run has prepared, without its writes.
  public RowTransaction recoverPrepared(PreparedCodec.Header header) {
    TransactionSlots slots = parts.slots();
    CommitClock clock = parts.clock();
    int slot = slots.claim(clock.published());
    long id = newId(slot);
    RowTransaction transaction =
        new RowTransaction(this, id, slot, clock.published(), false, false, header.reads(), null);
    slots.own(slot, transaction);
    transaction.recoverPrepared(header.preparation(), header.withLocks());
    if (header.reads() != null) {
      committer.guard(transaction);
    }
    return transaction;
  }

  /// A transaction has ended: its stamps are gone, its slot may have a new owner.
  void release(RowTransaction transaction) {
    if (transaction.noted() != null || transaction.isDeferrable()) {
      committer.leave(transaction);
    }
    transaction.endClaim();
    parts.slots().release(transaction.slot);
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
    prepared.checkNotInUse(table);
  }

  /// Frees something when everybody who may know it has ended.
  void freeLater(Runnable action) {
    Garbage garbage = new Garbage();
    garbage.addAction(action);
    committer.retire(garbage);
    collector.ready(garbage);
  }
}
