package dev.kakehashi.rest.route;

import java.util.Arrays;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.thread.Invocable;

/// Gathers a whole body without blocking, and then hands it on, on the thread that has brought its last bytes.
final class BodyCollector implements Invocable.Task {
  private static final byte[] EMPTY = {};

  private final Content.Source source;
  private final BodyGauge gauge;
  private final Receiver receiver;
  private byte[] bytes;
  private int length;
  private boolean waits;

  /// Takes the body, or why there is none; once.
  interface Receiver {
    void received(byte[] body);

    void failed(Throwable failure);
  }

  /// @param expectedLength as the client has said, already checked against the limit; less than 0: he has not
  BodyCollector(Content.Source source, BodyGauge gauge, long expectedLength, Receiver receiver) {
    this.source = source;
    this.gauge = gauge;
    this.receiver = receiver;
    // The announced body is not yet here: memory follows the bytes that come, beyond a first piece.
    this.bytes = expectedLength <= 0 ? EMPTY : new byte[(int) Math.min(expectedLength, 64 << 10)];
  }

  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  /// Reads what there is. At first by who wants the body, then whenever more has come.
  @Override
  public void run() {
    byte[] body;
    try {
      if (!readAll()) {
        return;
      }
      body = length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
    } catch (RuntimeException e) {
      receiver.failed(e);
      return;
    }
    receiver.received(body);
  }

  private boolean readAll() {
    while (true) {
      Content.Chunk chunk = source.read();
      if (chunk == null) {
        waits = true;
        gauge.waits();
        source.demand(this);
        return false;
      }
      if (Content.Chunk.isFailure(chunk)) {
        throw BodyGauge.failed(chunk.getFailure());
      }
      boolean last = chunk.isLast();
      try {
        take(chunk);
      } finally {
        chunk.release();
      }
      if (last) {
        return true;
      }
    }
  }

  private void take(Content.Chunk chunk) {
    if (waits) {
      waits = false;
      gauge.waited();
    }
    int count = chunk.remaining();
    gauge.came(count);
    if (count > bytes.length - length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + count, Math.multiplyExact(bytes.length, 2)));
    }
    chunk.get(bytes, length, count);
    length += count;
  }
}
