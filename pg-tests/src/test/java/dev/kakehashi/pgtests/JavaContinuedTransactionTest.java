package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.JavaSession;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// PostgreSQL and a Java program continue each other's transactions.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JavaContinuedTransactionTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String IDS = "SELECT id FROM item ORDER BY id";
  private static final String COUNT = "count select count(*)::int8 from item";

  private Cluster cluster;
  private JavaSession java;
  private Connection postgres;
  private Connection stranger;

  @BeforeAll
  void start() throws SQLException {
    cluster = Cluster.start("continued-java");
    cluster.createTable("item", "id int4, v int4", "id");
    java = JavaSession.open(cluster);
    stranger = cluster.connect();
    Sql.execute(stranger, "CREATE TABLE local (id int4)");
  }

  @AfterAll
  void end() throws SQLException {
    try (Cluster _ = cluster;
        JavaSession _ = java) {
      stranger.close();
    }
  }

  @BeforeEach
  void connect() throws SQLException {
    Sql.execute(stranger, "DELETE FROM item", "DELETE FROM local");
    postgres = cluster.connect();
  }

  @AfterEach
  void disconnect() throws SQLException {
    postgres.close();
  }

  private String beganByPostgres() throws SQLException {
    Sql.execute(postgres, "BEGIN", "INSERT INTO item VALUES (1, 1)");
    return Sql.value(postgres, "SELECT kakehashi_transaction_token()");
  }

  private void continuedByPostgres() throws SQLException {
    assertEquals("", java.run("begin"));
    assertEquals("1", java.run("change insert into item values (1, 1)"));
    String token = java.run("token");
    Sql.execute(postgres, "BEGIN");
    proceed(postgres, token);
  }

  private static void proceed(Connection connection, String token) throws SQLException {
    Sql.value(
        connection, "SELECT kakehashi_continue_transaction('kakehashi', '" + token + "')::text");
  }

  @Test
  void shouldLetJavaContinueAndCommitWhatPostgresHasBegun() throws SQLException {
    assertEquals("", java.run("continue " + beganByPostgres()));
    assertEquals("1", java.run(COUNT));
    assertEquals("1", java.run("change insert into item values (2, 2)"));
    assertEquals(List.of("1", "2"), Sql.rows(postgres, IDS));
    assertEquals(List.of(), Sql.rows(stranger, IDS));
    assertEquals("", java.run("commit"));
    assertEquals(List.of("1", "2"), Sql.rows(stranger, IDS));
    Sql.execute(postgres, "INSERT INTO local VALUES (1)", "COMMIT");
    assertEquals("1", Sql.value(stranger, "SELECT count(*) FROM local"));
  }

  @Test
  void shouldLetPostgresCommitWhatJavaHasContinued() throws SQLException {
    assertEquals("", java.run("continue " + beganByPostgres()));
    assertEquals("1", java.run("change insert into item values (2, 2)"));
    Sql.execute(postgres, "INSERT INTO local VALUES (1)", "COMMIT");
    assertEquals("COMMITTED", java.run("state"));
    assertEquals("", java.run("commit"));
    assertEquals("error 25P01", java.run(COUNT));
    assertEquals(List.of("1", "2"), Sql.rows(stranger, IDS));
  }

  @Test
  void shouldLetPostgresContinueAndCommitWhatJavaHasBegun() throws SQLException {
    continuedByPostgres();
    assertEquals(List.of("1"), Sql.rows(postgres, IDS));
    Sql.execute(postgres, "INSERT INTO item VALUES (2, 2)", "INSERT INTO local VALUES (1)");
    assertEquals("2", java.run(COUNT));
    Sql.execute(postgres, "COMMIT");
    assertEquals("COMMITTED", java.run("state"));
    assertEquals("", java.run("commit"));
    assertEquals(List.of("1", "2"), Sql.rows(stranger, IDS));
    assertEquals("1", Sql.value(stranger, "SELECT count(*) FROM local"));
  }

  @Test
  void shouldLetPostgresRollBackWhatJavaHasBegun() throws SQLException {
    continuedByPostgres();
    Sql.execute(postgres, "INSERT INTO item VALUES (2, 2)", "ROLLBACK");
    assertEquals("error 25P01", java.run(COUNT));
    assertEquals("error 25P01", java.run("commit"));
    assertEquals("ABORTED", java.run("state"));
    assertEquals(List.of(), Sql.rows(stranger, IDS));
  }

  @Test
  void shouldCommitNothingOfPostgresThatJavaHasRolledBack() throws SQLException {
    continuedByPostgres();
    Sql.execute(postgres, "INSERT INTO item VALUES (2, 2)", "INSERT INTO local VALUES (1)");
    assertEquals("", java.run("rollback"));
    assertEquals("25P01", Sql.failure(postgres, "COMMIT").getSQLState());
    assertEquals("0", Sql.value(stranger, "SELECT count(*) FROM local"));
    assertEquals(List.of(), Sql.rows(stranger, IDS));
  }

  @Test
  void shouldCommitAsWasDecidedOnWhatTheOtherHasPrepared() throws Exception {
    for (boolean commits : List.of(true, false)) {
      continuedByPostgres();
      Sql.execute(postgres, "INSERT INTO item VALUES (2, 2)", "INSERT INTO local VALUES (1)");
      assertEquals("", java.run("prepare both"));
      try (var executor = Executors.newSingleThreadExecutor()) {
        Future<?> commit =
            executor.submit(() -> {
              Sql.execute(postgres, "COMMIT");
              return null;
            });
        Await.until("the wait of the COMMIT", LIMIT, () -> isWaiting(commit));
        assertEquals("", java.run("decide " + (commits ? "commit" : "rollback") + " both"));
        if (commits) {
          commit.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } else {
          var failure =
              assertThrows(
                  ExecutionException.class, () -> commit.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
          SQLException cause = assertInstanceOf(SQLException.class, failure.getCause());
          assertEquals("25P01", cause.getSQLState());
        }
      }
      assertEquals(
          commits ? "2|1" : "0|0",
          Sql.value(stranger, "SELECT (SELECT count(*) FROM item), count(*) FROM local"));
      Sql.execute(stranger, "DELETE FROM item", "DELETE FROM local");
    }
  }

  private boolean isWaiting(Future<?> commit) {
    try {
      return commit.isDone()
          || "1"
              .equals(
                  Sql.value(
                      stranger,
                      "SELECT count(*) FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active' AND wait_event_type = 'Extension'"));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldGiveUpTheWaitForADecision() throws SQLException {
    continuedByPostgres();
    Sql.execute(postgres, "SET kakehashi.commit_timeout = '50ms'");
    assertEquals("", java.run("prepare late"));
    assertEquals("57K01", Sql.failure(postgres, "COMMIT").getSQLState());
    assertEquals("", java.run("decide commit late"));
    assertEquals(List.of("1"), Sql.rows(stranger, IDS));
  }

  @Test
  void shouldKeepNothingOfABackendThatIsKilled() throws Exception {
    try (var killed = Cluster.start("continued-killed")) {
      killed.createTable("item", "id int4, v int4", "id");
      try (Connection connection = killed.connect();
          JavaSession program = JavaSession.open(killed)) {
        assertEquals("", program.run("begin"));
        assertEquals("1", program.run("change insert into item values (1, 1)"));
        Sql.execute(connection, "CREATE TABLE local (id int4)", "BEGIN");
        proceed(connection, program.run("token"));
        Sql.execute(connection, "INSERT INTO item VALUES (2, 2)", "INSERT INTO local VALUES (2)");
        OsProcess.signal("KILL", Long.parseLong(Sql.value(connection, "SELECT pg_backend_pid()")));
        Await.until("the rollback", LIMIT, () -> program.run("state").equals("ABORTED"));
        assertEquals("error 25P01", program.run("commit"));
        assertEquals("", program.run("begin"));
        assertEquals("0", program.run(COUNT));
      }
    }
  }

  @Test
  void shouldGoOnWhenTheProgramThatHasBegunItLeaves() throws SQLException {
    continuedByPostgres();
    Sql.execute(postgres, "INSERT INTO item VALUES (2, 2)");
    assertEquals("", java.run("leave"));
    assertEquals(List.of("1", "2"), Sql.rows(postgres, IDS));
    Sql.execute(postgres, "COMMIT");
    assertEquals(List.of("1", "2"), Sql.rows(stranger, IDS));
  }

  @Test
  void shouldKeepSavepointsOfBothApart() throws SQLException {
    continuedByPostgres();
    Sql.execute(postgres, "SAVEPOINT a", "INSERT INTO item VALUES (2, 2)");
    assertEquals("1", java.run("savepoint"));
    assertEquals("1", java.run("change insert into item values (3, 3)"));
    Sql.execute(postgres, "SAVEPOINT b", "INSERT INTO item VALUES (4, 4)", "ROLLBACK TO b");
    Sql.execute(postgres, "RELEASE a", "INSERT INTO item VALUES (5, 5)");
    assertEquals("", java.run("release 1"));
    assertEquals(List.of("1", "2", "3", "5"), Sql.rows(postgres, IDS));
    Sql.execute(postgres, "COMMIT");
    assertEquals(List.of("1", "2", "3", "5"), Sql.rows(stranger, IDS));
  }
}
