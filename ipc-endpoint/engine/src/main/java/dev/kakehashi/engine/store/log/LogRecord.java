package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.store.memory.HeapRoom;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One atomic unit of changes, encoded as the body of a RocksDB write batch: per change a tag, then key and value with their lengths as
/// variable-length integers. So neither the log nor the base image has to encode anything again. Confined to one thread at a time.
public final class LogRecord {
  private static final byte TAG_DELETE = 0x0;
  private static final byte TAG_PUT = 0x1;
  private static final byte TAG_DELETE_RANGE = 0xF;

  /// More than a change takes is asked for before its length is known.
  private static final int SLACK_BYTES = 16;

  private static final byte[] QUEUE_KEY = {StoreKeys.QUEUE};
  private static final int SPAN = 3;
  private static final int[] NO_SPANS = {};

  /// Most bytes that a record keeps if it is filled again and again.
  private static final int MAX_KEPT_BYTES = 4 << 20;

  private byte[] bytes;
  private int length;
  private int count;

  /// Offset of what [#putNumber] has left room for; -1: nothing.
  private int numberAt = -1;

  /// Beside it, with changes before all of these; null: there is none. Not known of a record that was read.
  private @Nullable SideFile sideFile;

  private boolean namesFiles;

  /// Its puts of queue changes, three numbers each: offset of the put, of its value, and of the end. In a record that was read, they are
  /// known after [#sideFiles()].
  private int[] queueSpans = NO_SPANS;

  /// Waits for its place; null: it has none, or it was placed.
  private @Nullable QueueChanges unplaced;

  private long queueNumber;

  public LogRecord(int capacity) {
    bytes = HeapRoom.allocate(Math.max(16, capacity));
  }

  /// A record with room for changes of that size: a long one that has to grow needs room in the heap for its copy, too.
  ///
  /// @param changeBytes sum of [#putBytes(int, long)] and [#deleteBytes(int)]
  /// @throws LogRecordTooLarge beyond 2 GB
  /// @throws EngineException OUT_OF_MEMORY
  public static LogRecord withRoomFor(long changeBytes) {
    if (changeBytes > MAX_BYTES - SLACK_BYTES) {
      throw new LogRecordTooLarge();
    }
    return new LogRecord((int) changeBytes + SLACK_BYTES);
  }

  /// Bytes of a put in a record.
  public static long putBytes(int keyLength, long valueLength) {
    return deleteBytes(keyLength) + varintBytes(valueLength) + valueLength;
  }

  /// Bytes of a delete in a record.
  public static long deleteBytes(int keyLength) {
    return 1L + varintBytes(keyLength) + keyLength;
  }

  /// Bytes of a number as a variable-length integer, without a sign.
  public static int varintBytes(long value) {
    return Math.max(1, (70 - Long.numberOfLeadingZeros(value)) / 7);
  }

  /// Changes that were encoded before; takes over `bytes`.
  static LogRecord of(byte[] bytes, int length, int count) {
    LogRecord record = new LogRecord(bytes);
    record.length = length;
    record.count = count;
    return record;
  }

  private LogRecord(byte[] bytes) {
    this.bytes = bytes;
  }

  /// Names a file with further changes, before all others.
  void name(SideFile file) {
    if (count > 0) {
      throw new IllegalStateException("the name of a side file comes first");
    }
    put(file.nameKey(), file.name());
    sideFile = file;
    namesFiles = true;
  }

  /// The file that it was made with; null: none. Also null of a record that was read.
  @Nullable SideFile sideFile() {
    return sideFile;
  }

  /// Whether it names files. In a record that was read, this is known after [#sideFiles()].
  boolean namesFiles() {
    return namesFiles;
  }

  /// Bytes of a put of queue changes in a record.
  public static long queueBytes(QueueChanges changes) {
    return putBytes(QUEUE_KEY.length, changes.encodedBytes());
  }

  /// Puts the queue changes of its transaction, once; they get their place by [#place].
  public void putQueue(QueueChanges changes) {
    int bytesOfChanges = changes.encodedBytes();
    int start = length;
    put(QUEUE_KEY, QUEUE_KEY.length, bytesOfChanges);
    int value = reserve(bytesOfChanges);
    changes.encode(bytes, value);
    queueSpans = new int[] {start, value, length};
    unplaced = changes;
  }

  /// The record has its place in the order of commits; under the lock of that order.
  ///
  /// @param number of the record
  public void place(long number) {
    QueueChanges changes = unplaced;
    if (changes != null) {
      changes.place(bytes, queueSpans[1], number);
      unplaced = null;
      queueNumber = number;
    }
  }

  /// Number of the record if it has queue changes; 0: it has none.
  long queueNumber() {
    return queueNumber;
  }

  /// Whether it has queue changes. In a record that was read, this is known after [#sideFiles()].
  boolean hasQueueChanges() {
    return queueSpans.length > 0;
  }

  /// Receives queue changes that are a part of an array.
  interface QueueVisitor {
    void changes(byte[] bytes, int offset, int length);
  }

  /// Visits the queue changes, in their order. In a record that was read, they are known after [#sideFiles()].
  void forEachQueueChange(QueueVisitor visitor) {
    for (int i = 0; i < queueSpans.length; i += SPAN) {
      visitor.changes(bytes, queueSpans[i + 1], queueSpans[i + 2] - queueSpans[i + 1]);
    }
  }

  /// Bytes of the changes without those of queues.
  int imageBytes() {
    int left = length;
    for (int i = 0; i < queueSpans.length; i += SPAN) {
      left -= queueSpans[i + 2] - queueSpans[i];
    }
    return left;
  }

  /// Number of the changes without those of queues.
  int imageCount() {
    return count - queueSpans.length / SPAN;
  }

  /// Copies the changes without those of queues, [#imageBytes()] of them.
  void copyForImage(byte[] into, int offset) {
    int from = 0;
    int at = offset;
    for (int i = 0; i < queueSpans.length; i += SPAN) {
      System.arraycopy(bytes, from, into, at, queueSpans[i] - from);
      at += queueSpans[i] - from;
      from = queueSpans[i + 2];
    }
    System.arraycopy(bytes, from, into, at, length - from);
  }

  /// Forgets all changes.
  public void clear() {
    length = 0;
    count = 0;
    numberAt = -1;
    if (bytes.length > MAX_KEPT_BYTES) {
      bytes = new byte[MAX_KEPT_BYTES];
    }
  }

  /// Files that are named among the changes, in their order; finds the changes of queues, too.
  List<SideFile> sideFiles() {
    List<SideFile> found = new ArrayList<>(0);
    queueSpans = NO_SPANS;
    forEachPiece(
        MAX_BYTES,
        new Pieces() {
          @Override
          public void changes(int from, int pieceLength, int changes) {}

          @Override
          public void longPut(int key, int keyLength, int value, int valueLength) {}

          @Override
          public void sideFile(SideFile file) {
            found.add(file);
          }

          @Override
          public void queueChanges(int put, int value, int valueLength) {
            int[] more = Arrays.copyOf(queueSpans, queueSpans.length + SPAN);
            more[more.length - 3] = put;
            more[more.length - 2] = value;
            more[more.length - 1] = value + valueLength;
            queueSpans = more;
          }
        });
    namesFiles = !found.isEmpty();
    return found;
  }

  /// Begins a put; the value's bytes follow by [#reserve(int)] or [#putBytes].
  public void put(byte[] key, int keyLength, int valueLength) {
    begin(TAG_PUT, key, keyLength, valueLength + 5);
    putVarint(valueLength);
  }

  public void put(byte[] key, byte[] value) {
    put(key, key.length, value.length);
    putBytes(value);
  }

  /// Puts a number that is not known yet: see [#setNumber]. A record has one at most.
  public void putNumber(byte[] key) {
    put(key, key.length, Long.BYTES);
    numberAt = reserve(Long.BYTES);
  }

  /// Says the number that [#putNumber] has left room for, here or in a record that was appended.
  public void setNumber(long value) {
    ByteBuffer.wrap(bytes, numberAt, Long.BYTES).putLong(value);
  }

  public void delete(byte[] key, int keyLength) {
    begin(TAG_DELETE, key, keyLength, 0);
  }

  /// Deletes keys `[from, to)`.
  public void deleteRange(byte[] from, byte[] to) {
    begin(TAG_DELETE_RANGE, from, from.length, to.length + 5);
    putVarint(to.length);
    putBytes(to);
  }

  public void putBytes(byte[] value) {
    System.arraycopy(value, 0, bytes, reserve(value.length), value.length);
  }

  /// Appends the changes of another record.
  public void append(LogRecord other) {
    int at = reserve(other.length);
    System.arraycopy(other.bytes, 0, bytes, at, other.length);
    count += other.count;
    if (other.numberAt >= 0) {
      numberAt = at + other.numberAt;
    }
  }

  /// Offset in [#bytes()] of `count` further bytes, which the caller fills.
  public int reserve(int count) {
    ensure(count);
    int at = length;
    length += count;
    return at;
  }

  /// The encoded changes, [#length()] of them. Valid until the next change.
  public byte[] bytes() {
    return bytes;
  }

  public int length() {
    return length;
  }

  /// Number of changes.
  public int count() {
    return count;
  }

  /// Changes of a record, in its order.
  public interface Changes {
    void put(byte[] key, byte[] value);

    void delete(byte[] key);

    /// Deletes keys `[from, to)`.
    void deleteRange(byte[] from, byte[] to);
  }

  /// Decodes the changes.
  ///
  /// @throws IllegalArgumentException if the bytes are none
  void forEach(Changes changes) {
    ByteBuffer from = ByteBuffer.wrap(bytes, 0, length);
    try {
      for (int left = count; left > 0; left--) {
        byte tag = from.get();
        switch (tag) {
          case TAG_PUT -> changes.put(getBytes(from), getBytes(from));
          case TAG_DELETE -> changes.delete(getBytes(from));
          case TAG_DELETE_RANGE -> changes.deleteRange(getBytes(from), getBytes(from));
          default -> throw new IllegalArgumentException("unknown change " + tag);
        }
      }
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("a change ends early", e);
    }
    if (from.hasRemaining()) {
      throw new IllegalArgumentException(from.remaining() + " bytes follow the last change");
    }
  }

  private static byte[] getBytes(ByteBuffer from) {
    byte[] bytes = new byte[getLength(from)];
    from.get(bytes);
    return bytes;
  }

  /// Length of the bytes that follow, which are there.
  private static int getLength(ByteBuffer from) {
    int length = 0;
    int shift = 0;
    byte next;
    do {
      next = from.get();
      length |= (next & 0x7F) << shift;
      shift += 7;
    } while (next < 0 && shift < 35);
    if (length < 0 || length > from.remaining()) {
      throw new BufferUnderflowException();
    }
    return length;
  }

  /// Changes of a record, in its order and in parts of the array.
  interface Pieces {
    /// Several changes, encoded in [#bytes()].
    void changes(int from, int length, int count);

    /// A put whose value is longer than a piece.
    void longPut(int key, int keyLength, int value, int valueLength);

    /// Changes that are in a file.
    void sideFile(SideFile file);

    /// Changes of queues, which the image never has.
    default void queueChanges(int put, int value, int valueLength) {}
  }

  /// Decodes the changes as far as to cut them into pieces of at most `pieceBytes`, where one change is not longer.
  void forEachPiece(int pieceBytes, Pieces pieces) {
    ByteBuffer at = ByteBuffer.wrap(bytes, 0, length);
    int from = 0;
    int changes = 0;
    for (int left = count; left > 0; left--) {
      int start = at.position();
      byte tag = at.get();
      int keyLength = getLength(at);
      int key = at.position();
      at.position(key + keyLength);
      int valueLength = tag == TAG_DELETE ? 0 : getLength(at);
      int value = at.position();
      at.position(value + valueLength);
      boolean isLong = tag == TAG_PUT && valueLength > pieceBytes;
      boolean isName = tag == TAG_PUT && SideFile.isName(bytes, key, keyLength);
      boolean isQueue = tag == TAG_PUT && isQueue(bytes, key, keyLength);
      if (changes > 0 && (isLong || isName || isQueue || at.position() - from > pieceBytes)) {
        pieces.changes(from, start - from, changes);
        from = start;
        changes = 0;
      }
      if (isName) {
        pieces.sideFile(SideFile.of(bytes, value, valueLength));
        from = at.position();
      } else if (isQueue) {
        pieces.queueChanges(start, value, valueLength);
        from = at.position();
      } else if (isLong) {
        pieces.longPut(key, keyLength, value, valueLength);
        from = at.position();
      } else {
        changes++;
      }
    }
    if (changes > 0) {
      pieces.changes(from, at.position() - from, changes);
    }
  }

  /// Whether a key is that of queue changes.
  static boolean isQueue(byte[] bytes, int key, int keyLength) {
    return keyLength == QUEUE_KEY.length && bytes[key] == StoreKeys.QUEUE;
  }

  private void begin(byte tag, byte[] key, int keyLength, int more) {
    ensure(6 + keyLength + more);
    bytes[length++] = tag;
    putVarint(keyLength);
    System.arraycopy(key, 0, bytes, length, keyLength);
    length += keyLength;
    count++;
  }

  private void putVarint(int value) {
    ensure(5);
    int rest = value;
    while (rest >= 0x80) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
  }

  private void ensure(int more) {
    if (bytes.length - length < more) {
      if ((long) length + more > MAX_BYTES) {
        throw new LogRecordTooLarge();
      }
      // A long one has to fit into the heap beside its copy.
      int growth = bytes.length < HeapRoom.LONG_BYTES ? bytes.length : bytes.length / 4;
      long wanted = Math.max((long) bytes.length + growth, (long) length + more);
      byte[] larger = HeapRoom.allocate((int) Math.min(wanted, MAX_BYTES));
      System.arraycopy(bytes, 0, larger, 0, length);
      bytes = larger;
    }
  }

  /// Largest record: what an array can hold with room for a batch's header.
  public static final int MAX_BYTES = Integer.MAX_VALUE - 1024;

  /// A unit is larger than [#MAX_BYTES].
  public static final class LogRecordTooLarge extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LogRecordTooLarge() {
      super("log record is too large", null, false, false);
    }
  }
}
