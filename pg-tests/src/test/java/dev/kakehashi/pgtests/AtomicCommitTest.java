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
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Transactions that change the engine and a local table are whole on both sides or on none, whichever server is killed while they commit.
class AtomicCommitTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 4);
  private static final int SESSIONS = 4;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Set<Long> committed = ConcurrentHashMap.newKeySet();
  private final AtomicLong nextId = new AtomicLong();

  @Test
  void shouldBeWholeOnBothSidesOrOnNone() throws Exception {
    Random random = Sql.seededRandom("AtomicCommitTest");
    try (var cluster = Cluster.start("atomic")) {
      cluster.createTable("debit", "id int8, amount int4", "id");
      try (Connection connection = cluster.connect()) {
        Sql.execute(connection, "CREATE TABLE credit (id int8 PRIMARY KEY, amount int4)");
      }
      for (int i = 0; i < KILLS; i++) {
        boolean endpoint = i % 2 == 0;
        writeUntilKilled(cluster, endpoint, random.nextInt(300));
        if (endpoint) {
          cluster.endpoint().start();
        } else {
          cluster.postgres().start();
        }
        check(cluster, i);
      }
    }
  }

  private void check(Cluster cluster, int kill) throws SQLException {
    try (Connection connection = cluster.connect()) {
      // Backends of the last round may still be on their way out, with their transactions.
      Await.until(
          "all prepared parts to be resolved after kill " + kill,
          LIMIT,
          () -> isResolved(connection));
      Set<Long> debits = ids(connection, "debit");
      assertEquals(debits, ids(connection, "credit"), "by half after kill " + kill);
      var lost = new HashSet<>(committed);
      lost.removeAll(debits);
      assertTrue(lost.isEmpty(), "lost after kill " + kill + ": " + lost);
    }
  }

  private static boolean isResolved(Connection connection) {
    try {
      Sql.rows(connection, "SELECT outcome FROM kakehashi_resolve('kakehashi')");
      return Sql.value(
              connection,
              "SELECT n FROM kakehashi_query('kakehashi',"
                  + " 'SELECT count(*) FROM kakehashi_catalog.prepared_transactions') AS t (n bigint)")
          .equals("0");
    } catch (SQLException e) {
      throw new IllegalStateException("could not resolve", e);
    }
  }

  private void writeUntilKilled(Cluster cluster, boolean endpoint, int millis) throws Exception {
    int before = committed.size();
    try (var pool = Executors.newFixedThreadPool(SESSIONS)) {
      List<Future<?>> writers = new ArrayList<>();
      for (int s = 0; s < SESSIONS; s++) {
        writers.add(pool.submit(() -> write(cluster)));
      }
      Await.until("the first commit", LIMIT, () -> committed.size() > before);
      TimeUnit.MILLISECONDS.sleep(millis); // the random moment is the point of the test
      if (endpoint) {
        cluster.endpoint().kill();
      } else {
        cluster.postgres().kill();
      }
      for (Future<?> writer : writers) {
        writer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  /// Commits transactions over both sides until one of them is gone.
  private Void write(Cluster cluster) throws SQLException {
    try (Connection connection = cluster.connect()) {
      connection.setAutoCommit(false);
      while (true) {
        long id = nextId.incrementAndGet();
        try {
          Sql.execute(
              connection,
              "INSERT INTO debit VALUES (" + id + ", -1)",
              "INSERT INTO credit VALUES (" + id + ", 1)");
          connection.commit();
          committed.add(id);
        } catch (SQLException e) {
          String state = String.valueOf(e.getSQLState());
          assertTrue(
              state.startsWith("08") || state.startsWith("57P"),
              "SQLSTATE " + state + ": " + e.getMessage());
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
