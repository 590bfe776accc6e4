package dev.kakehashi.queue.record;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// One task as it is written, in the log and in segments alike.
///
/// Layout, big endian: length of all, checksum of what follows the position, position, task's number, enqueued, run at, unique for (all
/// long), priority, flags (byte), lengths of key, fair key, unique key, error (short), length of the payload (int), then these five.
///
/// The object refers to its source: it is used within the critical section that read it, and then dropped.
public final class TaskRecord {
  public static final int POSITION = 8;
  static final int HEADER = 8 + 5 * 8 + 2 + 4 * 2 + 4;
  private static final int CHECKED = 16;
  private static final int JSON = 1;
  private static final int KEY = 2;
  private static final int FAIR = 4;
  private static final int UNIQUE = 8;
  private static final int ERROR = 16;

  /// It has a unique key, and does not keep others from having it.
  private static final int FREE = 32;

  public final int length;
  public final long position;
  public final long taskId;
  public final long enqueuedMillis;
  public final long runAtMillis;
  final long uniqueForMillis;
  public final int priority;
  public final int payloadBytes;
  private final ByteBuffer from;
  private final int at;
  private final int flags;

  /// Reads the header.
  ///
  /// @throws EngineException DATA_CORRUPTED if the bytes are none
  public TaskRecord(ByteBuffer from, int at) {
    this.from = from;
    this.at = at;
    if (at < 0 || from.limit() - at < HEADER) {
      throw corrupted("ends early");
    }
    length = from.getInt(at);
    position = from.getLong(at + 8);
    taskId = from.getLong(at + 16);
    enqueuedMillis = from.getLong(at + 24);
    runAtMillis = from.getLong(at + 32);
    uniqueForMillis = from.getLong(at + 40);
    priority = from.get(at + 48);
    flags = from.get(at + 49);
    payloadBytes = from.getInt(at + 58);
    if (length < HEADER
        || length > from.limit() - at
        || priority < 0
        || priority > NewTask.MAX_PRIORITY
        || payloadBytes < 0
        || HEADER + textBytes(4) + (long) payloadBytes != length) {
      throw corrupted("has lengths that do not match");
    }
  }

  /// Compares the checksum, too.
  public static TaskRecord checked(ByteBuffer from, int at) {
    TaskRecord result = new TaskRecord(from, at);
    if (checksum(from, at, result.length) != from.getInt(at + 4)) {
      throw corrupted("does not match its checksum");
    }
    return result;
  }

  /// Bytes of a task without a position.
  public static byte[] encode(
      long taskId,
      long enqueuedMillis,
      Payload payload,
      @Nullable String key,
      @Nullable String fair,
      int priority,
      long runAtMillis,
      @Nullable String uniqueKey,
      long uniqueForMillis,
      @Nullable String error) {
    return encode(
        taskId,
        enqueuedMillis,
        payload,
        key,
        fair,
        priority,
        runAtMillis,
        uniqueKey,
        uniqueForMillis,
        true,
        error);
  }

  /// @param holds whether its unique key keeps others from having it
  public static byte[] encode(
      long taskId,
      long enqueuedMillis,
      Payload payload,
      @Nullable String key,
      @Nullable String fair,
      int priority,
      long runAtMillis,
      @Nullable String uniqueKey,
      long uniqueForMillis,
      boolean holds,
      @Nullable String error) {
    byte[] keyBytes = bytes(key);
    byte[] fairBytes = bytes(fair);
    byte[] uniqueBytes = bytes(uniqueKey);
    byte[] errorBytes = bytes(error);
    int length =
        HEADER
            + keyBytes.length
            + fairBytes.length
            + uniqueBytes.length
            + errorBytes.length
            + payload.bytes().length;
    ByteBuffer into = ByteBuffer.allocate(length);
    into.putInt(length).putInt(0).putLong(-1).putLong(taskId).putLong(enqueuedMillis);
    into.putLong(runAtMillis).putLong(uniqueForMillis).put((byte) priority);
    into.put(
        (byte)
            ((payload.json() ? JSON : 0)
                | (key == null ? 0 : KEY)
                | (fair == null ? 0 : FAIR)
                | (uniqueKey == null ? 0 : UNIQUE)
                | (error == null ? 0 : ERROR)
                | (uniqueKey == null || holds ? 0 : FREE)));
    into.putShort((short) keyBytes.length).putShort((short) fairBytes.length);
    into.putShort((short) uniqueBytes.length).putShort((short) errorBytes.length);
    into.putInt(payload.bytes().length).put(keyBytes).put(fairBytes).put(uniqueBytes);
    into.put(errorBytes).put(payload.bytes());
    into.putInt(4, checksum(into, 0, length));
    return into.array();
  }

  /// The same task for another queue, with its number.
  ///
  /// @param why it is in a queue for dead letters; null: it is in none
  /// @param runAt not handed out before, milliseconds since 1970; 0: at once
  /// @param holds whether its unique key, if it has one, keeps others from having it there
  public byte[] copy(@Nullable String why, long runAt, boolean holds) {
    return encode(
        taskId,
        enqueuedMillis,
        payload(),
        key(),
        fair(),
        priority,
        runAt,
        uniqueKey(),
        uniqueForMillis,
        holds,
        why);
  }

  public static long taskId(byte[] record) {
    return ByteBuffer.wrap(record).getLong(16);
  }

  public @Nullable String key() {
    return text(0, KEY);
  }

  public @Nullable String fair() {
    return text(1, FAIR);
  }

  public @Nullable String uniqueKey() {
    return text(2, UNIQUE);
  }

  /// Why it is in a queue for dead letters.
  public @Nullable String error() {
    return text(3, ERROR);
  }

  public boolean hasKey() {
    return (flags & KEY) != 0;
  }

  /// Whether nobody else may have its unique key while it is open, or until its window ends.
  public boolean holdsUniqueKey() {
    return (flags & (UNIQUE | FREE)) == UNIQUE;
  }

  /// End of its unique key's window, milliseconds since 1970; 0: as long as it is open.
  public long uniqueUntilMillis() {
    return uniqueForMillis == 0 ? 0 : enqueuedMillis + uniqueForMillis;
  }

  /// A copy.
  public Payload payload() {
    byte[] bytes = new byte[payloadBytes];
    from.get(at + length - payloadBytes, bytes);
    return new Payload((flags & JSON) != 0, bytes);
  }

  private @Nullable String text(int index, int flag) {
    if ((flags & flag) == 0) {
      return null;
    }
    byte[] bytes = new byte[textLength(index)];
    from.get(at + HEADER + textBytes(index), bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private int textBytes(int count) {
    int sum = 0;
    for (int index = 0; index < count; index++) {
      sum += textLength(index);
    }
    return sum;
  }

  private int textLength(int index) {
    return from.getShort(at + 50 + 2 * index) & 0xFFFF;
  }

  private static byte[] bytes(@Nullable String text) {
    return text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
  }

  private static int checksum(ByteBuffer from, int at, int length) {
    CRC32C crc = new CRC32C();
    if (from.hasArray()) {
      crc.update(from.array(), from.arrayOffset() + at + CHECKED, length - CHECKED);
    } else {
      crc.update(from.slice(at + CHECKED, length - CHECKED));
    }
    return (int) crc.getValue();
  }

  private static EngineException corrupted(String what) {
    return new EngineException(ErrorCode.DATA_CORRUPTED, "a task in a queue's file " + what);
  }
}
