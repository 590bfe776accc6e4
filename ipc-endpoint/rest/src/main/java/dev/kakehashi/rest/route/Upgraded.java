package dev.kakehashi.rest.route;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.AbstractConnection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A connection that has left HTTP for another protocol: both sides send when they like. A virtual thread writes; bytes that come are given
/// on by the thread that has read them. The connection ends with whichever comes first: its writer, the client, or the door.
public final class Upgraded extends AbstractConnection implements Connection.UpgradeTo {
  private static final Logger LOG = LoggerFactory.getLogger(Upgraded.class);
  private static final int INPUT_BYTES = 1 << 10;
  private static final int OUTPUT_BYTES = 64 << 10;

  private final Peer peer;
  private final ByteBuffer input = ByteBuffer.allocate(INPUT_BYTES);
  private final Callback incoming = new Incoming();

  /// Whether something is on its way to the client. Written by the thread that writes.
  private volatile boolean isWriting;

  /// Our side of the protocol.
  public interface Peer {
    /// Sends until the connection has to end. On a virtual thread, which may block.
    ///
    /// @param to the client; it is flushed by who writes
    /// @throws IOException the client has gone, or has read nothing for the time that is allowed
    void run(OutputStream to) throws IOException, InterruptedException;

    /// Takes bytes of the client, one piece at a time. Must not block.
    ///
    /// @throws IOException the connection has to end
    void received(ByteBuffer bytes) throws IOException;

    /// The connection has ended: [#run] returns soon. From any thread; more than once has no effect.
    void close();
  }

  Upgraded(EndPoint endPoint, Executor executor, Peer peer) {
    super(endPoint, executor);
    this.peer = peer;
  }

  @Override
  public void onUpgradeTo(ByteBuffer before) {
    if (BufferUtil.hasContent(before)) {
      take(before);
    }
  }

  @Override
  public void onOpen() {
    super.onOpen();
    fillInterested(incoming);
    Thread.ofVirtual().name("http-upgraded").start(this::write);
  }

  private void write() {
    try (OutputStream to = new Output()) {
      peer.run(to);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      LOG.debug("a connection ends", e);
    } catch (RuntimeException e) {
      LOG.warn("a connection ends: {}", e.getMessage());
      LOG.debug("why", e);
    } finally {
      close();
    }
  }

  @Override
  public void onFillable() {
    try {
      while (true) {
        input.clear().limit(0);
        int count = getEndPoint().fill(input);
        if (count < 0) {
          close();
          return;
        }
        if (count == 0) {
          fillInterested(incoming);
          return;
        }
        if (!take(input)) {
          return;
        }
      }
    } catch (IOException e) {
      LOG.debug("a connection ends", e);
      close();
    }
  }

  private boolean take(ByteBuffer bytes) {
    try {
      peer.received(bytes);
      return true;
    } catch (IOException e) {
      LOG.warn("a connection ends: {}", e.getMessage());
      close();
      return false;
    }
  }

  /// The peer says how long the client may be silent, and the end point how long he may read nothing of what is sent.
  @Override
  public boolean onIdleExpired(TimeoutException timeout) {
    return isWriting;
  }

  @Override
  public void onClose(Throwable cause) {
    peer.close();
    super.onClose(cause);
  }

  /// Bytes have come. They are taken at once, by the thread that has noticed.
  private final class Incoming implements Callback {
    @Override
    public void succeeded() {
      onFillable();
    }

    @Override
    public void failed(Throwable failure) {
      onFillInterestedFailed(failure);
    }

    @Override
    public InvocationType getInvocationType() {
      return InvocationType.NON_BLOCKING;
    }
  }

  /// Collects what is written until it is flushed, or is much. One thread.
  private final class Output extends OutputStream {
    private final ByteBuffer collected = ByteBuffer.allocateDirect(OUTPUT_BYTES);

    @Override
    public void write(int value) throws IOException {
      if (!collected.hasRemaining()) {
        flush();
      }
      collected.put((byte) value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (length > collected.remaining()) {
        flush();
      }
      if (length > collected.remaining()) {
        send(ByteBuffer.wrap(bytes, offset, length));
      } else {
        collected.put(bytes, offset, length);
      }
    }

    @Override
    public void flush() throws IOException {
      if (collected.position() > 0) {
        send(collected.flip());
        collected.clear();
      }
    }

    private void send(ByteBuffer bytes) throws IOException {
      ExchangeOutput.Written written = new ExchangeOutput.Written();
      isWriting = true;
      try {
        getEndPoint().write(written, bytes);
        written.await();
      } finally {
        isWriting = false;
      }
    }

    /// The connection is closed by its owner.
    @Override
    public void close() {}
  }
}
