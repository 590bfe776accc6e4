package dev.kakehashi.server.standby;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// A network between a standby and its primary that can be cut, go silent, or be slow.
final class Proxy implements AutoCloseable {
  private final ServerSocket listener;
  private final int target;
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

  /// Bytes of answers that still pass.
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);

  private volatile boolean silent;
  private volatile long delayNanos;

  private Proxy(int target) throws IOException {
    this.target = target;
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  static Proxy before(int port) throws IOException {
    Proxy proxy = new Proxy(port);
    Thread.ofVirtual().start(proxy::accept);
    return proxy;
  }

  String address() {
    return "http://127.0.0.1:" + listener.getLocalPort();
  }

  /// Lets so many bytes of answers pass, and then cuts connections.
  void cutAfter(long bytes) {
    silent = false;
    left.set(bytes);
  }

  /// Lets so many bytes of answers pass, and then none: nobody is told.
  void silentAfter(long bytes) {
    silent = true;
    left.set(bytes);
  }

  /// Lets each part of an answer wait.
  void delay(Duration each) {
    delayNanos = each.toNanos();
  }

  /// Lets everything pass again, over new connections.
  void heal() {
    silent = false;
    delayNanos = 0;
    left.set(Long.MAX_VALUE);
    try {
      for (Socket socket = sockets.poll(); socket != null; socket = sockets.poll()) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(client);
        sockets.add(server);
        Thread.ofVirtual().start(() -> relay(client, server, false));
        Thread.ofVirtual().start(() -> relay(server, client, true));
      } catch (IOException e) {
        // The target is away, or this is closed: the client's connection ends with it.
      }
    }
  }

  private void relay(Socket from, Socket to, boolean isAnswer) {
    byte[] buffer = new byte[8192];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        if (isAnswer && left.addAndGet(-count) < 0) {
          while (silent && left.get() < 0 && in.read(buffer) >= 0) {
            // Swallowed.
          }
          return;
        }
        if (isAnswer) {
          LockSupport.parkNanos(delayNanos);
        }
        out.write(buffer, 0, count);
      }
    } catch (IOException e) {
      // A side has gone; the other one goes, too.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
