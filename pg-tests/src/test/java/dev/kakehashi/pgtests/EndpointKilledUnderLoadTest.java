package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
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
import org.junit.jupiter.api.Test;

/// The endpoint is killed while four sessions commit: what was reported as stored is there, nothing is there by half, and who was not
/// answered can learn what became of the commit.
class EndpointKilledUnderLoadTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 3);
  private static final int SESSIONS = 4;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Pattern QUESTION =
      Pattern.compile("SELECT kakehashi_transaction_status\\('kakehashi', \\d+\\)");

  /// Queries for outcomes of transactions whose commit was interrupted, by the row that they insert.
  private final Map<Long, String> questions = new ConcurrentHashMap<>();

  @Test
  void shouldKeepEveryStoredCommitAndNoHalfOne() throws Exception {
    Random random = Sql.seededRandom("EndpointKilledUnderLoadTest");
    try (var cluster = Cluster.start("load")) {
      cluster.createTable("debit", "id int8, amount int4", "id");
      cluster.createTable("credit", "id int8, amount int4", "id");
      Set<Long> stored = ConcurrentHashMap.newKeySet();
      var nextId = new AtomicLong();
      for (int i = 0; i < KILLS; i++) {
        writeUntilKilled(cluster, stored, nextId, random.nextInt(400));
        cluster.endpoint().command("", "check");
        cluster.endpoint().start();
        try (Connection connection = cluster.connect()) {
          Set<Long> debits = ids(connection, "debit");
          assertEquals(
              debits, ids(connection, "credit"), "a transaction is there by half after kill " + i);
          var lost = new HashSet<>(stored);
          lost.removeAll(debits);
          assertTrue(lost.isEmpty(), "stored commits are lost after kill " + i + ": " + lost);
          checkAnswers(connection, debits);
        }
      }
      System.out.println(
          "EndpointKilledUnderLoadTest: "
              + stored.size()
              + " commits kept over "
              + KILLS
              + " kills, "
              + questions.size()
              + " asked about");
    }
  }

  /// Each client whose commit was interrupted learns what has become of it, in all later runs.
  private void checkAnswers(Connection connection, Set<Long> present) throws SQLException {
    for (var question : questions.entrySet()) {
      assertEquals(
          present.contains(question.getKey()) ? "committed" : "aborted",
          Sql.value(connection, question.getValue()),
          "transaction of row " + question.getKey() + ": " + question.getValue());
    }
  }

  /// Kills the endpoint at a random moment after the first commit.
  private void writeUntilKilled(Cluster cluster, Set<Long> stored, AtomicLong nextId, int millis)
      throws Exception {
    try (var pool = Executors.newFixedThreadPool(SESSIONS)) {
      int before = stored.size();
      var writers = new ArrayList<Future<?>>();
      for (int s = 0; s < SESSIONS; s++) {
        writers.add(pool.submit(() -> write(cluster, stored, nextId)));
      }
      Await.until("first commit", LIMIT, () -> stored.size() > before);
      TimeUnit.MILLISECONDS.sleep(millis); // the random moment is the point of the test
      cluster.endpoint().kill();
      for (Future<?> writer : writers) {
        writer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  /// Commits transactions over two tables until the endpoint is gone.
  private Void write(Cluster cluster, Set<Long> stored, AtomicLong nextId) throws SQLException {
    try (Connection connection = cluster.connect()) {
      connection.setAutoCommit(false);
      while (true) {
        long id = nextId.incrementAndGet();
        try {
          Sql.execute(
              connection,
              "INSERT INTO debit VALUES (" + id + ", 1)",
              "INSERT INTO credit VALUES (" + id + ", 1)");
          connection.commit();
          stored.add(id);
        } catch (SQLException e) {
          String state = String.valueOf(e.getSQLState());
          String said = String.valueOf(e.getMessage());
          assertTrue(state.startsWith("08"), "SQLSTATE " + state + ": " + said);
          if (state.equals("08007")) {
            Matcher question = QUESTION.matcher(said);
            assertTrue(question.find(), "does not say how to ask for the outcome: " + said);
            questions.put(id, question.group());
          }
          return null;
        }
      }
    }
  }

  private static Set<Long> ids(Connection connection, String table) throws SQLException {
    var ids = new HashSet<Long>();
    for (String id : Sql.rows(connection, "SELECT id FROM " + table)) {
      ids.add(Long.parseLong(id));
    }
    return ids;
  }
}
