package dev.kakehashi.server;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A Unix socket in the runtime directory that only the endpoint's own OS user (and root) may open. Each connection is answered on a thread of its own.
final class OwnerSocket implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerSocket.class);

  /// Answers one connection, and closes it.
  interface Handler {
    void answer(SocketChannel client) throws IOException;
  }

  private final Path path;
  private final Handler handler;
  private final ServerSocketChannel server;

  private OwnerSocket(Path path, Handler handler, ServerSocketChannel server) {
    this.path = path;
    this.handler = handler;
    this.server = server;
  }

  /// Opens a socket in a directory that this process owns.
  ///
  /// @param name of the file; threads are named by it
  static OwnerSocket open(Path directory, String name, Handler handler) throws IOException {
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
    OwnerSocket socket = new OwnerSocket(path, handler, server);
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
        // One that does not read must not keep others waiting.
        Thread.ofVirtual().start(() -> answer(client));
      } catch (AsynchronousCloseException closed) {
        return;
      } catch (IOException e) {
        if (server.isOpen()) {
          LOG.warn("could not answer at \"{}\": {}", path, e.getMessage());
        }
      }
    }
  }

  private void answer(SocketChannel client) {
    try (client) {
      handler.answer(client);
    } catch (IOException e) {
      LOG.debug("who asked at \"{}\" has gone", path, e);
    }
  }

  /// Connects to the socket of a running endpoint.
  static SocketChannel connect(Path directory, String name) throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve(name)));
  }

  @Override
  public void close() throws IOException {
    server.close();
    Files.deleteIfExists(path);
  }
}
