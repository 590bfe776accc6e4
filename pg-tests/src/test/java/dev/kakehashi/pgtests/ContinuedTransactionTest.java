package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Two sessions of PostgreSQL work in one transaction of the engine.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ContinuedTransactionTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String TOKEN = "SELECT kakehashi_transaction_token('kakehashi')";
  private static final String IDS = "SELECT id FROM item ORDER BY id";

  private Cluster cluster;

  @BeforeAll
  void start() throws SQLException {
    cluster = Cluster.start("continued");
    cluster.createTable("item", "id int4, v int4", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "CREATE TABLE local (id int4)");
    }
  }

  @AfterAll
  void end() {
    cluster.close();
  }

  @BeforeEach
  void empty() throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "DELETE FROM item", "DELETE FROM local");
    }
  }

  private static void proceed(Connection connection, String token) throws SQLException {
    Sql.value(
        connection, "SELECT kakehashi_continue_transaction('kakehashi', '" + token + "')::text");
  }

  @Test
  void shouldShowEachWhatTheOtherHasDoneBefore() throws SQLException {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect();
        Connection stranger = cluster.connect()) {
      Sql.execute(one, "BEGIN");
      String token = Sql.value(one, TOKEN);
      for (int i = 0; i < 20; i++) {
        Sql.execute(one, "INSERT INTO item VALUES (" + i + ", 0)");
      }
      Sql.execute(two, "BEGIN");
      proceed(two, token);
      assertEquals("20", Sql.value(two, "SELECT count(*) FROM item"));
      Sql.execute(two, "UPDATE item SET v = v + 1", "INSERT INTO item VALUES (20, 1)");
      assertEquals("21|21", Sql.value(one, "SELECT count(*), sum(v) FROM item"));
      Sql.execute(one, "UPDATE item SET v = v + 1");
      assertEquals("21|42", Sql.value(two, "SELECT count(*), sum(v) FROM item"));
      Sql.execute(two, "UPDATE item SET v = v + 1 WHERE id = 3", "DELETE FROM item WHERE id < 3");
      assertEquals("18|37", Sql.value(one, "SELECT count(*), sum(v) FROM item"));
      // Statements that only read are one command to PostgreSQL.
      Sql.execute(two, "INSERT INTO item VALUES (21, 0)");
      assertEquals("19|37", Sql.value(one, "SELECT count(*), sum(v) FROM item"));
      Sql.execute(two, "DELETE FROM item WHERE id = 21");
      assertEquals("18|37", Sql.value(one, "SELECT count(*), sum(v) FROM item"));
      Sql.execute(one, "UPDATE item SET v = v + random()::int4 * 0 + 1 WHERE id > 18");
      assertEquals("18|39", Sql.value(two, "SELECT count(*), sum(v) FROM item"));
      assertEquals("0", Sql.value(stranger, "SELECT count(*) FROM item"));
      Sql.execute(two, "COMMIT");
      assertEquals("18|39", Sql.value(stranger, "SELECT count(*), sum(v) FROM item"));
      assertEquals("25P01", Sql.failure(one, IDS).getSQLState());
      Sql.execute(one, "ROLLBACK");
    }
  }

  @Test
  void shouldCommitOnceWhoeverCommits() throws SQLException {
    for (boolean beginnerFirst : List.of(true, false)) {
      try (Connection one = cluster.connect();
          Connection two = cluster.connect()) {
        Sql.execute(one, "BEGIN", "INSERT INTO local VALUES (1)", "INSERT INTO item VALUES (1, 1)");
        Sql.execute(two, "BEGIN", "INSERT INTO local VALUES (2)");
        proceed(two, Sql.value(one, TOKEN));
        Sql.execute(two, "INSERT INTO item VALUES (2, 2)");
        Sql.execute(beginnerFirst ? one : two, "COMMIT");
        Sql.execute(beginnerFirst ? two : one, "COMMIT");
        assertEquals(List.of("1", "2"), Sql.rows(one, IDS));
        assertEquals(List.of("1", "2"), Sql.rows(two, "SELECT id FROM local ORDER BY id"));
        assertEquals(
            "0",
            Sql.value(two, "SELECT count(*) FROM kakehashi_prepared_transactions('kakehashi')"));
      }
      empty();
    }
  }

  @Test
  void shouldCommitWhatHasOnlyBeenRead() throws SQLException {
    // Often: the second COMMIT may come before the endpoint has forgotten what the first has ended.
    for (int round = 0; round < 40; round++) {
      int order = round % 4;
      try (Connection one = cluster.connect();
          Connection two = cluster.connect()) {
        Sql.execute(one, "BEGIN");
        Sql.execute(two, "BEGIN");
        proceed(two, Sql.value(one, TOKEN));
        assertEquals(List.of(), Sql.rows(two, IDS));
        Connection first = order % 2 == 0 ? one : two;
        Connection second = order % 2 == 0 ? two : one;
        if (order > 1) {
          Sql.execute(second, "INSERT INTO local VALUES (1)");
        }
        Sql.execute(first, "COMMIT");
        Sql.execute(second, "COMMIT");
        assertEquals(order > 1 ? "1" : "0", Sql.value(two, "SELECT count(*) FROM local"));
      }
      empty();
    }
  }

  @Test
  void shouldCommitNothingThatTheOtherHasRolledBack() throws SQLException {
    for (boolean beginnerFirst : List.of(true, false)) {
      for (boolean local : List.of(true, false)) {
        try (Connection one = cluster.connect();
            Connection two = cluster.connect()) {
          Sql.execute(one, "BEGIN", "INSERT INTO item VALUES (1, 1)");
          Sql.execute(two, "BEGIN");
          proceed(two, Sql.value(one, TOKEN));
          Sql.execute(two, "INSERT INTO item VALUES (2, 2)");
          Connection second = beginnerFirst ? two : one;
          if (local) {
            Sql.execute(second, "INSERT INTO local VALUES (1)");
          }
          Sql.execute(beginnerFirst ? one : two, "ROLLBACK");
          assertEquals("25P01", Sql.failure(second, "COMMIT").getSQLState());
          assertEquals(
              "0|0", Sql.value(one, "SELECT (SELECT count(*) FROM item), count(*) FROM local"));
        }
      }
    }
  }

  /// The endpoint may not have forgotten the transaction yet.
  @Test
  void shouldRefuseACommitThatFollowsTheOthersRollbackAtOnce() throws SQLException {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect()) {
      for (int round = 0; round < 40; round++) {
        Sql.execute(one, "BEGIN", "INSERT INTO item VALUES (1, 1)");
        Sql.execute(two, "BEGIN");
        proceed(two, Sql.value(one, TOKEN));
        Sql.execute(two, "INSERT INTO item VALUES (2, 2)");
        Sql.execute(one, "ROLLBACK");
        assertEquals("25P01", Sql.failure(two, "COMMIT").getSQLState(), "round " + round);
      }
    }
  }

  @Test
  void shouldSayThatTheOtherHasCommittedWhatIsRolledBack() throws SQLException {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect();
        var statement = two.createStatement()) {
      Sql.execute(one, "BEGIN", "INSERT INTO item VALUES (1, 1)");
      statement.execute("BEGIN");
      proceed(two, Sql.value(one, TOKEN));
      Sql.execute(one, "COMMIT");
      statement.execute("ROLLBACK");
      assertEquals(
          "transaction on server \"kakehashi\" was committed before it could be rolled back",
          statement.getWarnings().getMessage());
      assertEquals(List.of("1"), Sql.rows(two, IDS));
    }
  }

  @Test
  void shouldLeaveTheTransactionWithTheSubtransactionThatHasContinuedIt() throws SQLException {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect()) {
      Sql.execute(one, "BEGIN", "INSERT INTO item VALUES (1, 1)");
      String token = Sql.value(one, TOKEN);
      Sql.execute(two, "BEGIN", "SAVEPOINT a");
      proceed(two, token);
      Sql.execute(two, "INSERT INTO item VALUES (2, 2)", "SAVEPOINT b");
      Sql.execute(two, "INSERT INTO item VALUES (3, 3)", "ROLLBACK TO b");
      Sql.execute(two, "INSERT INTO item VALUES (4, 4)", "RELEASE b");
      assertEquals(List.of("1", "2", "4"), Sql.rows(one, IDS));
      Sql.execute(two, "ROLLBACK TO a");
      // A transaction of its own, which does not see the other.
      assertEquals(List.of(), Sql.rows(two, IDS));
      Sql.execute(two, "INSERT INTO item VALUES (5, 5)", "COMMIT");
      assertEquals(List.of("1"), Sql.rows(one, "SELECT id FROM item WHERE id < 5"));
      Sql.execute(one, "COMMIT");
      assertEquals(List.of("1", "5"), Sql.rows(two, IDS));
    }
  }

  @Test
  void shouldKeepSavepointsOfTheTwoApart() throws SQLException {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect()) {
      Sql.execute(one, "BEGIN", "SAVEPOINT a", "INSERT INTO item VALUES (1, 1)");
      Sql.execute(two, "BEGIN");
      proceed(two, Sql.value(one, TOKEN));
      Sql.execute(two, "SAVEPOINT b", "INSERT INTO item VALUES (2, 2)", "SAVEPOINT c");
      Sql.execute(two, "INSERT INTO item VALUES (3, 3)", "ROLLBACK TO c", "RELEASE c");
      Sql.execute(one, "INSERT INTO item VALUES (4, 4)", "RELEASE a");
      Sql.execute(two, "RELEASE b", "INSERT INTO item VALUES (5, 5)");
      Sql.execute(one, "SAVEPOINT a", "INSERT INTO item VALUES (6, 6)", "ROLLBACK TO a");
      Sql.execute(two, "COMMIT");
      Sql.execute(one, "COMMIT");
      assertEquals(List.of("1", "2", "4", "5"), Sql.rows(two, IDS));
    }
  }

  @Test
  void shouldUndoNothingThatTheOtherHasDoneSinceARollback() throws SQLException {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect()) {
      Sql.execute(one, "BEGIN");
      Sql.execute(two, "BEGIN");
      proceed(two, Sql.value(one, TOKEN));
      for (List<Connection> pair : List.of(List.of(one, two), List.of(two, one))) {
        Connection each = pair.getFirst();
        Connection other = pair.getLast();
        Sql.execute(each, "SAVEPOINT a", "INSERT INTO item VALUES (1, 1)", "ROLLBACK TO a");
        Sql.execute(other, "INSERT INTO item SELECT 2 + count(*), 2 FROM item");
        Sql.execute(each, "INSERT INTO item SELECT 2 + count(*), 2 FROM item");
      }
      assertEquals(List.of("2", "3", "4", "5"), Sql.rows(one, IDS));
      // Not even where that one is the next to end it.
      Sql.execute(one, "SAVEPOINT b", "INSERT INTO item VALUES (1, 1)", "ROLLBACK TO b");
      Sql.execute(two, "INSERT INTO item VALUES (6, 2)");
      Sql.execute(one, "COMMIT");
      Sql.execute(two, "COMMIT");
      assertEquals(List.of("2", "3", "4", "5", "6"), Sql.rows(one, IDS));
    }
  }

  @Test
  void shouldRollBackToASavepointBehindAStatementOfTheOther() throws Exception {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect();
        Connection stranger = cluster.connect();
        Connection witness = cluster.connect();
        var executor = Executors.newFixedThreadPool(2)) {
      Sql.execute(stranger, "INSERT INTO item VALUES (100, 0)");
      Sql.execute(one, "BEGIN");
      String token = Sql.value(one, TOKEN);
      Sql.execute(one, "SAVEPOINT a", "INSERT INTO item VALUES (1, 1)");
      Sql.execute(two, "BEGIN");
      proceed(two, token);
      Sql.execute(stranger, "BEGIN", "UPDATE item SET v = 7 WHERE id = 100");
      Future<?> change =
          executor.submit(() -> {
            Sql.execute(two, "UPDATE item SET v = v + 1 WHERE id = 100");
            return null;
          });
      Await.until("the wait for the row", LIMIT, () -> isAnybodyWaiting(witness));
      // It does not wait for the statement's end, but what comes after it does.
      Sql.execute(one, "ROLLBACK TO a");
      Future<String> read =
          executor.submit(() -> Sql.value(one, "SELECT count(*), sum(v) FROM item"));
      assertFalse(change.isDone() || read.isDone());
      Sql.execute(stranger, "ROLLBACK");
      change.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      // The update came before the rollback, and after the savepoint.
      assertEquals("1|0", read.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
      Sql.execute(two, "INSERT INTO item VALUES (2, 2)");
      assertEquals("2|2", Sql.value(one, "SELECT count(*), sum(v) FROM item"));
      Sql.execute(one, "COMMIT");
      Sql.execute(two, "COMMIT");
      assertEquals(List.of("2", "100"), Sql.rows(stranger, IDS));
    }
  }

  private static boolean isAnybodyWaiting(Connection connection) {
    try {
      return !"0"
          .equals(
              Sql.value(
                  connection,
                  "SELECT n FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM kakehashi_catalog.waits') AS waits (n int8)"));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldRollBackOnceWhereTheEndpointIsSlow() throws Exception {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect()) {
      Sql.execute(one, "BEGIN");
      String token = Sql.value(one, TOKEN);
      Sql.execute(one, "SAVEPOINT a", "INSERT INTO item VALUES (1, 1)");
      Sql.execute(two, "BEGIN");
      proceed(two, token);
      cluster.endpoint().pause();
      try {
        Sql.execute(one, "ROLLBACK TO a");
      } finally {
        cluster.endpoint().resume();
      }
      Sql.execute(two, "INSERT INTO item SELECT 2 + count(*), 2 FROM item");
      Sql.execute(one, "INSERT INTO item SELECT 2 + count(*), 2 FROM item", "COMMIT");
      Sql.execute(two, "COMMIT");
      assertEquals(List.of("2", "3"), Sql.rows(two, IDS));
    }
  }

  @Test
  void shouldRollBackWhatASessionLeavesBehind() throws Exception {
    try (Connection one = cluster.connect();
        Connection stranger = cluster.connect()) {
      Sql.execute(one, "BEGIN", "INSERT INTO item VALUES (1, 1)");
      String token = Sql.value(one, TOKEN);
      String backend;
      try (Connection two = cluster.connect()) {
        backend = Sql.value(two, "SELECT pg_backend_pid()");
        Sql.execute(two, "BEGIN");
        proceed(two, token);
        Sql.execute(two, "INSERT INTO item VALUES (2, 2)");
      }
      Await.until("the end of the backend", LIMIT, () -> isGone(stranger, backend));
      assertEquals("25P01", Sql.failure(one, "COMMIT").getSQLState());
      assertEquals(List.of(), Sql.rows(one, IDS));
    }
  }

  private static boolean isGone(Connection connection, String backend) {
    try {
      return Sql.rows(connection, "SELECT 1 FROM pg_stat_activity WHERE pid = " + backend)
          .isEmpty();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
