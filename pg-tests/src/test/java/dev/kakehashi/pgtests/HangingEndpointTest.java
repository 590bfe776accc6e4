package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// COMMIT of a transaction over both sides while the endpoint is stopped: it can be ended, and when the endpoint goes on both sides agree
/// and no row is held, also for sessions that were there before.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HangingEndpointTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Cluster cluster = Cluster.start("hanging");
  private Connection pooled;
  private Connection witness;

  HangingEndpointTest() throws SQLException {
    pooled = cluster.connect();
    witness = cluster.connect();
  }

  @BeforeAll
  void createTables() throws SQLException {
    cluster.createTable("item", "id int4, v int4", "id");
    Sql.execute(witness, "CREATE TABLE local_item (v int4)", "INSERT INTO item VALUES (1, 0)");
    Sql.execute(pooled, "SET lock_timeout = '60s'");
  }

  @BeforeEach
  void empty() throws SQLException {
    Sql.execute(pooled, "TRUNCATE local_item", "UPDATE item SET v = 0");
  }

  @AfterEach
  void resume() throws SQLException {
    cluster.endpoint().resume();
    // Whatever a test has failed at, no commit waits for a standby that does not exist.
    Sql.execute(witness, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
  }

  @AfterAll
  void stop() throws SQLException {
    pooled.close();
    witness.close();
    cluster.close();
  }

  @Test
  void shouldObeyACancelAndRollBothSidesBack() throws Exception {
    try (Connection connection = change()) {
      cluster.endpoint().pause();
      CompletableFuture<String> commit = commit(connection);
      signalUntilDone("pg_cancel_backend", commit);
      assertEquals("57014", commit.join());
      checkRolledBack();
    }
  }

  @Test
  void shouldObeyTermination() throws Exception {
    Connection connection = change();
    cluster.endpoint().pause();
    CompletableFuture<String> commit = commit(connection);
    signalUntilDone("pg_terminate_backend", commit);
    assertEquals("57P01", commit.join());
    checkRolledBack();
  }

  @Test
  void shouldEndWithAnErrorOfItsOwnAfterTheCommitTimeout() throws Exception {
    try (Connection connection = change()) {
      Sql.execute(connection, "SET kakehashi.commit_timeout = '100ms'");
      cluster.endpoint().pause();
      assertEquals("57K01", commit(connection).join());
      checkRolledBack();
    }
  }

  @Test
  void shouldObeyStatementTimeout() throws Exception {
    try (Connection connection = change()) {
      Sql.execute(connection, "SET statement_timeout = '100ms'");
      cluster.endpoint().pause();
      assertEquals("57014", commit(connection).join());
      Sql.execute(connection, "RESET statement_timeout");
      checkRolledBack();
    }
  }

  /// PostgreSQL has committed and waits for a standby that does not exist, so that the endpoint can be stopped between the two phases.
  @Test
  void shouldKeepTheCommitWhenTheSecondPhaseIsCanceled() throws Exception {
    try (Connection connection = change()) {
      requireStandby();
      CompletableFuture<String> commit = commit(connection);
      awaitCommit("wait_event = 'SyncRep'");
      cluster.endpoint().pause();
      Sql.execute(
          witness, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
      awaitCommit("wait_event IS DISTINCT FROM 'SyncRep'");
      signalUntilDone("pg_cancel_backend", commit);
      assertEquals("00000", commit.join());
      cluster.endpoint().resume();
      Sql.execute(pooled, "UPDATE item SET v = v + 10");
      assertEquals("11", Sql.value(pooled, "SELECT v FROM item"));
      assertEquals("1", Sql.value(pooled, "SELECT count(*) FROM local_item"));
      assertEquals("0", parts());
    }
  }

  /// Lets commits wait for a standby that does not exist. The checkpointer tells the others that there is one to wait for: a checkpoint
  /// that is asked for after the new setting is known comes after that.
  private void requireStandby() throws SQLException {
    Sql.execute(
        witness,
        "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
        "SELECT pg_reload_conf()");
    Await.until(
        "the setting", LIMIT, () -> value("SHOW synchronous_standby_names").equals("nobody"));
    Sql.execute(witness, "CHECKPOINT");
  }

  /// A session that has changed both sides and not committed.
  private Connection change() throws SQLException {
    Connection connection = cluster.connect();
    Sql.execute(
        connection, "BEGIN", "UPDATE item SET v = v + 1", "INSERT INTO local_item VALUES (1)");
    return connection;
  }

  /// @return the SQLSTATE that COMMIT ends with
  private static CompletableFuture<String> commit(Connection connection) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            Sql.execute(connection, "COMMIT");
            return "00000";
          } catch (SQLException e) {
            return String.valueOf(e.getSQLState());
          }
        },
        Thread::startVirtualThread);
  }

  private static final String COMMITTING = " WHERE state = 'active' AND query = 'COMMIT'";

  private void awaitCommit(String condition) {
    Await.until(
        "COMMIT with " + condition,
        LIMIT,
        () ->
            value("SELECT count(*) FROM pg_stat_activity" + COMMITTING + " AND " + condition)
                .equals("1"));
  }

  /// A signal that comes before the COMMIT has begun to wait is for nobody.
  private void signalUntilDone(String function, CompletableFuture<String> commit) {
    Await.until(
        "end of COMMIT by " + function,
        LIMIT,
        () -> {
          value("SELECT count(" + function + "(pid)) FROM pg_stat_activity" + COMMITTING);
          return commit.isDone();
        });
  }

  private String value(String sql) {
    try {
      return Sql.value(witness, sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private String parts() throws SQLException {
    return Sql.value(
        pooled,
        "SELECT n FROM kakehashi_query('kakehashi',"
            + " 'SELECT count(*) FROM kakehashi_catalog.prepared_transactions') AS t (n bigint)");
  }

  private void checkRolledBack() throws SQLException {
    cluster.endpoint().resume();
    // The row is free for a session that was there before, without anybody new attaching.
    Sql.execute(pooled, "UPDATE item SET v = v + 10");
    assertEquals("10", Sql.value(pooled, "SELECT v FROM item"));
    assertEquals("0", Sql.value(pooled, "SELECT count(*) FROM local_item"));
    assertEquals("0", parts());
  }
}
