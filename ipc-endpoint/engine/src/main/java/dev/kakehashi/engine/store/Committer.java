package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.GarbageCollector.Garbage;
import dev.kakehashi.engine.store.GroupCommit.Pending;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.log.LogRecord;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Gives commits their order.
///
/// Under one lock, held for a few hundred nanoseconds: validate (serializable transactions), take the next timestamp, write it
/// into the transaction's slot, put the record into the queue of the durability thread, publish the timestamp. So timestamps,
/// log and visibility have one order, and:
///
/// * `published` is written here only, under the lock, after the slot's commit timestamp (both volatile). A snapshot is a read of
///   `published`: whoever reads timestamp t finds the commit timestamps of all transactions up to t, so it sees all of a commit or nothing,
///   although the rows are stamped later.
/// * `serializableRunning` is counted up under the lock together with the reading of the snapshot: a commit after that
///   snapshot keeps its list of writes for validation.
final class Committer {
  private final MemoryStore store;
  private final GroupCommit groupCommit;
  private final GarbageCollector collector;
  private long lastTimestamp = MemoryStore.FIRST_TIMESTAMP;
  private int serializableRunning;
  private volatile long published = MemoryStore.FIRST_TIMESTAMP;

  /// What became of a commit.
  ///
  /// @param refused why it was not made; the other fields mean nothing then
  record Outcome(
      long timestamp,
      @Nullable Garbage garbage,
      @Nullable Pending pending,
      @Nullable Throwable refused) {}

  Committer(MemoryStore store, GroupCommit groupCommit, GarbageCollector collector) {
    this.store = store;
    this.groupCommit = groupCommit;
    this.collector = collector;
  }

  long published() {
    return published;
  }

  synchronized long beginSerializable() {
    serializableRunning++;
    return published;
  }

  synchronized void endSerializable() {
    serializableRunning--;
  }

  Outcome commit(
      RowTransaction transaction,
      LogRecord record,
      boolean stored,
      Consumer<@Nullable Throwable> done) {
    long validated = transaction.snapshot();
    ReadSet reads = transaction.readSet;
    if (reads != null) {
      validated = transaction.pinnedSnapshot();
      // Most of the work outside the lock; inside only what was committed meanwhile.
      long upTo = published;
      if (!isUnchanged(reads, validated, upTo)) {
        return refuse(
            new RowConflict(RowConflict.Kind.CHANGED_SINCE_SNAPSHOT, RowTransaction.ENDED));
      }
      validated = upTo;
    }
    synchronized (this) {
      EngineException failure = groupCommit.failure();
      if (failure != null) {
        return refuse(failure);
      }
      if (reads != null && !isUnchanged(reads, validated, published)) {
        return refuse(
            new RowConflict(RowConflict.Kind.CHANGED_SINCE_SNAPSHOT, RowTransaction.ENDED));
      }
      int others = serializableRunning - (reads != null ? 1 : 0);
      Pending pending;
      try {
        pending = groupCommit.enqueue(record, stored, done);
      } catch (EngineException e) {
        return refuse(e);
      }
      Garbage garbage = transaction.commitGarbage(others > 0);
      long timestamp = ++lastTimestamp;
      store.slots().setCommitTimestamp(transaction.slot, timestamp);
      if (garbage != null) {
        collector.add(garbage, timestamp);
      }
      published = timestamp;
      return new Outcome(timestamp, garbage, pending, null);
    }
  }

  /// Puts a record that concerns no rows into the order; `done` hears of its durability.
  void append(LogRecord record, Consumer<@Nullable Throwable> done) {
    Pending pending;
    synchronized (this) {
      EngineException failure = groupCommit.failure();
      if (failure != null) {
        throw failure;
      }
      pending = groupCommit.enqueue(record, true, done);
    }
    groupCommit.finished(pending);
  }

  private static Outcome refuse(Throwable reason) {
    return new Outcome(0, null, null, reason);
  }

  /// The transaction of the outcome is over: reports it if the log has it too.
  void finished(Outcome outcome) {
    Pending pending = outcome.pending();
    if (pending != null) {
      groupCommit.finished(pending);
    }
  }

  /// Gives what an aborted transaction (or dropped table) leaves a place in the order: who may still read it began before.
  synchronized void retire(Garbage garbage) {
    long timestamp = ++lastTimestamp;
    collector.add(garbage, timestamp);
    published = timestamp;
  }

  /// Whether no row that was read has changed in commits with timestamps in `(after, upTo]`.
  private boolean isUnchanged(ReadSet reads, long after, long upTo) {
    if (after == upTo || reads.isEmpty()) {
      return true;
    }
    RowReader reader = new RowReader(store);
    KeyBuffer key = new KeyBuffer(64);
    for (Garbage garbage : collector.pending()) {
      long timestamp = garbage.timestamp();
      if (timestamp <= after || timestamp > upTo) {
        continue;
      }
      for (int i = 0; i < garbage.writes(); i++) {
        Page page = garbage.page(i);
        long tableId = page.table.tableId();
        if (reads.hasTable(tableId)) {
          return false;
        }
        for (ReadSet.Range range : reads.ranges(tableId)) {
          if (reader.touches(page, garbage.rowSlot(i), timestamp, range, key)) {
            return false;
          }
        }
      }
    }
    return true;
  }
}
