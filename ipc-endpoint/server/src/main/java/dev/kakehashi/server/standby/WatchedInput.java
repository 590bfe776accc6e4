package dev.kakehashi.server.standby;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// An answer that has to go on: where nothing comes for some time, reading ends with a failure. Nobody is told of a network that is lost
/// without a word, and a timeout of a request ends with the head of its answer.
///
/// Read by one thread, and watched by another one until it is closed.
final class WatchedInput extends FilterInputStream {
  private final long patienceNanos;
  private final CountDownLatch closed = new CountDownLatch(1);

  /// When the read under way has begun; 0: there is none.
  private volatile long began;

  private volatile boolean isLate;

  WatchedInput(InputStream in, Duration patience) {
    super(in);
    this.patienceNanos = patience.toNanos();
    Thread.ofVirtual().name("kakehashi-answer").start(this::watch);
  }

  private void watch() {
    try {
      long pause = Math.max(1, patienceNanos / 4);
      while (!closed.await(pause, TimeUnit.NANOSECONDS)) {
        long since = began;
        if (since != 0 && System.nanoTime() - since > patienceNanos) {
          isLate = true;
          // The reader is told.
          in.close();
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      // It is closed all the same, and the reader's failure says why.
      isLate = true;
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    long now = System.nanoTime();
    began = now == 0 ? 1 : now;
    try {
      int count = in.read(bytes, offset, length);
      if (isLate) {
        throw late(null);
      }
      return count;
    } catch (IOException e) {
      throw isLate ? late(e) : e;
    } finally {
      began = 0;
    }
  }

  private IOException late(@org.jspecify.annotations.Nullable IOException reason) {
    return new IOException(
        "nothing has come for %d s".formatted(TimeUnit.NANOSECONDS.toSeconds(patienceNanos)),
        reason);
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    super.close();
  }
}
