package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The end of a transaction that PostgreSQL has answered is over for everybody: whoever comes then finds its rows free.
///
/// The endpoint is stopped when the end is asked for: an answer that came meanwhile would be one before the engine has let go.
class TransactionEndTest {
  private static final String LOCK = "SELECT id FROM item WHERE id = 1 FOR UPDATE SKIP LOCKED";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final ExecutorService clients = Executors.newCachedThreadPool();
  private Cluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = Cluster.start("transaction-end");
    cluster.createTable("item", "id int8, val int4", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(
          connection,
          "CREATE TABLE local (id int)",
          "INSERT INTO item SELECT g, 0 FROM generate_series(1, 5) g");
    }
  }

  @AfterEach
  void stop() {
    clients.close();
    cluster.close();
  }

  private CompletableFuture<Void> running(Connection connection, String sql) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            Sql.execute(connection, sql);
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        },
        clients);
  }

  private static boolean isStopped(long pid) {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
      return threads.allMatch(TransactionEndTest::isThreadStopped);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isThreadStopped(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
    } catch (IOException e) {
      // It has ended meanwhile.
      return true;
    }
  }

  @Test
  void shouldAnswerWhenTheEngineHasLetGo() throws Exception {
    try (Connection first = cluster.connect();
        Connection second = cluster.connect()) {
      // Its session is attached before the endpoint stops.
      assertEquals("1", Sql.value(second, LOCK));
      for (String end : List.of("COMMIT", "ROLLBACK")) {
        for (String work :
            List.of(
                LOCK + "; " + LOCK,
                "SELECT id FROM item FOR SHARE",
                "INSERT INTO local VALUES (1); SELECT id FROM item FOR KEY SHARE",
                "SAVEPOINT s; " + LOCK + "; RELEASE s",
                "SELECT * FROM kakehashi_query('kakehashi', '" + LOCK + "') AS t (id int8)")) {
          Sql.execute(first, "BEGIN; " + work);
          assertEquals(List.of(), Sql.rows(second, LOCK), work);
          long pid = cluster.endpoint().pid();
          OsProcess.signal("STOP", pid);
          // Its threads stop one after another.
          Await.until("stop of all threads", LIMIT, () -> isStopped(pid));
          CompletableFuture<Void> ends;
          try {
            ends = running(first, end);
            assertThrows(
                TimeoutException.class, () -> ends.get(100, TimeUnit.MILLISECONDS), end + work);
          } finally {
            OsProcess.signal("CONT", cluster.endpoint().pid());
          }
          ends.get(60, TimeUnit.SECONDS);
          assertEquals("1", Sql.value(second, LOCK), end + " after " + work);
        }
      }
    }
  }
}
