package dev.kakehashi.pgwire;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// Stands between engine and server, and cuts connections. Thread-safe.
final class CuttingProxy implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int port;
  private final List<Socket> sockets = new ArrayList<>(); // guarded by itself
  private boolean refusing; // guarded by sockets
  private final AtomicInteger cuts = new AtomicInteger();
  private volatile boolean armed;
  private volatile boolean before;
  private volatile boolean last;

  /// @param port of the server
  CuttingProxy(int port) throws IOException {
    this.port = port;
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /// Cuts the connection that sends something next.
  ///
  /// @param early before the server has it; else when it has answered, whose answer is lost
  void cutNext(boolean early) {
    before = early;
    armed = true;
  }

  /// The same, and nobody gets through any more when it is cut.
  void cutLast(boolean early) {
    last = true;
    cutNext(early);
  }

  /// Lets no new connection through; those that are there stay.
  ///
  /// Closing the listener is not enough: who waits in accept takes one more connection when one comes before he wakes.
  void refuseNew() {
    synchronized (sockets) {
      refusing = true;
    }
  }

  /// Connections that were cut.
  int cuts() {
    return cuts.get();
  }

  /// Cuts all connections.
  void cutAll() {
    synchronized (sockets) {
      sockets.forEach(CuttingProxy::closed);
      sockets.clear();
    }
  }

  private static void closed(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void accept() {
    while (true) {
      try {
        Socket client = listener.accept();
        Socket server;
        synchronized (sockets) {
          if (refusing) {
            client.close();
            continue;
          }
          server = new Socket(InetAddress.getLoopbackAddress(), port);
          sockets.add(client);
          sockets.add(server);
        }
        Lost lost = new Lost();
        Thread.ofVirtual().start(() -> forward(client, server, lost, true));
        Thread.ofVirtual().start(() -> forward(server, client, lost, false));
      } catch (IOException closed) {
        return;
      }
    }
  }

  /// Whether the next answer of a connection is lost.
  private static final class Lost {
    private volatile boolean next;
  }

  private void forward(Socket from, Socket to, Lost lost, boolean request) {
    byte[] bytes = new byte[16 << 10];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        if (request && armed) {
          armed = false;
          cuts.incrementAndGet();
          if (last) {
            refuseNew();
          }
          if (before) {
            return;
          }
          lost.next = true;
        }
        if (!request && lost.next) {
          return;
        }
        out.write(bytes, 0, read);
      }
    } catch (IOException cut) {
      return;
    }
  }

  @Override
  public void close() throws IOException {
    refuseNew();
    listener.close();
    cutAll();
  }
}
