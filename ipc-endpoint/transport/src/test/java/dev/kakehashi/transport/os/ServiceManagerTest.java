package dev.kakehashi.transport.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A process of another language stands for systemd: the JDK has no datagrams of Unix sockets.
class ServiceManagerTest {
  private static final String RECEIVER =
      """
      import socket, sys
      receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      receiver.settimeout(30)
      receiver.bind(sys.argv[1].replace("@", "\\0", 1))
      print("bound", flush=True)
      for _ in range(2):
          print(receiver.recv(4096).decode().replace("\\n", " "), flush=True)
      """;

  @TempDir private Path directory;

  @Test
  void shouldTellASocketWithAPath() throws Exception {
    shouldTell(directory.resolve("notify").toString());
  }

  @Test
  void shouldTellAnAbstractSocket() throws Exception {
    shouldTell("@kakehashi-test-" + UUID.randomUUID());
  }

  private static void shouldTell(String socket) throws Exception {
    Process receiver =
        new ProcessBuilder("python3", "-c", RECEIVER, socket).redirectErrorStream(true).start();
    try (BufferedReader said = receiver.inputReader()) {
      assertEquals("bound", said.readLine());
      ServiceManager manager = new ServiceManager(socket);
      manager.ready();
      assertEquals("READY=1 STATUS=clients can attach", said.readLine());
      manager.stopping();
      assertEquals("STOPPING=1 STATUS=ending", said.readLine());
      assertEquals(0, receiver.waitFor());
    } finally {
      receiver.destroyForcibly();
    }
  }

  @Test
  void shouldBeQuietWithoutAManager() throws IOException {
    new ServiceManager(null).ready();
    new ServiceManager("").stopping();
  }

  @Test
  void shouldSayThatNobodyListens() {
    String missing = directory.resolve("missing").toString();
    IOException failure = assertThrows(IOException.class, new ServiceManager(missing)::ready);
    assertTrue(failure.toString().contains(missing), failure.toString());
  }

  @Test
  void shouldRefuseWhatIsNoUnixSocket() {
    for (String name : new String[] {"vsock:2:1", "/" + "x".repeat(200)}) {
      IOException failure = assertThrows(IOException.class, new ServiceManager(name)::ready);
      assertTrue(failure.toString().contains("no Unix socket"), failure.toString());
    }
  }
}
