package dev.kakehashi.server.socket;

import dev.kakehashi.transport.os.Credentials;
import dev.kakehashi.transport.os.RequiredPeer;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A Unix socket in the runtime directory that only the endpoint's own OS user (and root) may open. Each connection is answered on a thread
/// of its own.
public final class OwnerSocket implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerSocket.class);

  /// Answers one connection, and closes it.
  public interface Handler {
    /// @param served called once the client has asked, if the answer may take longer than [#PATIENCE]
    void answer(SocketChannel client, Runnable served) throws IOException;
  }

  /// How long a client may take to ask and to read the answer.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /// Connections that are served at a time.
  public static final int MAX_CONNECTIONS = 16;

  private final Path path;
  private final Handler handler;
  private final Duration patience;
  private final ServerSocketChannel server;
  private final Semaphore room = new Semaphore(MAX_CONNECTIONS);

  private OwnerSocket(Path path, Handler handler, Duration patience, ServerSocketChannel server) {
    this.patience = patience;
    this.path = path;
    this.handler = handler;
    this.server = server;
  }

  /// Opens a socket in a directory that this process owns.
  ///
  /// @param name of the file; threads are named by it
  public static OwnerSocket open(Path directory, String name, Handler handler) throws IOException {
    return open(directory, name, handler, PATIENCE);
  }

  /// @param patience how long a client may take to ask and to read the answer
  public static OwnerSocket open(Path directory, String name, Handler handler, Duration patience)
      throws IOException {
    Path path = directory.resolve(name);
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      Files.deleteIfExists(path);
      server.bind(UnixDomainSocketAddress.of(path));
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
    OwnerSocket socket = new OwnerSocket(path, handler, patience, server);
    Thread.ofPlatform()
        .daemon()
        .name("kakehashi-" + name.replaceFirst("[.].*", ""))
        .start(socket::serve);
    return socket;
  }

  private void serve() {
    while (server.isOpen()) {
      try {
        SocketChannel client = server.accept();
        if (isAllowed(client) && room.tryAcquire()) {
          // One that does not read must not keep others waiting.
          Thread.ofVirtual().start(() -> answer(client));
        } else {
          client.close();
        }
      } catch (AsynchronousCloseException closed) {
        return;
      } catch (IOException e) {
        if (server.isOpen()) {
          LOG.warn("could not answer at \"{}\": {}", path, e.getMessage());
        }
      }
    }
  }

  /// The file's mode says the same; this holds if somebody has changed it.
  private static boolean isAllowed(SocketChannel client) {
    try {
      int uid = Credentials.ofPeer(client).uid();
      return uid == Credentials.ownUid() || uid == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private void answer(SocketChannel client) {
    Thread limit = Thread.ofVirtual().start(() -> closeLater(client));
    try (client) {
      handler.answer(client, limit::interrupt);
    } catch (IOException e) {
      LOG.debug("who asked at \"{}\" has gone", path, e);
    } finally {
      limit.interrupt();
      room.release();
    }
  }

  /// Ends a connection whose client is silent, unless interrupted before.
  private void closeLater(SocketChannel client) {
    try {
      Thread.sleep(patience);
      LOG.warn("closing a connection at \"{}\": its client was silent for {}", path, patience);
      client.close();
    } catch (InterruptedException served) {
      // It has asked, or gone.
    } catch (IOException e) {
      LOG.debug("could not close a connection at \"{}\"", path, e);
    }
  }

  /// Connects to the socket of a running endpoint.
  ///
  /// @throws dev.kakehashi.transport.TransportException AUTHENTICATION_FAILED when it is not of the OS user that is required
  public static SocketChannel connect(RuntimeLocation location, String name) throws IOException {
    RequiredPeer peer = RequiredPeer.of(location.requiredPeer(), "--requirepeer %s");
    Path path = peer.trusted(location.directory()).resolve(name);
    SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
    boolean trusted = false;
    try {
      peer.check(channel, path);
      trusted = true;
      return channel;
    } finally {
      if (!trusted) {
        channel.close();
      }
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    Files.deleteIfExists(path);
  }
}
