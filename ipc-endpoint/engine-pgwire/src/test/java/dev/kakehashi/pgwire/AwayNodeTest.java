package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A server that spreads its rows cannot reach one of its nodes. A function stands for such a statement: it fails as one does while the
/// table `away` has a row, and counts its calls in a sequence.
class AwayNodeTest extends OnPgWireServer {
  private static final String INSERT = "insert into t select reached(1)";

  private PgWireEngine engine;
  private DrivenEngine client;

  @BeforeEach
  void open() throws IOException {
    engine = engine(Duration.ofSeconds(30));
    client = new DrivenEngine(engine, "test", "");
    client.run("drop table if exists t, away");
    client.run("drop sequence if exists calls");
    client.run("create table t (id int8 primary key)");
    client.run("create table away (node int4)");
    client.run("create sequence calls");
    client.run(
        "create or replace function reached(id int8) returns int8 language plpgsql as $$ begin perform nextval('calls');"
            + " if exists (select from away) then raise 'connection to the remote node failed' using errcode = '08006'; end if;"
            + " return id; end $$");
    client.run("insert into away values (1)");
  }

  @AfterEach
  void close() {
    client.close();
    engine.close();
  }

  private static PgWireEngine engine(Duration window) throws IOException {
    return server.open(new PoolLimits(5, window), new EngineLimits(10, 0, 0));
  }

  private void awaitCalls(int count) {
    Waits.until(
        "it was tried " + count + " times",
        () -> Long.parseLong(client.query("select last_value from calls").getFirst()) >= count);
  }

  @Test
  void shouldWaitForANodeThatComesBack() throws Exception {
    CompletableFuture<Long> changed = new CompletableFuture<>();
    try (DrivenEngine other = new DrivenEngine(engine, "test", "")) {
      Thread.ofVirtual().start(() -> changed.complete(other.run(INSERT)));
      awaitCalls(3);
      assertFalse(changed.isDone());
      client.run("delete from away");
      assertEquals(1, Waits.await(changed));
    }
    assertEquals(List.of("1"), client.query("select id from t"));
  }

  @Test
  void shouldSayThatANodeIsAwayWhenTheWindowIsOver() throws IOException {
    try (PgWireEngine impatient = engine(Duration.ofMillis(300));
        DrivenEngine other = new DrivenEngine(impatient, "test", "")) {
      EngineException failure = assertThrows(EngineException.class, () -> other.run(INSERT));
      assertEquals(ErrorCode.CANNOT_CONNECT_NOW, failure.code());
      assertTrue(
          String.valueOf(failure.getMessage()).contains("connection to the remote node failed"),
          failure.getMessage());
      awaitCalls(2);
    }
  }

  /// The transaction may depend on what it has read before, so it is not repeated.
  @Test
  void shouldNotWaitInTheMidstOfATransaction() {
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into t values (7)");
      EngineException failure = assertThrows(EngineException.class, () -> transaction.run(INSERT));
      assertEquals(ErrorCode.CANNOT_CONNECT_NOW, failure.code());
      transaction.commit();
    }
    assertEquals(List.of("7"), client.query("select id from t"));
    assertEquals(List.of("1"), client.query("select last_value from calls"));
  }

  @Test
  void shouldEndTheWaitByACancel() {
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      RunningStatement running = transaction.start(INSERT);
      awaitCalls(2);
      running.cancel();
      assertEquals("57014", assertThrows(EngineException.class, running::await).sqlstate());
    }
  }
}
