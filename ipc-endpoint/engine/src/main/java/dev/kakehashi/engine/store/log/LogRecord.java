package dev.kakehashi.engine.store.log;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/// One atomic unit of changes, encoded as the body of a RocksDB write batch: per change a tag, then key and value with their lengths as
/// variable-length integers. So neither the log nor the base image has to encode anything again. Confined to one thread at a time.
public final class LogRecord {
  private static final byte TAG_DELETE = 0x0;
  private static final byte TAG_PUT = 0x1;
  private static final byte TAG_DELETE_RANGE = 0xF;

  private byte[] bytes;
  private int length;
  private int count;

  public LogRecord(int capacity) {
    bytes = new byte[Math.max(16, capacity)];
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

  /// Begins a put; the value's bytes follow by [#reserve(int)] or [#putBytes].
  public void put(byte[] key, int keyLength, int valueLength) {
    begin(TAG_PUT, key, keyLength, valueLength + 5);
    putVarint(valueLength);
  }

  public void put(byte[] key, byte[] value) {
    put(key, key.length, value.length);
    putBytes(value);
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

  /// What a record changes, in its order.
  interface Changes {
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
    byte[] bytes = new byte[length];
    from.get(bytes);
    return bytes;
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
      long wanted = Math.max((long) bytes.length * 2, (long) length + more);
      if ((long) length + more > MAX_BYTES) {
        throw new LogRecordTooLarge();
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, MAX_BYTES));
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
