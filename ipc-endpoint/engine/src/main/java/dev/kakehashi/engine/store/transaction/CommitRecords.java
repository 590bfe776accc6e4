package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.row.StoreKeys;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// What a transaction writes to the log when it commits, is prepared, or is decided.
final class CommitRecords {
  /// What the name of a transaction takes in the record of its commit.
  private static final long NAME_BYTES =
      LogRecord.putBytes(StoreKeys.OUTCOME_KEY_BYTES, Long.BYTES);

  private CommitRecords() {}

  /// Rows, then definitions, the removal of the preparation that is decided by that, and the name of what has committed.
  ///
  /// @param decided how it was prepared; null: it was not
  /// @throws LogRecord.LogRecordTooLarge beyond 2 GB
  static LogRecord commit(RowTransaction transaction, @Nullable Preparation decided) {
    LogRecord rest = null;
    Definitions definitions = transaction.defined();
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
    WriteList writes = transaction.writes();
    LogRecord record =
        LogRecord.withRoomFor(writes.encodedBytes(0) + restBytes + (named == 0 ? 0 : NAME_BYTES));
    writes.encode(record);
    if (rest != null) {
      record.append(rest);
    }
    if (named != 0) {
      record.put(
          StoreKeys.outcome(StoreKeys.COMMITTED, named),
          ByteBuffer.allocate(Long.BYTES).putLong(named).array());
    }
    return record;
  }

  /// The transaction's entry, its definitions and its rows, all under its key.
  ///
  /// @throws LogRecord.LogRecordTooLarge beyond 2 GB
  static LogRecord preparation(RowTransaction transaction, Preparation how) {
    byte[] key = StoreKeys.prepared(how.globalId());
    LogRecord head = new LogRecord(256);
    PreparedCodec.encode(how, transaction.readSet, head);
    Definitions definitions = transaction.defined();
    if (definitions != null) {
      definitions.encodePrepared(key, head);
    }
    WriteList writes = transaction.writes();
    LogRecord record = LogRecord.withRoomFor(head.length() + writes.encodedBytes(key.length));
    record.append(head);
    writes.encodePrepared(key, record);
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
