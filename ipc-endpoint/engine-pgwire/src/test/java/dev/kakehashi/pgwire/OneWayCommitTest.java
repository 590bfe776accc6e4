package dev.kakehashi.pgwire;

import static dev.kakehashi.tck.drive.DrivenEngine.failureOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A change that is the only statement of its transaction: the end of the transaction travels with it.
class OneWayCommitTest {
  private static PgWireServer server;

  private CuttingProxy proxy;
  private PgWireEngine engine;
  private DrivenEngine client;
  private Statement insert;

  @BeforeAll
  static void startServer() {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    server =
        PgWireServer.start("synchronous_standby_names = 'nobody'", "synchronous_commit = 'local'");
  }

  @AfterAll
  static void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  void open() throws IOException {
    proxy = new CuttingProxy(server.port());
    engine =
        PgWireEngine.open(
            PgWireUnderTest.config(
                List.of(new ServerAddress("127.0.0.1", proxy.port())), server.passwordFile()));
    client = new DrivenEngine(engine, "test", "");
    client.run("drop table if exists t");
    client.run("create table t (id int8 unique deferrable initially deferred)");
    insert = client.prepare("insert into t values ($1)");
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    engine.close();
    proxy.close();
  }

  private DrivenTransaction alone() {
    DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED);
    transaction.engine().ofOneStatement();
    return transaction;
  }

  private RunningStatement start(DrivenTransaction transaction, long id) {
    return transaction.start(insert, ExecuteOptions.DEFAULT, id);
  }

  private List<String> ids() {
    return client.query("select id from t order by id");
  }

  @Test
  void shouldHaveCommittedWhenTheStatementHasEnded() {
    try (DrivenTransaction transaction = alone()) {
      assertEquals(1, start(transaction, 1).await());
      assertEquals(EngineTransaction.State.COMMITTED, transaction.engine().state());
      transaction.commit();
    }
    assertEquals(List.of("1"), ids());
  }

  @Test
  void shouldSayThatItHasCommittedWhenTheAnswerIsLost() {
    try (DrivenTransaction transaction = alone()) {
      proxy.cutNext(false);
      EngineException failure = failureOf(start(transaction, 2)::await);
      assertEquals(ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, failure.code());
      assertTrue(
          String.valueOf(failure.getMessage()).startsWith("the transaction has committed, but "),
          failure.getMessage());
      assertEquals(1, proxy.cuts());
    }
    assertEquals(List.of("2"), ids());
  }

  @Test
  void shouldSayThatNothingHasChangedWhenItHasNotCome() {
    try (DrivenTransaction transaction = alone()) {
      proxy.cutNext(true);
      assertEquals(ErrorCode.SERIALIZATION_FAILURE, failureOf(start(transaction, 3)::await).code());
    }
    assertEquals(List.of(), ids());
    try (DrivenTransaction transaction = alone()) {
      assertEquals(1, start(transaction, 3).await());
    }
    assertEquals(List.of("3"), ids());
  }

  @Test
  void shouldRefuseWhatTheCommitRefuses() {
    client.run("insert into t values (4)");
    try (DrivenTransaction transaction = alone()) {
      assertEquals("23505", failureOf(start(transaction, 4)::await).sqlstate());
    }
    assertEquals(List.of("4"), ids());
  }

  @Test
  void shouldKeepItsTransactionWhereOthersFollow() {
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      assertEquals(1, start(transaction, 5).await());
      assertEquals(EngineTransaction.State.ACTIVE, transaction.engine().state());
      transaction.rollback();
    }
    assertEquals(List.of(), ids());
  }

  /// The server takes the cancel for the end of the wait, and says that it has committed.
  @Test
  void shouldNotTakeACommitForStoredWhoseWaitWasCanceled() {
    server.psql("alter role kakehashi set synchronous_commit = 'on'");
    proxy.cutAll(); // the next connections have it
    insert = client.prepare("insert into t values ($1)");
    String waits = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'";
    try (DrivenTransaction transaction = alone()) {
      RunningStatement running = start(transaction, 6);
      Waits.until("the commit waits", () -> client.query(waits).equals(List.of("1")));
      running.cancel();
      Waits.until(
          "the look-up waits",
          () ->
              client.query("select count(*) from t").equals(List.of("1"))
                  && client.query(waits).equals(List.of("1")));
      server.psql("alter role kakehashi reset synchronous_commit");
      server.psql("alter system set synchronous_standby_names = ''");
      server.psql("select pg_reload_conf()");
      assertEquals(1, running.await());
      transaction.commit();
    }
    assertEquals(List.of("6"), ids());
  }
}
