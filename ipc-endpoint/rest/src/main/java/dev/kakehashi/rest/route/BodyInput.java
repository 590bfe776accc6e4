package dev.kakehashi.rest.route;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.thread.Invocable;
import org.jspecify.annotations.Nullable;

/// The body of a request as a stream, bounded in length and slowness. One thread, which it blocks.
///
/// Reads throw a [Problem]: the body ended early (400), is too long (413), or comes too slowly (408).
final class BodyInput extends InputStream implements Invocable.Task {
  private final Content.Source source;
  private final BodyGauge gauge;
  private final Semaphore available = new Semaphore(0);
  private Content.@Nullable Chunk chunk;
  private boolean isAtEnd;

  BodyInput(Content.Source source, BodyGauge gauge) {
    this.source = source;
    this.gauge = gauge;
  }

  /// Bytes came, or the end of them.
  @Override
  public void run() {
    available.release();
  }

  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (!isAtEnd) {
      Content.Chunk current = chunk;
      if (current == null) {
        chunk = next();
      } else if (current.hasRemaining()) {
        return current.get(bytes, offset, length);
      } else {
        release(current);
      }
    }
    return -1;
  }

  private void release(Content.Chunk current) {
    isAtEnd = current.isLast();
    current.release();
    chunk = null;
  }

  private Content.Chunk next() throws IOException {
    Content.Chunk next = source.read();
    while (next == null) {
      gauge.waits();
      source.demand(this);
      try {
        available.acquire();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw (IOException)
            new InterruptedIOException("interrupted while reading a body").initCause(e);
      }
      next = source.read();
      if (next != null && !Content.Chunk.isFailure(next)) {
        gauge.waited();
      }
    }
    if (Content.Chunk.isFailure(next)) {
      isAtEnd = true;
      throw BodyGauge.failed(next.getFailure());
    }
    gauge.came(next.remaining());
    return next;
  }

  /// Gives back what was read and not used. The rest of the body is the connection's matter.
  @Override
  public void close() {
    if (chunk != null) {
      chunk.release();
      chunk = null;
    }
    isAtEnd = true;
  }
}
