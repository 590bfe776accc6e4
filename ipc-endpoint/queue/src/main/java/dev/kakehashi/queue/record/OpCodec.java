package dev.kakehashi.queue.record;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Changes as bytes of a record of the log, big endian: sequence number (long), count (int), changes: kind (byte), queue (long), and what
/// the kind has.
public final class OpCodec {
  public static final int HEADER = Long.BYTES + Integer.BYTES;
  private static final int PREFIX = 1 + Long.BYTES;

  private OpCodec() {}

  public static int bytes(QueueOp op) {
    return PREFIX
        + switch (op) {
          case QueueOp.Enqueue enqueue -> enqueue.record.length;
          case QueueOp.Claimed _, QueueOp.Released _ -> 2 * Long.BYTES + Integer.BYTES;
          case QueueOp.Done _, QueueOp.Gone _ -> 2 * Long.BYTES;
          case QueueOp.Failed failed -> 4 * Long.BYTES + Integer.BYTES + textBytes(failed.error());
          case QueueOp.Dead dead -> 2 * Long.BYTES + textBytes(dead.error());
          case QueueOp.CreateQueue _, QueueOp.DropQueue _ -> 0;
          case QueueOp.CreateGroup _ -> Long.BYTES + 1;
          case QueueOp.DropGroup _ -> Long.BYTES;
          case QueueOp.Purge purge ->
              1 + Integer.BYTES + 2 * Long.BYTES * purge.sparedGroups().length;
          case QueueOp.Fired fired -> Long.BYTES + textBytes(fired.schedule());
        };
  }

  private static int textBytes(String text) {
    return Integer.BYTES + text.getBytes(StandardCharsets.UTF_8).length;
  }

  private static void put(ByteBuffer into, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    into.putInt(bytes.length).put(bytes);
  }

  public static void encode(QueueOp op, ByteBuffer into) {
    switch (op) {
      case QueueOp.Enqueue it -> prefix(into, 1, it).put(it.record);
      case QueueOp.Claimed it ->
          task(into, 2, it, it.groupId(), it.position()).putInt(it.attempts());
      case QueueOp.Done it -> task(into, 3, it, it.groupId(), it.position());
      case QueueOp.Failed it -> {
        task(into, 4, it, it.groupId(), it.position()).putInt(it.attempts());
        put(into.putLong(it.waitMillis()).putLong(it.runAtMillis()), it.error());
      }
      case QueueOp.Released it ->
          task(into, 5, it, it.groupId(), it.position()).putInt(it.attempts());
      case QueueOp.Dead it -> put(task(into, 6, it, it.groupId(), it.position()), it.error());
      case QueueOp.Gone it ->
          task(into, it.isDeadLetter() ? 14 : 7, it, it.groupId(), it.position());
      case QueueOp.CreateQueue it -> prefix(into, 8, it);
      case QueueOp.DropQueue it -> prefix(into, 9, it);
      case QueueOp.CreateGroup it ->
          prefix(into, 10, it).putLong(it.groupId()).put((byte) (it.first() ? 1 : 0));
      case QueueOp.DropGroup it -> prefix(into, 11, it).putLong(it.groupId());
      case QueueOp.Purge it -> {
        prefix(into, 12, it).put((byte) (it.deadOnly() ? 1 : 0)).putInt(it.sparedGroups().length);
        for (int at = 0; at < it.sparedGroups().length; at++) {
          into.putLong(it.sparedGroups()[at]).putLong(it.sparedPositions()[at]);
        }
      }
      case QueueOp.Fired it -> put(prefix(into, 13, it).putLong(it.millis()), it.schedule());
    }
  }

  private static ByteBuffer prefix(ByteBuffer into, int kind, QueueOp op) {
    return into.put((byte) kind).putLong(op.queueId());
  }

  private static ByteBuffer task(
      ByteBuffer into, int kind, QueueOp op, long groupId, long position) {
    return prefix(into, kind, op).putLong(groupId).putLong(position);
  }

  /// Reads what follows the sequence number.
  ///
  /// @throws EngineException DATA_CORRUPTED
  public static List<QueueOp> decode(ByteBuffer from) {
    try {
      int count = from.getInt();
      if (count < 0 || count > from.remaining()) {
        throw corrupted();
      }
      List<QueueOp> result = new ArrayList<>(count);
      for (int at = 0; at < count; at++) {
        result.add(decodeOne(from));
      }
      return result;
    } catch (BufferUnderflowException e) {
      throw new EngineException(ErrorCode.DATA_CORRUPTED, "changes of queues end early", e);
    }
  }

  private static QueueOp decodeOne(ByteBuffer from) {
    int kind = from.get();
    long queueId = from.getLong();
    return switch (kind) {
      case 1 -> {
        TaskRecord record = new TaskRecord(from, from.position());
        byte[] bytes = new byte[record.length];
        from.get(bytes);
        QueueOp.Enqueue op = new QueueOp.Enqueue(queueId, bytes);
        op.position = record.position;
        yield op;
      }
      case 2 -> new QueueOp.Claimed(queueId, from.getLong(), from.getLong(), from.getInt());
      case 3 -> new QueueOp.Done(queueId, from.getLong(), from.getLong());
      case 4 ->
          new QueueOp.Failed(
              queueId,
              from.getLong(),
              from.getLong(),
              from.getInt(),
              from.getLong(),
              from.getLong(),
              text(from));
      case 5 -> new QueueOp.Released(queueId, from.getLong(), from.getLong(), from.getInt());
      case 6 -> new QueueOp.Dead(queueId, from.getLong(), from.getLong(), text(from));
      case 7, 14 -> new QueueOp.Gone(queueId, from.getLong(), from.getLong(), kind == 14);
      case 8 -> new QueueOp.CreateQueue(queueId);
      case 9 -> new QueueOp.DropQueue(queueId);
      case 10 -> new QueueOp.CreateGroup(queueId, from.getLong(), from.get() != 0);
      case 11 -> new QueueOp.DropGroup(queueId, from.getLong());
      case 12 -> {
        boolean deadOnly = from.get() != 0;
        int count = from.getInt();
        if (count < 0 || count > from.remaining() / (2 * Long.BYTES)) {
          throw corrupted();
        }
        long[] groups = new long[count];
        long[] positions = new long[count];
        for (int at = 0; at < count; at++) {
          groups[at] = from.getLong();
          positions[at] = from.getLong();
        }
        yield new QueueOp.Purge(queueId, deadOnly, groups, positions);
      }
      case 13 -> {
        long millis = from.getLong();
        yield new QueueOp.Fired(queueId, text(from), millis);
      }
      default -> throw corrupted();
    };
  }

  static String text(ByteBuffer from) {
    int length = from.getInt();
    if (length < 0 || length > from.remaining()) {
      throw corrupted();
    }
    byte[] bytes = new byte[length];
    from.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static EngineException corrupted() {
    return new EngineException(
        ErrorCode.DATA_CORRUPTED, "a record has no changes of queues where it says so");
  }
}
