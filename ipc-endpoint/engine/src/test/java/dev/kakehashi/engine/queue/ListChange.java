package dev.kakehashi.engine.queue;

import java.nio.ByteBuffer;
import java.util.List;

/// One change of [ListQueues].
///
/// @param position of its task; of a new one 0 until it is placed
/// @param taskId of a new task; of a claim the attempt; else 0
@SuppressWarnings("ArrayRecordComponent") // never compared
record ListChange(Kind kind, long queueId, long position, long taskId, byte[] payload) {
  enum Kind {
    CREATE,
    DROP,
    ENQUEUE,
    COMPLETE,
    CLAIM,
    RELEASE
  }

  private static final List<Kind> KINDS = List.of(Kind.values());
  private static final int HEAD_BYTES = 1 + 3 * Long.BYTES + Integer.BYTES;
  private static final byte[] NOTHING = {};

  static ListChange of(Kind kind, long queueId, long position, long number) {
    return new ListChange(kind, queueId, position, number, NOTHING);
  }

  ListChange at(long newPosition) {
    return new ListChange(kind, queueId, newPosition, taskId, payload);
  }

  int bytes() {
    return HEAD_BYTES + payload.length;
  }

  void write(ByteBuffer out) {
    out.put((byte) KINDS.indexOf(kind)).putLong(queueId).putLong(position).putLong(taskId);
    out.putInt(payload.length).put(payload);
  }

  static ListChange read(ByteBuffer in) {
    Kind kind = KINDS.get(in.get());
    long queueId = in.getLong();
    long position = in.getLong();
    long taskId = in.getLong();
    byte[] payload = new byte[in.getInt()];
    in.get(payload);
    return new ListChange(kind, queueId, position, taskId, payload);
  }
}
