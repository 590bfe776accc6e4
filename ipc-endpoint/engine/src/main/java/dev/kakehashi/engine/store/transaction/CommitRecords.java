package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SideFileWriter;
import dev.kakehashi.engine.store.log.StoreKeys;
import java.nio.ByteBuffer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// Records that a transaction writes to the log when it commits, is prepared, or is decided.
final class CommitRecords {
  /// Bytes of a transaction's name in the record of its commit.
  private static final long NAME_BYTES =
      LogRecord.putBytes(StoreKeys.OUTCOME_KEY_BYTES, Long.BYTES);

  /// Most bytes of the name of a side file.
  private static final int FILE_NAME_BYTES = 64;

  private static final byte[] NO_KEY = {};

  private CommitRecords() {}

  /// Makes a record of a transaction and gives it its place in the order of commits.
  ///
  /// @param refusal what becomes of the reason why there is no place for it
  /// @return refused also if the record could not be made
  static Committer.Outcome place(
      RowTransaction transaction,
      Supplier<LogRecord> make,
      Function<LogRecord, Committer.Outcome> enter,
      UnaryOperator<Throwable> refusal) {
    LogRecord record;
    try {
      record = make.get();
    } catch (LogRecord.LogRecordTooLarge e) {
      return Committer.refuse(CommitErrors.tooLarge());
    } catch (RuntimeException | OutOfMemoryError e) {
      return Committer.refuse(e);
    }
    Committer.Outcome outcome =
        transaction.defined() == null
            ? enter.apply(record)
            : transaction.store.catalog().inOrder(record, () -> enter.apply(record));
    Throwable refused = outcome.refused();
    if (refused == null) {
      return outcome;
    }
    transaction.store.log().forget(record);
    return Committer.refuse(refusal.apply(refused));
  }

  /// Rows, then definitions, the removal of the preparation that is decided by that, the name of what has committed, and changes of queues.
  ///
  /// @param decided how it was prepared; null: it was not
  /// @throws LogRecord.LogRecordTooLarge beyond 2 GB
  /// @throws dev.kakehashi.engine.api.error.EngineException also LEASE_LOST
  static LogRecord commit(RowTransaction transaction, @Nullable Preparation decided) {
    LogRecord rest = null;
    CatalogChanges definitions = transaction.defined();
    if (definitions != null || decided != null) {
      rest = new LogRecord(512);
      if (definitions != null) {
        definitions.encode(rest);
      }
      if (decided != null) {
        addRemoval(decided, rest);
        addDecision(decided, true, rest);
      }
    }
    long restBytes = rest == null ? 0 : rest.length();
    long named = decided == null ? transaction.reference() : 0;
    long more = restBytes + (named == 0 ? 0 : NAME_BYTES);
    OwnQueues queues = transaction.queues();
    if (queues != null) {
      if (decided == null) {
        queues.prepareCommit();
      }
      more += LogRecord.queueBytes(queues.changes());
    }
    LogRecord record = rows(transaction, NO_KEY, more);
    if (rest != null) {
      record.append(rest);
    }
    if (named != 0) {
      record.put(
          StoreKeys.outcome(StoreKeys.COMMITTED, named),
          ByteBuffer.allocate(Long.BYTES).putLong(named).array());
    }
    if (queues != null) {
      record.putQueue(queues.changes());
    }
    return record;
  }

  /// Changes of queues that belong to no transaction, which are ready for it.
  static LogRecord queues(QueueChanges changes) {
    LogRecord record = LogRecord.withRoomFor(LogRecord.queueBytes(changes));
    record.putQueue(changes);
    return record;
  }

  /// The transaction's entry, its definitions, row locks, changes of queues and rows, all under its key.
  ///
  /// @throws LogRecord.LogRecordTooLarge beyond 2 GB
  static LogRecord preparation(RowTransaction transaction, Preparation how) {
    byte[] key = StoreKeys.prepared(how.globalId());
    LogRecord head = new LogRecord(256);
    PreparedCodec.encode(how, transaction.readSet, head);
    CatalogChanges definitions = transaction.defined();
    if (definitions != null) {
      definitions.encodePrepared(key, head);
    }
    PreparedLocks.encode(transaction, key, head);
    OwnQueues queues = transaction.queues();
    if (queues != null) {
      queues.prepareCommit();
      byte[] queueKey = StoreKeys.preparedQueue(key);
      int bytes = queues.changes().encodedBytes();
      head.put(queueKey, queueKey.length, bytes);
      int at = head.reserve(bytes);
      queues.changes().encode(head.bytes(), at);
    }
    LogRecord record = rows(transaction, key, head.length());
    record.append(head);
    return record;
  }

  /// A record of the rows, with room for more: they are in it, or in a file beside it.
  ///
  /// @param preparedKey of the prepared transaction; empty: it is not prepared
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY, DISK_FULL, IO_ERROR
  private static LogRecord rows(RowTransaction transaction, byte[] preparedKey, long more) {
    WriteList writes = transaction.writes();
    DurableLog log = transaction.store.log();
    long limit = log.longRecordBytes();
    long bytes = writes.encodedBytes(preparedKey.length, limit);
    if (bytes < limit) {
      LogRecord record = LogRecord.withRoomFor(bytes + more);
      writes.encode(preparedKey, record);
      return record;
    }
    LogRecord record = new LogRecord(FILE_NAME_BYTES + (int) Math.min(more, limit));
    try (SideFileWriter file = log.newSideFile()) {
      new ChangedRows(writes).encode(preparedKey, file);
      file.finish(record);
    }
    return record;
  }

  /// A prepared transaction is rolled back.
  static LogRecord removal(Preparation how) {
    LogRecord record = new LogRecord(512);
    addRemoval(how, record);
    addDecision(how, false, record);
    return record;
  }

  private static void addDecision(Preparation how, boolean committed, LogRecord record) {
    if (how.reference() != 0) {
      ByteBuffer value = ByteBuffer.allocate(Long.BYTES + 1).putLong(how.reference());
      record.put(
          StoreKeys.outcome(StoreKeys.DECIDED, how.reference()),
          value.put((byte) (committed ? 1 : 0)).array());
    }
  }

  private static void addRemoval(Preparation how, LogRecord record) {
    byte[] key = StoreKeys.prepared(how.globalId());
    record.deleteRange(key, StoreKeys.preparedEnd(key));
  }
}
