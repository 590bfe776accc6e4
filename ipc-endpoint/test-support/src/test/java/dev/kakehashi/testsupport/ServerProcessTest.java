package dev.kakehashi.testsupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Servers that are scripts of the shell.
class ServerProcessTest {
  @TempDir private Path directory;

  private ServerProcess server(String script) {
    return new ServerProcess(
        "the script",
        List.of("sh", "-c", script),
        Map.of("GREETING", "ready"),
        directory.resolve("log"));
  }

  @Test
  void shouldWaitForWhatThisStartHasLogged() {
    try (ServerProcess server = server("echo $GREETING; exec sleep 600")) {
      server.start();
      server.awaitReady(() -> server.hasLogged("ready"));
      server.stop();
      assertFalse(server.isAlive());
      server.start();
      server.awaitReady(() -> server.sinceStart().equals("ready\n"));
      assertEquals("ready\nready", ServerProcess.tail(directory.resolve("log"), 9));
      assertEquals("ready", ServerProcess.tail(directory.resolve("log"), 1));
    }
  }

  @Test
  void shouldShowTheLogOfAServerThatDoesNotStart() {
    try (ServerProcess server = server("echo no room; echo sorry >&2; exit 3")) {
      server.start();
      AssertionError failure =
          assertThrows(AssertionError.class, () -> server.awaitReady(() -> false));
      assertEquals("the script did not start: no room\nsorry", failure.getMessage());
      assertEquals(3, server.awaitEnd());
    }
  }

  @Test
  void shouldSendSignals() {
    try (ServerProcess server =
        server("trap 'echo usr1; exit 5' USR1; echo up; while :; do sleep 0.01; done")) {
      server.start();
      server.awaitReady(() -> server.hasLogged("up"));
      server.signal("USR1");
      assertEquals(5, server.awaitEnd());
      assertTrue(server.hasLogged("usr1"));
    }
  }

  @Test
  void shouldKillChildrenToo() {
    try (ServerProcess server = server("sleep 600 & echo $!; wait")) {
      server.start();
      server.awaitReady(() -> server.sinceStart().endsWith("\n"));
      long child = Long.parseLong(server.sinceStart().strip());
      assertTrue(ProcessHandle.of(child).orElseThrow().isAlive());
      server.killAll();
      assertFalse(server.isAlive());
      assertTrue(ProcessHandle.of(child).map(each -> !each.isAlive()).orElse(true));
    }
  }
}
