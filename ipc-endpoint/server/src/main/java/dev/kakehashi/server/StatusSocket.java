package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.server.socket.OwnerSocket;
import dev.kakehashi.server.socket.RuntimeLocation;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Tells whoever connects how the endpoint is, see [EndpointStatus].
///
/// Only the endpoint's own OS user may ask, because jobs are named by the statements that they run. It costs nothing while nobody asks.
final class StatusSocket {
  static final String FILE = "status.sock";

  private StatusSocket() {}

  /// Opens the socket in a runtime directory that this process owns.
  static OwnerSocket open(
      Path runtimeDirectory, Engine engine, TaskScheduler scheduler, TransportEndpoint transport)
      throws IOException {
    return OwnerSocket.open(
        runtimeDirectory,
        FILE,
        (client, served) -> {
          try (Writer out =
              new BufferedWriter(Channels.newWriter(client, StandardCharsets.UTF_8))) {
            EndpointStatus.write(engine, scheduler, transport.sessions(), out);
          }
        });
  }

  /// Asks a running endpoint for its status.
  static EndpointStatus ask(RuntimeLocation location) throws IOException {
    try (SocketChannel channel = OwnerSocket.connect(location, FILE)) {
      return EndpointStatus.parse(
          new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8));
    }
  }
}
