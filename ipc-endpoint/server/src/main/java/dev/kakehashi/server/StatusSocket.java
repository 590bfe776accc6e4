package dev.kakehashi.server;

import dev.kakehashi.scheduler.TaskScheduler;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells whoever connects how the scheduler is: one line of JSON with all metrics, then its workers, jobs and processes.
///
/// A Unix socket in the runtime directory that only the endpoint's own OS user may open, because jobs are named by the
/// statements that they run. It costs nothing while nobody asks.
final class StatusSocket implements AutoCloseable {
  static final String FILE = "status.sock";
  private static final Logger LOG = LoggerFactory.getLogger(StatusSocket.class);

  private final Path path;
  private final TaskScheduler scheduler;
  private final ServerSocketChannel server;

  private StatusSocket(Path path, TaskScheduler scheduler, ServerSocketChannel server) {
    this.path = path;
    this.scheduler = scheduler;
    this.server = server;
  }

  /// Opens the socket in a runtime directory that this process owns.
  static StatusSocket open(Path runtimeDirectory, TaskScheduler scheduler) throws IOException {
    Path path = runtimeDirectory.resolve(FILE);
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      Files.deleteIfExists(path);
      server.bind(UnixDomainSocketAddress.of(path));
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
    StatusSocket socket = new StatusSocket(path, scheduler, server);
    Thread.ofPlatform().daemon().name("kakehashi-status").start(socket::serve);
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
          LOG.warn("could not answer a question for the status: {}", e.getMessage());
        }
      }
    }
  }

  private void answer(SocketChannel client) {
    try (client;
        Writer out = new BufferedWriter(Channels.newWriter(client, StandardCharsets.UTF_8))) {
      scheduler.dump(out);
    } catch (IOException e) {
      LOG.debug("who asked for the status has gone", e);
    }
  }

  /// What a running endpoint says.
  static String ask(Path runtimeDirectory) throws IOException {
    try (SocketChannel channel =
        SocketChannel.open(UnixDomainSocketAddress.of(runtimeDirectory.resolve(FILE)))) {
      return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    Files.deleteIfExists(path);
  }
}
