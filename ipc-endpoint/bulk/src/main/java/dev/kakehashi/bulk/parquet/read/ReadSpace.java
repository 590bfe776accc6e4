package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;

/// An array for bytes of pages, which grows, and whose memory is the statement's. It has SLACK bytes more than asked for, so that words may
/// be read at each. Not thread-safe.
final class ReadSpace implements AutoCloseable {
  static final int SLACK = 16;
  private static final int MAX_BYTES = Integer.MAX_VALUE - 64;
  private final BulkContext context;
  private byte[] bytes = {};

  ReadSpace(BulkContext context) {
    this.context = context;
  }

  byte[] bytes() {
    return bytes;
  }

  /// An array of at least so many bytes; what was in it is gone.
  byte[] room(long count) {
    return room(count, 0);
  }

  /// An array of at least so many bytes, of which the first `kept` stay.
  byte[] room(long count, int kept) {
    long wanted = count + SLACK;
    if (wanted > bytes.length) {
      if (wanted > MAX_BYTES) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "Parquet page is longer than " + MAX_BYTES + " bytes");
      }
      int size = (int) Math.min(MAX_BYTES, Math.max(wanted, bytes.length + (bytes.length >> 2)));
      context.reserveMemory(size);
      int before = bytes.length;
      byte[] grown = kept == 0 ? new byte[size] : Arrays.copyOf(bytes, size);
      bytes = grown;
      context.releaseMemory(before);
    }
    return bytes;
  }

  /// Gives its memory back.
  @Override
  public void close() {
    context.releaseMemory(bytes.length);
    bytes = new byte[0];
  }
}
