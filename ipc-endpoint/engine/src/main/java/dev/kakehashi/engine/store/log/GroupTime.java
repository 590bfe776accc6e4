package dev.kakehashi.engine.store.log;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;

/// The time of a group: a put at its end, of a key below all of the store's. So a log can be applied up to a moment, and the base image
/// knows of which moment it is. Groups of older versions have none.
///
/// Times of a log never go back, whatever the system's clock does. Used by one thread at a time.
final class GroupTime {
  /// Entry of the image: when the last group was written, in microseconds since 1970 (8 bytes).
  static final byte[] KEY = {0, 2};

  /// Bytes of the put, up to a multiple of [LogFormat#ALIGNMENT].
  static final int BYTES = 16;

  private static final byte[] PREFIX = {1, 2, KEY[0], KEY[1], Long.BYTES};

  private long last;

  /// @param last time of the group before; 0: none
  GroupTime(long last) {
    this.last = last;
  }

  /// The record that ends a group.
  LogRecord next() {
    last = Math.max(last, ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
    LogRecord record = new LogRecord(BYTES);
    record.put(KEY, ByteBuffer.allocate(Long.BYTES).putLong(last).array());
    return record;
  }

  /// Time of a group that was read, in microseconds since 1970; 0: it has none.
  static long of(LogRecord group) {
    int at = group.length() - PREFIX.length - Long.BYTES;
    if (at < 0 || !Arrays.equals(group.bytes(), at, at + PREFIX.length, PREFIX, 0, PREFIX.length)) {
      return 0;
    }
    return ByteBuffer.wrap(group.bytes()).getLong(at + PREFIX.length);
  }

  /// Time of the last group that an image has; 0: it is not known.
  static long of(RocksImage image) {
    return image.get(KEY).map(value -> ByteBuffer.wrap(value).getLong()).orElse(0L);
  }
}
