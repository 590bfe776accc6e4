package dev.kakehashi.pgwire;

import static dev.kakehashi.tck.drive.DrivenEngine.failureOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Limits of rows, transactions and connections.
@SuppressWarnings("NullAway") // what is null fails the test
class EngineLimitsTest extends OnPgWireServer {
  private PgWireEngine engine;
  private DrivenEngine client;

  private void open(int connections, Duration window, long rowBytes, long transactionBytes)
      throws IOException {
    engine =
        server.open(
            new PoolLimits(connections, window), new EngineLimits(100, rowBytes, transactionBytes));
    client = new DrivenEngine(engine, "test", "");
    client.run("drop table if exists t");
    client.run("create table t (id int8, name text)");
  }

  /// @param millis time-out of the statement; 0: none
  private static ExecuteOptions within(long millis) {
    return new ExecuteOptions(true, millis * 1_000_000, 0, 0);
  }

  @AfterEach
  void close() {
    client.close();
    engine.close();
  }

  @Test
  void shouldRefuseALongRowAndGoOn() throws IOException {
    open(5, Duration.ofSeconds(10), 100, 0);
    assertEquals(100, engine.capabilities().longestRowBytes());
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into t values ($1, $2)", 1L, "a");
      Object[][] rows = {{2L, "b"}, {3L, "c".repeat(93)}, {4L, "d"}};
      EngineException failure =
          failureOf(() -> transaction.runBatch("insert into t values ($1, $2)", rows));
      assertEquals(ErrorCode.LIMIT_EXCEEDED, failure.code());
      assertTrue(String.valueOf(failure.getMessage()).contains("a row of 101 bytes"));
      transaction.run("insert into t values ($1, $2)", 5L, "e".repeat(92));
      transaction.commit();
    }
    assertEquals(List.of("1", "5"), client.query("select id from t order by id"));
  }

  @Test
  void shouldRefuseATransactionThatChangesTooMuch() throws IOException {
    open(5, Duration.ofSeconds(10), 0, 1000);
    Object[][] rows = new Object[200][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new Object[] {(long) i, "12345678"};
    }
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          ErrorCode.LIMIT_EXCEEDED,
          failureOf(() -> transaction.runBatch("insert into t values ($1, $2)", rows)).code());
      transaction.commit();
    }
    assertEquals(List.of(), client.query("select id from t"));
    for (int i = 0; i < 100; i++) {
      client.query("select id from t where name = $1", "12345678"); // reading has no such limit
    }
  }

  @Test
  void shouldSayThatAllConnectionsAreInUse() throws IOException {
    open(1, Duration.ofMillis(200), 0, 0);
    try (DrivenTransaction first = client.begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = client.begin(Isolation.READ_COMMITTED)) {
      Statement question = client.prepare("select count(*) from t");
      first.start(question, within(0)).awaitRows();
      assertEquals(
          ErrorCode.TOO_MANY_SESSIONS,
          failureOf(() -> second.start(question, within(0)).awaitRows()).code());
    }
  }

  @Test
  void shouldEndAWaitForAConnectionWithTheStatementsTime() throws IOException {
    open(1, Duration.ofSeconds(30), 0, 0);
    try (DrivenTransaction first = client.begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = client.begin(Isolation.READ_COMMITTED)) {
      Statement question = client.prepare("select count(*) from t");
      first.start(question, within(0)).awaitRows();
      long begin = System.nanoTime();
      EngineException failure = failureOf(() -> second.start(question, within(100)).awaitRows());
      assertEquals(ErrorCode.QUERY_CANCELED, failure.code());
      assertTrue(System.nanoTime() - begin < Duration.ofSeconds(10).toNanos());
      first.rollback();
      assertEquals(List.of("0"), second.start(question, within(0)).awaitRows());
    }
  }
}
