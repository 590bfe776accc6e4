package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.RowBatchWriter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// The bytes of a file as rows of one bytea, for clients that write the file themselves.
///
/// Bytes are kept until the client has room for them: the thread that writes them never waits. Confined to one thread at a time, but for
/// [#pendingBytes()].
final class DumpStream implements DumpRequest.ByteSink {
  /// Bytes of a row: some of them are under way at a time.
  private static final int CHUNK_BYTES = 256 << 10;

  /// Bytes of a batch of one row besides the row's own: header, row, length of the value, its padding.
  private static final int OVERHEAD_BYTES =
      RowBatchLayout.HEADER_BYTES + RowBatchLayout.rowStride(1) + 16;

  private final ResultSink client;
  private final BulkContext context;
  private final int chunkBytes;
  private final Deque<byte[]> full = new ArrayDeque<>();
  private byte[] chunk = {};
  private int filled;
  private long rows;

  /// Written by the thread that writes; read by threads that wait for it.
  private volatile long pending;

  DumpStream(ResultSink client, BulkContext context) {
    this.client = client;
    this.context = context;
    this.chunkBytes = Math.min(CHUNK_BYTES, client.maxBatchBytes() - OVERHEAD_BYTES);
  }

  @Override
  public void write(byte[] bytes, int from, int count) {
    int at = from;
    int end = from + count;
    while (at < end) {
      if (filled == chunk.length) {
        nextChunk();
      }
      int length = Math.min(end - at, chunk.length - filled);
      System.arraycopy(bytes, at, chunk, filled, length);
      filled += length;
      at += length;
    }
  }

  private void nextChunk() {
    context.checkCanceled();
    if (filled > 0) {
      full.add(chunk);
    }
    chunk = new byte[] {};
    filled = 0;
    context.reserveMemory(chunkBytes);
    chunk = new byte[chunkBytes];
    pending = (long) (full.size() + 1) * chunkBytes;
  }

  /// Bytes that the client has not taken, approximately. From any thread.
  long pendingBytes() {
    return pending;
  }

  /// Hands on what makes whole rows; false if the client has no room for all of it.
  boolean flush() {
    for (byte[] next = full.peek(); next != null; next = full.peek()) {
      if (!send(next)) {
        return false;
      }
      full.remove();
      context.releaseMemory(chunkBytes);
      pending = (long) (full.size() + (filled > 0 ? 1 : 0)) * chunkBytes;
    }
    return true;
  }

  /// Hands on all that there is; false if the client has no room for it.
  boolean end() {
    if (filled > 0) {
      full.add(filled == chunk.length ? chunk : Arrays.copyOf(chunk, filled));
      chunk = new byte[] {};
      filled = 0;
    }
    return flush();
  }

  private boolean send(byte[] bytes) {
    ResultSink.@Nullable Buffer buffer = client.acquire(OVERHEAD_BYTES + bytes.length);
    if (buffer == null) {
      return false;
    }
    RowBatchWriter batch = RowBatchWriter.fixed(buffer.memory(), 1, 1);
    if (!batch.addRow() || !batch.setBytes(0, bytes)) {
      buffer.discard();
      throw new IllegalStateException("a buffer of " + buffer.memory().byteSize() + " bytes");
    }
    buffer.stage(batch.finish(), 1);
    rows++;
    return true;
  }

  /// Calls `wake` when there may be room again.
  void whenWritable(Runnable wake) {
    client.whenWritable(wake);
  }

  /// Rows sent so far.
  long rows() {
    return rows;
  }
}
