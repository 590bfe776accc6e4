package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// Files of the request queue of a session are damaged while it lives: it gets one error at most, and goes on with another queue; new
/// sessions are served at once; nothing hangs.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class DamagedQueueTest {
  private Cluster cluster;

  private interface Damage {
    void doTo(Path queue) throws Exception;
  }

  @BeforeAll
  void start() throws Exception {
    cluster = Cluster.start(Workspace.create("damaged-queue"));
    cluster.createTable("t", "id int8", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "INSERT INTO t SELECT i FROM generate_series(1, 10) i");
    }
  }

  @AfterAll
  void stop() throws Exception {
    cluster.close();
  }

  private static String count(Connection connection) throws SQLException {
    return Sql.value(connection, "SELECT count(*) FROM t");
  }

  /// Where the queue of the session is: its backend has the table mapped.
  private static Path queueOf(Connection connection) throws Exception {
    String pid = Sql.value(connection, "SELECT pg_backend_pid()");
    try (Stream<String> maps = Files.lines(Path.of("/proc", pid, "maps"))) {
      String table = maps.filter(line -> line.endsWith("/metadata.cq4t")).findFirst().orElseThrow();
      return Objects.requireNonNull(Path.of(table.substring(table.indexOf('/'))).getParent());
    }
  }

  private static Path currentFile(Path queue) throws IOException {
    try (Stream<Path> files = Files.list(queue)) {
      return files
          .filter(file -> file.toString().endsWith(".cq4"))
          .max(Comparator.naturalOrder())
          .orElseThrow();
    }
  }

  private static void write(Path file, long at, byte[] bytes) throws IOException {
    try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes), at);
    }
  }

  /// @param noticed whether the session itself finds out; otherwise the endpoint ends it, between two statements
  private void survives(boolean noticed, Damage damage) throws Exception {
    try (Connection connection = cluster.connect()) {
      assertEquals("10", count(connection));
      Path queue = queueOf(connection);
      damage.doTo(queue);
      try (Connection other = cluster.connect()) {
        assertEquals("10", count(other));
      }
      if (noticed) {
        SQLException once = assertThrows(SQLException.class, () -> count(connection));
        assertEquals("08006", once.getSQLState(), once.getMessage());
      }
      assertEquals("10", count(connection));
      assertFalse(queue.equals(queueOf(connection)), "it has another queue");
      try (Connection other = cluster.connect()) {
        assertEquals("10", count(other));
      }
    }
    assertTrue(cluster.endpoint().isAlive());
  }

  @Test
  void shouldReplaceAQueueWhoseLockNobodyGivesBack() throws Exception {
    survives(
        true,
        queue -> {
          Path table = queue.resolve("metadata.cq4t");
          // The name of the word, then its value: free.
          String content = Files.readString(table, StandardCharsets.ISO_8859_1);
          int at = content.indexOf("\0\0\0\0\0\0\0\u0080", content.indexOf("chronicle.write.lock"));
          long alive = ProcessHandle.current().pid();
          write(
              table,
              at,
              ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(alive).array());
        });
  }

  @Test
  void shouldReplaceAQueueWhoseTableIsOverwritten() throws Exception {
    survives(true, queue -> write(queue.resolve("metadata.cq4t"), 0, new byte[4096]));
  }

  @Test
  void shouldReplaceAQueueWhoseFileIsOverwritten() throws Exception {
    survives(
        true,
        queue -> {
          Path file = currentFile(queue);
          write(file, 0, new byte[(int) Files.size(file)]);
        });
  }

  @Test
  void shouldReplaceAQueueWhoseFilesAreGone() throws Exception {
    survives(
        false,
        queue -> {
          Files.delete(currentFile(queue));
          awaitGone(queue);
        });
    survives(
        false,
        queue -> {
          Files.delete(queue.resolve("metadata.cq4t"));
          awaitGone(queue);
        });
  }

  @Test
  void shouldReplaceAQueueWhoseFileIsTruncated() throws Exception {
    survives(
        false,
        queue -> {
          try (var channel = FileChannel.open(currentFile(queue), StandardOpenOption.WRITE)) {
            channel.truncate(0);
          }
          awaitGone(queue);
        });
  }

  /// The endpoint has seen it, and ended the sessions.
  private static void awaitGone(Path queue) throws InterruptedException {
    while (Files.exists(queue)) {
      Thread.sleep(10);
    }
  }
}
