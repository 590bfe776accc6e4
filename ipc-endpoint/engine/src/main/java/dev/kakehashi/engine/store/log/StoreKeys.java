package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.RecoveredOutcomes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Keys of the durable image. The first byte says what an entry is.
///
/// | key | value |
/// |---|---|
/// | `c` name | entry of the catalogue |
/// | `n` | object identifiers below this number may be in use (8 bytes) |
/// | `r` table row | a row, see RowCodec; numbers are 8 bytes, the most significant first |
/// | `o` `c` place | reference of the last transaction at that place that has committed (8 bytes), see [dev.kakehashi.engine.api.RecoveredOutcomes]; a place is 2 bytes |
/// | `o` `d` place | reference of the last prepared transaction of that place that was decided (8 bytes), whether it has committed (1 byte) |
/// | `p` prepared transaction | its entry, see PreparedCodec; the key is the global id after its length (1 byte) |
/// | `p` prepared transaction `d` number | a change of the catalogue, see DefinitionCodec; the number is 4 bytes |
/// | `p` prepared transaction `r` table row | a row as that transaction leaves it; empty if it deletes it |
/// | `p` prepared transaction `s` table page | its row locks in that page, see PreparedLocks; they come after its rows |
/// | `p` prepared transaction `q` | its changes of queues, as [dev.kakehashi.engine.api.queue.QueueChanges#encode] writes them |
/// | `q` | changes of queues; in the log alone, the image never has them |
/// | `s` sequence | how far its values may be given out (8 bytes), whether that one is (1 byte) |
/// | `t` table | definition of a table, see DefinitionCodec |
public final class StoreKeys {
  public static final byte CATALOG = 'c';
  static final byte DEFINITION = 'd';
  public static final byte NEXT_ID = 'n';
  public static final byte OUTCOME = 'o';
  public static final byte PREPARED = 'p';
  public static final byte QUEUE = 'q';
  public static final byte ROW = 'r';
  public static final byte SEQUENCE = 's';
  public static final byte TABLE = 't';

  /// Below a prepared transaction, where it comes after [#ROW].
  public static final byte ROW_LOCKS = 's';

  /// Kinds of outcomes.
  public static final byte COMMITTED = 'c';

  public static final byte DECIDED = 'd';

  public static final int OUTCOME_KEY_BYTES = 4;
  public static final int ROW_KEY_BYTES = 17;
  public static final int DEFINITION_KEY_BYTES = 5;
  public static final int QUEUE_KEY_BYTES = 1;

  private StoreKeys() {}

  public static byte[] catalog(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + bytes.length).put(CATALOG).put(bytes).array();
  }

  public static byte[] nextId() {
    return new byte[] {NEXT_ID};
  }

  public static byte[] table(long tableId) {
    return ByteBuffer.allocate(9).put(TABLE).putLong(tableId).array();
  }

  public static byte[] sequence(long stateId) {
    return ByteBuffer.allocate(9).put(SEQUENCE).putLong(stateId).array();
  }

  public static byte[] row(long tableId, long rowId) {
    return ByteBuffer.allocate(ROW_KEY_BYTES).put(ROW).putLong(tableId).putLong(rowId).array();
  }

  /// @param kind [#COMMITTED] or [#DECIDED]
  public static byte[] outcome(byte kind, long reference) {
    return ByteBuffer.allocate(OUTCOME_KEY_BYTES)
        .put(OUTCOME)
        .put(kind)
        .putShort((short) RecoveredOutcomes.place(reference))
        .array();
  }

  /// Entry of a prepared transaction; what belongs to it has this as its beginning.
  public static byte[] prepared(String globalId) {
    byte[] bytes = globalId.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(2 + bytes.length)
        .put(PREPARED)
        .put((byte) bytes.length)
        .put(bytes)
        .array();
  }

  /// A row of a prepared transaction.
  public static byte[] preparedRow(byte[] transaction, long tableId, long rowId) {
    return ByteBuffer.allocate(transaction.length + ROW_KEY_BYTES)
        .put(transaction)
        .put(ROW)
        .putLong(tableId)
        .putLong(rowId)
        .array();
  }

  /// Row locks of a prepared transaction in a page; as long as the key of a row.
  public static byte[] preparedLocks(byte[] transaction, long tableId, long page) {
    return ByteBuffer.allocate(transaction.length + ROW_KEY_BYTES)
        .put(transaction)
        .put(ROW_LOCKS)
        .putLong(tableId)
        .putLong(page)
        .array();
  }

  /// A change of the catalogue by a prepared transaction.
  public static byte[] preparedDefinition(byte[] transaction, int number) {
    return ByteBuffer.allocate(transaction.length + DEFINITION_KEY_BYTES)
        .put(transaction)
        .put(DEFINITION)
        .putInt(number)
        .array();
  }

  /// Changes of queues by a prepared transaction.
  public static byte[] preparedQueue(byte[] transaction) {
    return ByteBuffer.allocate(transaction.length + QUEUE_KEY_BYTES)
        .put(transaction)
        .put(QUEUE)
        .array();
  }

  /// End of the range of a prepared transaction's keys.
  public static byte[] preparedEnd(byte[] transaction) {
    return ByteBuffer.allocate(transaction.length + 1).put(transaction).put((byte) -1).array();
  }

  /// Everything of one kind: `[of(kind), of(kind + 1))`.
  public static byte[] of(int kind) {
    return new byte[] {(byte) kind};
  }
}
