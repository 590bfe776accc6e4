package dev.kakehashi.queue.change;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.record.OpCodec;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.agrona.collections.IntArrayList;

/// Changes as they are written: their bytes, and their place in the log. A transaction's committing thread writes it, in this order:
/// [#set], [#encode], [#place], perhaps [#lose].
///
/// Other threads meet it in [PlacedChanges] alone, which it joins when all of its fields but `lost` are set. `lost` may be set later, by
/// the thread that could not write the record.
public final class WrittenChanges {
  /// Whether it is the queues' own, for whose flush somebody waits.
  private final boolean own;

  private List<QueueOp> ops = List.of();

  /// Offsets of new tasks within the bytes, in the order of `ops`.
  private int[] offsets = new int[0];

  private int bytes;
  private long sequence;

  /// Set when it has its place; the committing thread reads it without a lock.
  private volatile long record = -1;

  private volatile boolean lost;

  WrittenChanges(boolean own) {
    this.own = own;
  }

  boolean isOwn() {
    return own;
  }

  public List<QueueOp> ops() {
    return ops;
  }

  /// How many tasks are new.
  int newTasks() {
    return offsets.length;
  }

  /// Number of the change, once it has its place.
  long sequence() {
    return sequence;
  }

  /// Number of the record; -1: it has no place yet.
  long record() {
    return record;
  }

  /// Whether its place stays empty, because its record was not written.
  boolean isLost() {
    return lost;
  }

  /// The transaction has ended without a commit; if it had a place, that stays empty.
  void lose() {
    lost = record >= 0;
  }

  /// Says which changes are written.
  ///
  /// @throws EngineException LIMIT_EXCEEDED
  void set(List<QueueOp> to) {
    ops = to;
    long at = OpCodec.HEADER;
    IntArrayList found = new IntArrayList();
    for (QueueOp each : ops) {
      if (each instanceof QueueOp.Enqueue) {
        found.addInt((int) at);
      }
      at += OpCodec.bytes(each);
    }
    if (at > Integer.MAX_VALUE - 64) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "the transaction's changes of queues exceed 2 GB");
    }
    bytes = (int) at;
    offsets = found.toIntArray();
  }

  int encodedBytes() {
    return bytes;
  }

  void encode(byte[] into, int offset) {
    ByteBuffer out = ByteBuffer.wrap(into, offset, into.length - offset);
    out.putLong(-1).putInt(ops.size());
    for (QueueOp each : ops) {
      OpCodec.encode(each, out);
    }
  }

  /// New tasks get their positions, new queues are there. Under the lock that orders commits: it takes nanoseconds and never fails.
  ///
  /// @param into what [#encode] wrote, at `offset`
  /// @param created queues that the transaction has made, by their numbers
  void place(
      byte[] into,
      int offset,
      long recordNumber,
      PlacedChanges placed,
      Map<Long, QueueCore> created) {
    ByteBuffer out = ByteBuffer.wrap(into);
    sequence = placed.nextSequence();
    out.putLong(offset, sequence);
    int index = 0;
    for (QueueOp each : ops) {
      if (each instanceof QueueOp.Enqueue enqueue) {
        QueueCore queue = placed.center.queues.get(enqueue.queueId);
        int at = offset + offsets[index++] + 1 + Long.BYTES + TaskRecord.POSITION;
        if (queue != null) {
          enqueue.position = queue.nextToGive++;
          out.putLong(at, enqueue.position);
        }
      } else if (each instanceof QueueOp.CreateQueue create) {
        placed.center.place(create.queueId(), created.get(create.queueId()));
      }
    }
    record = recordNumber;
  }

  /// Whether a transaction's change may make tasks of a queue ready when it is durable.
  boolean readies(QueueCore queue) {
    if (own) {
      return false;
    }
    for (QueueOp each : ops) {
      if (each.queueId() == queue.queueId
          && (each instanceof QueueOp.Enqueue || queue.endsLetOthersStart())) {
        return true;
      }
    }
    return false;
  }
}
