package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.server.socket.OwnerSocket;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Clients that connect and say nothing.
class SilentConnectionsTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static List<SocketChannel> connect(Path directory, String socket, int count)
      throws IOException {
    List<SocketChannel> channels = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      channels.add(SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve(socket))));
    }
    return channels;
  }

  private static void close(List<SocketChannel> channels) throws IOException {
    for (SocketChannel channel : channels) {
      channel.close();
    }
  }

  /// Reads to the end that the endpoint makes.
  private static void awaitEnd(SocketChannel channel) {
    ByteBuffer rest = ByteBuffer.allocate(1 << 16);
    assertTimeoutPreemptively(
        LIMIT,
        () -> {
          while (channel.read(rest) >= 0) {
            rest.clear();
          }
        });
  }

  @Test
  void shouldNotKeepOthersFromAttaching() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open("attach_timeout=60s")) {
      List<SocketChannel> silent = connect(endpoint.runtimeDirectory(), "endpoint.sock", 400);
      try (Session session = endpoint.attach()) {
        assertTrue(session.isAlive());
      }
      // The oldest have made room.
      awaitEnd(silent.getFirst());
      close(silent);
    }
  }

  @Test
  void shouldBeClosedAfterATime() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open("attach_timeout=200ms")) {
      List<SocketChannel> silent = connect(endpoint.runtimeDirectory(), "endpoint.sock", 3);
      silent.get(1).write(ByteBuffer.wrap(new byte[] {9, 0}));
      silent.forEach(SilentConnectionsTest::awaitEnd);
      close(silent);
    }
  }

  @Test
  @SuppressWarnings("try") // it is there to be connected to
  void shouldNotOccupyASocketOfTheOwner(@TempDir Path directory) throws IOException {
    OwnerSocket.Handler reader =
        (client, served) -> {
          if (client.read(ByteBuffer.allocate(1)) == 1) {
            served.run();
            client.write(ByteBuffer.wrap(new byte[] {1}));
          }
        };
    try (OwnerSocket socket =
        OwnerSocket.open(directory, "one.sock", reader, Duration.ofMillis(500))) {
      List<SocketChannel> silent = connect(directory, "one.sock", OwnerSocket.MAX_CONNECTIONS + 4);
      silent.forEach(SilentConnectionsTest::awaitEnd);
      close(silent);
      try (SocketChannel asking =
          SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("one.sock")))) {
        asking.write(ByteBuffer.wrap(new byte[] {1}));
        assertEquals(1, asking.read(ByteBuffer.allocate(1)));
      }
    }
  }
}
