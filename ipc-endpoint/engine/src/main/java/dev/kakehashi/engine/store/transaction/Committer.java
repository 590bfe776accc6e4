package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.durable.GroupCommit;
import dev.kakehashi.engine.store.durable.GroupCommit.Pending;
import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.GarbageCollector;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.version.CommitClock;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.StoreParts;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives commits their order.
///
/// Under one lock, held for a few hundred nanoseconds: validate (serializable transactions), take the next timestamp, write it
/// into the transaction's slot, put the record into the queue of the durability thread, publish the timestamp. So timestamps,
/// log and visibility have one order, and:
///
/// * [CommitClock#published] is written here only, under the lock, after the slot's commit timestamp (both volatile). A snapshot is a read
///   of `published`: a reader of timestamp t finds the commit timestamps of all transactions up to t, so it sees all of a commit or
///   nothing, although the rows are stamped later.
/// * A serializable transaction takes its snapshot and its place in [SerializableTransactions] under the lock: a commit after that snapshot
///   keeps its list of writes for validation.
public final class Committer {
  private static final Logger LOG = LoggerFactory.getLogger(Committer.class);

  private final StoreTransactions store;
  private final StoreParts parts;
  private final CommitClock clock;
  private final GroupCommit groupCommit;
  private final GarbageCollector collector;
  private long lastTimestamp = Stamp.FIRST_TIMESTAMP;
  private final SerializableTransactions serializable = new SerializableTransactions();

  /// Prepared transactions that are serializable. Each has been validated when it was prepared, and stays valid: no serializable
  /// transaction that changes what it has read commits before it is decided. Replaced under the lock.
  private volatile List<RowTransaction> prepared = List.of();

  /// Outcome of a commit.
  ///
  /// @param refused why it was not made; the other fields mean nothing then
  record Outcome(
      long timestamp,
      @Nullable Garbage garbage,
      @Nullable Pending pending,
      @Nullable Throwable refused) {}

  Committer(StoreTransactions store, StoreParts parts, GarbageCollector collector) {
    this.store = store;
    this.parts = parts;
    this.clock = parts.clock();
    this.groupCommit = parts.groupCommit();
    this.collector = collector;
  }

  /// @param readOnly it is never refused, and others are if they would have to be
  synchronized RowTransaction beginSerializable(long id, int slot, boolean readOnly) {
    boolean observed = readOnly && serializable.mattersTo();
    RowTransaction transaction =
        new RowTransaction(
            store,
            id,
            slot,
            clock.published(),
            readOnly,
            false,
            readOnly ? null : new ReadSet(),
            observed ? new ReadSet() : null);
    if (!readOnly) {
      serializable.begin(transaction);
    } else if (observed) {
      serializable.beginReader(transaction);
    }
    return transaction;
  }

  /// See [SerializableTransactions#isSafe].
  synchronized boolean isSafe(RowTransaction deferrable, Runnable news) {
    return serializable.isSafe(deferrable, news);
  }

  /// See [SerializableTransactions#waitedFor].
  synchronized List<Long> waitedFor(RowTransaction deferrable) {
    return serializable.waitedFor(deferrable);
  }

  /// Prepared transactions whose reads have to stay valid.
  List<RowTransaction> preparedReaders() {
    return prepared;
  }

  /// Does something between two commits.
  synchronized void inOrder(Runnable action) {
    action.run();
  }

  /// A transaction has ended whose reads were noted, or does so without a commit.
  synchronized void leave(RowTransaction transaction) {
    ReadSet reads = transaction.noted();
    if (transaction.readOnly && reads != null) {
      // The rows that it has given out count, however it ends.
      serializable.ended(transaction, reads, transaction.snapshot(), Garbage.NOBODY);
    } else {
      serializable.leave(transaction);
    }
  }

  /// Validates a transaction that has changed nothing and commits.
  ///
  /// @return why it is refused; null: it is not
  @Nullable RowConflict commitReader(RowTransaction transaction) {
    ReadSet reads = transaction.readSet;
    if (reads == null || reads.isEmpty()) {
      return null;
    }
    CommitValidation validation = validation(transaction);
    if (!validation.begin()) {
      return validation.conflict();
    }
    synchronized (this) {
      if (!validation.finish()) {
        return validation.conflict();
      }
      boolean isLong = transaction.claim() != null;
      serializable.ended(
          transaction, reads, isLong ? clock.published() : transaction.snapshot(), Garbage.NOBODY);
      return null;
    }
  }

  private CommitValidation validation(RowTransaction transaction) {
    return new CommitValidation(transaction, parts, collector, serializable, this::preparedReaders);
  }

  Outcome commit(
      RowTransaction transaction,
      LogRecord record,
      boolean stored,
      Consumer<@Nullable Throwable> done) {
    CommitValidation validation = validation(transaction);
    if (!validation.begin()) {
      return refuse(validation.conflict());
    }
    EngineException full = reserve(record.length(), 0);
    if (full != null) {
      return refuse(full);
    }
    Outcome outcome;
    synchronized (this) {
      outcome =
          validation.finish()
              ? enter(transaction, record, stored, done, validation.overtakenBy())
              : refuse(validation.conflict());
    }
    if (outcome.refused() != null) {
      groupCommit.reserve(0, record.length());
    }
    return outcome;
  }

  /// Promises room in the log, before anybody can see what the record commits.
  ///
  /// @return why there is none; null: it is promised
  private @Nullable EngineException reserve(int length, int instead) {
    try {
      groupCommit.reserve(length, instead);
      return null;
    } catch (EngineException full) {
      return full;
    }
  }

  /// Gives a transaction its place in the order; under the lock.
  private Outcome enter(
      RowTransaction transaction,
      LogRecord record,
      boolean stored,
      Consumer<@Nullable Throwable> done,
      long overtakenBy) {
    Outcome enqueued = enqueue(record, lastTimestamp + 1, stored, done);
    if (enqueued.refused() != null) {
      return enqueued;
    }
    Garbage garbage = transaction.commitGarbage(serializable.runsBeside(transaction));
    long timestamp = ++lastTimestamp;
    parts.slots().setCommitTimestamp(transaction.slot, timestamp);
    ReadSet reads = transaction.readSet;
    if (reads != null) {
      serializable.ended(transaction, reads, timestamp, overtakenBy);
    }
    if (garbage != null) {
      garbage.overtakenBy(overtakenBy);
      collector.add(garbage, timestamp);
    }
    clock.publish(timestamp);
    return new Outcome(timestamp, garbage, enqueued.pending(), null);
  }

  /// Puts a record into the queue of the durability thread, unless that has failed lately; under the lock.
  ///
  /// @param timestamp of the record's commit, or of the last one before it
  private Outcome enqueue(
      LogRecord record, long timestamp, boolean stored, Consumer<@Nullable Throwable> done) {
    EngineException failure = groupCommit.failure();
    if (failure != null) {
      return refuse(failure);
    }
    try {
      return new Outcome(0, null, groupCommit.enqueue(record, timestamp, stored, done), null);
    } catch (EngineException e) {
      return refuse(e);
    }
  }

  /// Gives what the log has already its place in the order.
  synchronized Outcome applied(RowTransaction transaction) {
    Garbage garbage = transaction.commitGarbage(false);
    long timestamp = ++lastTimestamp;
    parts.slots().setCommitTimestamp(transaction.slot, timestamp);
    if (garbage != null) {
      collector.add(garbage, timestamp);
    }
    groupCommit.hasAlready(timestamp);
    clock.publish(timestamp);
    return new Outcome(timestamp, garbage, null, null);
  }

  // ---- two-phase commit ----

  /// Validates a transaction, once for all, and puts the record of its preparation into the order. It commits later at a timestamp of that
  /// time.
  ///
  /// @param decisionBytes room in the log that is kept for the record of its decision, which nothing may refuse
  Outcome prepare(
      RowTransaction transaction,
      LogRecord record,
      int decisionBytes,
      Consumer<@Nullable Throwable> done) {
    CommitValidation validation = validation(transaction);
    if (!validation.begin()) {
      return refuse(validation.conflict());
    }
    EngineException full = reserve(record.length(), 0);
    if (full != null) {
      return refuse(full);
    }
    full = reserve(decisionBytes, 0);
    if (full != null) {
      groupCommit.reserve(0, record.length());
      return refuse(full);
    }
    Outcome outcome = prepareInOrder(validation, transaction, record, done);
    if (outcome.refused() != null) {
      groupCommit.reserve(0, record.length());
      groupCommit.reserve(0, decisionBytes);
    }
    return outcome;
  }

  private Outcome prepareInOrder(
      CommitValidation validation,
      RowTransaction transaction,
      LogRecord record,
      Consumer<@Nullable Throwable> done) {
    synchronized (this) {
      if (!validation.finish()) {
        return refuse(validation.conflict());
      }
      if (validation.overtakenBy() != Garbage.NOBODY) {
        // Nobody could refuse it later.
        return refuse(validation.conflict());
      }
      RowConflict preserved = store.longTransactions().refusesPrepared(transaction);
      if (preserved != null) {
        return refuse(preserved);
      }
      Outcome outcome = enqueue(record, lastTimestamp, true, done);
      if (outcome.refused() == null && transaction.readSet != null) {
        serializable.leave(transaction);
        guard(transaction);
      }
      return outcome;
    }
  }

  /// From now on nobody changes what the prepared transaction has read.
  synchronized void guard(RowTransaction transaction) {
    List<RowTransaction> more = new ArrayList<>(prepared);
    more.add(transaction);
    prepared = List.copyOf(more);
  }

  private void unguard(RowTransaction transaction) {
    if (transaction.readSet != null) {
      List<RowTransaction> fewer = new ArrayList<>(prepared);
      fewer.remove(transaction);
      prepared = List.copyOf(fewer);
    }
  }

  /// Commits a prepared transaction. Refused only by a log that cannot be written.
  ///
  /// @param decisionBytes room that has been kept for the record; 0: none
  Outcome commitPrepared(
      RowTransaction transaction,
      LogRecord record,
      int decisionBytes,
      boolean stored,
      Consumer<@Nullable Throwable> done) {
    EngineException full = reserve(record.length(), decisionBytes);
    if (full != null) {
      return refuse(full);
    }
    Outcome outcome;
    synchronized (this) {
      outcome = enter(transaction, record, stored, done, Garbage.NOBODY);
      if (outcome.refused() == null) {
        unguard(transaction);
      }
    }
    return keepRoom(outcome, record, decisionBytes);
  }

  /// A decision that was refused is asked for again.
  private Outcome keepRoom(Outcome outcome, LogRecord record, int decisionBytes) {
    if (outcome.refused() != null && reserve(decisionBytes, record.length()) != null) {
      groupCommit.reserve(0, record.length());
    }
    return outcome;
  }

  /// Removes a prepared transaction from the log.
  ///
  /// @param decisionBytes room that has been kept for the record; 0: none
  /// @param stored false: nobody waits, and a log that cannot be written now does not refuse
  Outcome forgetPrepared(
      RowTransaction transaction,
      LogRecord record,
      int decisionBytes,
      boolean stored,
      Consumer<@Nullable Throwable> done) {
    EngineException full = reserve(record.length(), decisionBytes);
    if (full != null && stored) {
      return refuse(full);
    }
    return keepRoom(forgetInOrder(transaction, record, stored, done), record, decisionBytes);
  }

  private synchronized Outcome forgetInOrder(
      RowTransaction transaction,
      LogRecord record,
      boolean stored,
      Consumer<@Nullable Throwable> done) {
    Outcome outcome;
    if (stored) {
      outcome = enqueue(record, lastTimestamp, true, done);
    } else {
      Pending pending = null;
      try {
        pending = groupCommit.enqueue(record, lastTimestamp, false, done);
      } catch (EngineException closing) {
        // The store closes: what it finds prepared at its next start is asked about there.
        LOG.warn("a transaction that failed to prepare may be found prepared", closing);
      }
      outcome = new Outcome(0, null, pending, null);
    }
    if (outcome.refused() == null) {
      unguard(transaction);
    }
    return outcome;
  }

  /// Puts a record that concerns no rows into the order; nobody waits for it yet.
  ///
  /// @return its number, for [#whenDurable]
  public long append(LogRecord record) {
    groupCommit.reserve(record.length(), 0);
    Pending pending = null;
    try {
      synchronized (this) {
        EngineException failure = groupCommit.failure();
        if (failure != null) {
          throw failure;
        }
        pending = groupCommit.enqueue(record, lastTimestamp, false, failed -> {});
      }
    } finally {
      if (pending == null) {
        groupCommit.reserve(0, record.length());
      }
    }
    groupCommit.finished(pending);
    return pending.number;
  }

  /// Puts changes of queues that belong to no transaction into the order; see [QueueChanges.Writer].
  public void writeQueues(QueueChanges changes, Consumer<@Nullable Throwable> done) {
    LogRecord record;
    try {
      changes.prepareCommit();
      record = CommitRecords.queues(changes);
    } catch (LogRecord.LogRecordTooLarge e) {
      changes.ended(false);
      done.accept(CommitErrors.tooLarge());
      return;
    } catch (RuntimeException | OutOfMemoryError e) {
      changes.ended(false);
      done.accept(e);
      return;
    }
    Throwable refused = reserve(record.length(), 0);
    Outcome outcome = null;
    if (refused == null) {
      synchronized (this) {
        outcome = enqueue(record, lastTimestamp, true, done);
      }
      refused = outcome.refused();
      if (refused != null) {
        groupCommit.reserve(0, record.length());
      }
    }
    changes.ended(refused == null);
    if (refused != null) {
      done.accept(refused);
    } else {
      finished(Objects.requireNonNull(outcome));
    }
  }

  /// Calls back when all that has been committed before is durable, however often the log cannot be written until then; never if the store
  /// closes before.
  public void whenAllDurable(Runnable done) {
    Pending pending;
    try {
      synchronized (this) {
        pending =
            groupCommit.enqueue(
                new LogRecord(0),
                lastTimestamp,
                true,
                failure -> {
                  if (failure == null) {
                    done.run();
                  } else {
                    whenAllDurable(done); // told of each try that fails
                  }
                });
      }
    } catch (EngineException closing) {
      LOG.warn("commits are not known to be durable: {}", closing.getMessage());
      return;
    }
    groupCommit.finished(pending);
  }

  boolean isDurable(long number) {
    return number <= groupCommit.durable();
  }

  boolean isDurableCommit(long timestamp) {
    return timestamp <= groupCommit.durableTimestamp();
  }

  /// Timestamps up to here that were published before this call are of commits that are durable, or of none.
  long durableUpTo() {
    return groupCommit.durableUpTo();
  }

  /// Reports when the records up to a number, and the commits up to a timestamp, are durable.
  public void whenDurable(long number, long timestamp, Consumer<@Nullable Throwable> done) {
    if (isDurable(number) && isDurableCommit(timestamp)) {
      done.accept(null);
      return;
    }
    Consumer<@Nullable Throwable> described = failure -> done.accept(notDurable(failure));
    Outcome outcome;
    synchronized (this) {
      outcome = enqueue(new LogRecord(0), lastTimestamp, true, described);
    }
    Throwable refused = outcome.refused();
    if (refused != null) {
      described.accept(refused);
    } else {
      finished(outcome);
    }
  }

  private static @Nullable Throwable notDurable(@Nullable Throwable failure) {
    return failure instanceof EngineException known
        ? new EngineException(
                known.code(), "transaction depends on a commit that is not durable", known)
            .withDetail(known.getMessage() + ".")
            .withHint("Try again when the disk of the data directory can be written.")
        : failure;
  }

  static Outcome refuse(Throwable reason) {
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
    collector.addRetired(garbage, timestamp);
    clock.publish(timestamp);
  }
}
