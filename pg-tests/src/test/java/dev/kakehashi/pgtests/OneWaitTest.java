package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// An INSERT that is alone in its transaction goes to the endpoint with its commit, also by the extended protocol, and what its client is
/// told stands whatever ends it.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OneWaitTest {
  private static final int KILLS = 4;
  private static final int SESSIONS = 4;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Pattern QUESTION =
      Pattern.compile("SELECT kakehashi_transaction_status\\('kakehashi', \\d+\\)");

  private final Cluster cluster = Cluster.start("one-wait");
  private final AtomicLong ids = new AtomicLong(1000);

  @BeforeAll
  void createTable() throws SQLException {
    cluster.createTable("item", "id int8, v int4", "id");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void shouldTakeOneRequest() throws SQLException {
    try (Connection connection = cluster.connect();
        Connection witness = cluster.connect();
        PreparedStatement insert = connection.prepareStatement("INSERT INTO item VALUES (?, ?)")) {
      insertAll(insert, 10);
      String requests =
          "SELECT requests FROM kakehashi_sessions('kakehashi') WHERE session_id = "
              + Sql.value(connection, "SELECT session_id FROM kakehashi_sessions");
      long before = Long.parseLong(Sql.value(witness, requests));
      insertAll(insert, 20);
      assertEquals(before + 20, Long.parseLong(Sql.value(witness, requests)));
    }
  }

  private void insertAll(PreparedStatement insert, int rows) throws SQLException {
    for (int i = 0; i < rows; i++) {
      insert.setLong(1, ids.incrementAndGet());
      insert.setInt(2, i);
      assertEquals(1, insert.executeUpdate());
    }
  }

  @Test
  void shouldFailAsItsStatement() throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "INSERT INTO item VALUES (1, 0)");
      SQLException failure = Sql.failure(connection, "INSERT INTO item VALUES (2, 0), (1, 1)");
      assertEquals("23505", failure.getSQLState());
      assertEquals("0", Sql.value(connection, "SELECT count(*) FROM item WHERE id = 2"));
    }
  }

  @Test
  void shouldSayWhichStatementOfAPipelineHasFailed() throws SQLException {
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      statement.addBatch("INSERT INTO item VALUES (10, 0)");
      statement.addBatch("INSERT INTO item VALUES (11, 0)");
      statement.addBatch("INSERT INTO item VALUES (11, 1)");
      statement.addBatch("INSERT INTO item VALUES (12, 0)");
      var failure = assertThrows(BatchUpdateException.class, statement::executeBatch);
      assertEquals("23505", failure.getSQLState());
      String said = String.valueOf(failure.getMessage());
      assertTrue(said.contains("Batch entry 2 "), said);
      statement.clearBatch();
      assertEquals(
          "0", Sql.value(connection, "SELECT count(*) FROM item WHERE id BETWEEN 10 AND 12"));
      statement.addBatch("INSERT INTO item VALUES (10, 0)");
      statement.addBatch("INSERT INTO item VALUES (11, 0), (12, 0)");
      assertArrayEquals(new int[] {1, 2}, statement.executeBatch());
    }
  }

  @Test
  void shouldObeyStatementTimeoutWhileTheEndpointIsStopped() throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "INSERT INTO item VALUES (20, 0)", "SET statement_timeout = '200ms'");
      cluster.endpoint().pause();
      try {
        Await.until("the stop of all threads", LIMIT, this::isStopped);
        SQLException failure = Sql.failure(connection, "INSERT INTO item VALUES (21, 0)");
        assertEquals("57014", failure.getSQLState());
      } finally {
        cluster.endpoint().resume();
      }
      Sql.execute(connection, "RESET statement_timeout");
      assertEquals("1", Sql.value(connection, "SELECT count(*) FROM item WHERE id = 20"));
    }
  }

  /// A thread that is at work stops with its next entry into the kernel.
  private boolean isStopped() {
    Path threads = Path.of("/proc", Long.toString(cluster.endpoint().pid()), "task");
    try (Stream<Path> all = Files.list(threads)) {
      for (Path thread : all.toList()) {
        if (!Files.readString(thread.resolve("status")).contains("State:\tT")) {
          return false;
        }
      }
      return true;
    } catch (NoSuchFileException e) {
      return false; // it has ended meanwhile
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// A row whose client is told of success is there after a kill, and a client that is told that the outcome is not known learns it.
  @Test
  void shouldStandByItsWordThroughKills() throws Exception {
    Random random = Sql.seededRandom("OneWaitTest");
    Set<Long> stored = ConcurrentHashMap.newKeySet();
    Set<Long> refused = ConcurrentHashMap.newKeySet();
    Map<Long, String> questions = new ConcurrentHashMap<>();
    for (int i = 0; i < KILLS; i++) {
      insertUntilKilled(stored, refused, questions, random.nextInt(300));
      cluster.endpoint().start();
      try (Connection connection = cluster.connect()) {
        var present = new HashSet<Long>();
        for (String id : Sql.rows(connection, "SELECT id FROM item")) {
          present.add(Long.parseLong(id));
        }
        var lost = new HashSet<>(stored);
        lost.removeAll(present);
        assertEquals(Set.of(), lost, "stored rows are lost after kill " + i);
        var kept = new HashSet<>(refused);
        kept.retainAll(present);
        assertEquals(
            Set.of(), kept, "rows are there that were told to be rolled back, after kill " + i);
        for (var question : questions.entrySet()) {
          assertEquals(
              present.contains(question.getKey()) ? "committed" : "aborted",
              Sql.value(connection, question.getValue()),
              "row " + question.getKey() + ": " + question.getValue());
        }
      }
    }
    System.out.println(
        "OneWaitTest: "
            + stored.size()
            + " rows kept over "
            + KILLS
            + " kills, "
            + questions.size()
            + " asked about, "
            + refused.size()
            + " rolled back");
  }

  private void insertUntilKilled(
      Set<Long> stored, Set<Long> refused, Map<Long, String> questions, int millis)
      throws Exception {
    try (var pool = Executors.newFixedThreadPool(SESSIONS)) {
      int before = stored.size();
      List<Future<?>> writers = new ArrayList<>();
      for (int s = 0; s < SESSIONS; s++) {
        writers.add(pool.submit(() -> insertUntilFailure(stored, refused, questions)));
      }
      Await.until("first row", LIMIT, () -> stored.size() > before);
      TimeUnit.MILLISECONDS.sleep(millis); // the random moment is the point of the test
      cluster.endpoint().kill();
      for (Future<?> writer : writers) {
        writer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  private Void insertUntilFailure(Set<Long> stored, Set<Long> refused, Map<Long, String> questions)
      throws SQLException {
    try (Connection connection = cluster.connect()) {
      while (true) {
        long id = ids.incrementAndGet();
        try {
          Sql.execute(connection, "INSERT INTO item VALUES (" + id + ", 1)");
          stored.add(id);
        } catch (SQLException e) {
          String said = String.valueOf(e.getMessage());
          String state = String.valueOf(e.getSQLState());
          assertTrue(state.startsWith("08"), "SQLSTATE " + state + ": " + said);
          if (!state.equals("08007")) {
            refused.add(id);
            return null;
          }
          // An endpoint that has not begun with the row has no transaction to ask for.
          Matcher question = QUESTION.matcher(said);
          if (question.find()) {
            questions.put(id, question.group());
          } else {
            assertTrue(said.contains("was not seen to begin"), said);
          }
          return null;
        }
      }
    }
  }
}
