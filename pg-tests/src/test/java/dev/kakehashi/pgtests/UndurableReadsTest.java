package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.PreloadedLibrary;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Rows that a transaction has read of foreign tables are there after a crash once its end was reported, as with PostgreSQL's own tables.
/// Its backend waits while the engine's disk does.
///
/// The disk is held by a library that is preloaded into the endpoint, see `disk_faults.c`.
class UndurableReadsTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final List<String> READS =
      List.of(
          "SELECT val FROM item WHERE id = 1",
          "SELECT sum(val) FROM item",
          "BEGIN; DECLARE c CURSOR FOR SELECT val FROM item; FETCH 1 FROM c; COMMIT",
          "BEGIN READ ONLY; SELECT val FROM item WHERE id = 1; SELECT val FROM other; COMMIT",
          "INSERT INTO item VALUES (1, 7) ON CONFLICT DO NOTHING");

  private final ExecutorService clients = Executors.newCachedThreadPool();
  private Workspace workspace;
  private Cluster cluster;

  @BeforeEach
  void start() throws Exception {
    workspace = Workspace.create("undurable");
    Path library =
        PreloadedLibrary.compile(
            Installation.checkout().resolve("ipc-endpoint/server/src/test/c/disk_faults.c"),
            workspace.disk());
    Files.writeString(control(), "0", StandardCharsets.US_ASCII);
    cluster =
        Cluster.startWith(
            Map.of(
                "LD_PRELOAD",
                library.toString(),
                "KAKEHASHI_FAULT_CONTROL",
                control().toString(),
                "KAKEHASHI_FAULT_PATH",
                "/store/log/"),
            workspace);
    cluster.createTable("item", "id int8, val int4", "id");
    cluster.createTable("other", "id int8, val int4", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "INSERT INTO item VALUES (1, 0)", "INSERT INTO other VALUES (1, 5)");
    }
  }

  @AfterEach
  void stop() throws IOException {
    disk('0');
    clients.close();
    cluster.close();
  }

  private Path control() {
    return workspace.disk().resolve("control");
  }

  /// 'w' holds what the log writes, '0' lets it go.
  private void disk(char what) throws IOException {
    // The byte is changed in place: the endpoint has the file mapped.
    try (var file = new RandomAccessFile(control().toFile(), "rw")) {
      file.write(what);
    }
  }

  private CompletableFuture<Void> running(String sql) {
    return CompletableFuture.runAsync(
        () -> {
          try (Connection connection = cluster.connect()) {
            Sql.execute(connection, sql);
          } catch (SQLException e) {
            throw new IllegalStateException(sql + ": " + e.getSQLState() + " " + e.getMessage(), e);
          }
        },
        clients);
  }

  /// Commits a change that the disk does not take, and waits until others see it.
  private CompletableFuture<Void> updateUndurably() throws Exception {
    disk('w');
    CompletableFuture<Void> writer = running("UPDATE item SET val = 1 WHERE id = 1");
    try (Connection connection = cluster.connect()) {
      connection.setAutoCommit(false);
      Await.until("sight of the update", LIMIT, () -> isVisible(connection));
    }
    return writer;
  }

  /// A transaction that is rolled back waits for nothing.
  private static boolean isVisible(Connection connection) {
    try {
      boolean visible = "1".equals(Sql.value(connection, "SELECT val FROM item WHERE id = 1"));
      connection.rollback();
      return visible;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void assertWaits(CompletableFuture<Void> end) {
    assertThrows(TimeoutException.class, () -> end.get(200, TimeUnit.MILLISECONDS));
  }

  @Test
  void shouldAnswerAReaderWhenWhatItReadIsDurable() throws Exception {
    CompletableFuture<Void> writer = updateUndurably();
    var readers = new ArrayList<CompletableFuture<Void>>();
    READS.forEach(sql -> readers.add(running(sql)));
    // A transaction that has not read the row, or does not ask for durability, does not wait.
    running("SELECT val FROM other").get(60, TimeUnit.SECONDS);
    running("SET kakehashi.commit_response = 'available'; SELECT val FROM item")
        .get(60, TimeUnit.SECONDS);
    running("BEGIN; SELECT val FROM item; ROLLBACK").get(60, TimeUnit.SECONDS);
    assertWaits(writer);
    readers.forEach(UndurableReadsTest::assertWaits);
    disk('0');
    writer.get(60, TimeUnit.SECONDS);
    for (var reader : readers) {
      reader.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void shouldFailAReaderWhoseRowACrashTakesBack() throws Exception {
    CompletableFuture<Void> writer = updateUndurably();
    var readers = new ArrayList<CompletableFuture<Void>>();
    READS.forEach(sql -> readers.add(running(sql)));
    readers.forEach(UndurableReadsTest::assertWaits);
    cluster.endpoint().kill();
    readers.add(writer);
    for (var end : readers) {
      assertThrows(ExecutionException.class, () -> end.get(60, TimeUnit.SECONDS));
    }
    disk('0');
    cluster.endpoint().start();
    try (Connection connection = cluster.connect()) {
      assertEquals("0", Sql.value(connection, "SELECT val FROM item"));
    }
  }
}
