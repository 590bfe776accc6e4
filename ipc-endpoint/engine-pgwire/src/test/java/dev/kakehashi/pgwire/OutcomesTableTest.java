package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.catalog.Outcomes;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.Waits;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// An outcome is told only from what commits together with the rows.
class OutcomesTableTest {
  private static final int ENDPOINT = 42; // of PgWireUnderTest

  private static PgWireServer server;

  private ScheduledExecutorService timer;
  private PgWireConfig config;

  @BeforeAll
  static void startServer() {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    server =
        PgWireServer.start("synchronous_standby_names = 'nobody'", "synchronous_commit = 'local'");
    // Its commits wait for another server, for ever.
    server.psql("create role waiter login superuser password '" + PgWireServer.PASSWORD + "'");
    server.psql("alter role waiter set synchronous_commit = 'remote_write'");
    server.psql("alter role kakehashi superuser");
  }

  @AfterAll
  static void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  void start() throws IOException {
    server.psql("drop database if exists kakehashi with (force)");
    server.psql("create database kakehashi owner kakehashi");
    timer = Executors.newSingleThreadScheduledExecutor();
    config =
        PgWireUnderTest.config(
            List.of(new ServerAddress("127.0.0.1", server.port())), server.passwordFile());
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  private WireConnection connect() {
    return WireConnection.open(config.addresses().getFirst(), config.wire(), timer);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "is not logged | alter table kakehashi_catalog.outcomes set unlogged",
        "has triggers or rules | create rule quiet as on update to kakehashi_catalog.outcomes do instead nothing",
        "has triggers or rules | create trigger quiet before insert on kakehashi_catalog.outcomes"
            + " for each row execute function suppress_redundant_updates_trigger()",
        "has another primary key | alter table kakehashi_catalog.outcomes drop constraint outcomes_pkey",
        "is no plain table | drop table kakehashi_catalog.outcomes;"
            + " create view kakehashi_catalog.outcomes as select 1",
      })
  void shouldNotOpenOverATableThatCannotTellOutcomes(String why, String change) {
    PgWireEngine.open(config).close();
    try (WireConnection connection = connect()) {
      connection.query(change);
    }
    EngineException refused =
        assertThrows(EngineException.class, () -> PgWireEngine.open(config).close());
    assertEquals(ErrorCode.NOT_IN_PREREQUISITE_STATE, refused.code());
    assertTrue(String.valueOf(refused.getMessage()).contains(why), refused.getMessage());
    // As the hint says.
    try (WireConnection connection = connect()) {
      connection.query(
          "drop %s kakehashi_catalog.outcomes"
              .formatted(change.contains("view") ? "view" : "table"));
    }
    PgWireEngine.open(config).close();
  }

  /// The other server has committed, and this one was killed before it did.
  @Test
  void shouldNotSayThatNothingHasChangedWhereAForeignTableMayHave() throws Exception {
    try (PgWireEngine engine = PgWireEngine.open(config);
        DrivenEngine client = new DrivenEngine(engine, "test", "")) {
      makeForeignTable(client);
      DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED);
      transaction.run("insert into elsewhere values (1)");
      CompletableFuture<EngineException> end = new CompletableFuture<>();
      Thread.ofVirtual()
          .start(() -> {
            try {
              transaction.commit();
              end.completeExceptionally(new AssertionError("it was committed"));
            } catch (EngineException e) {
              end.complete(e);
            }
          });
      try (WireConnection observer = connect()) {
        Waits.until(
            "the other server has committed and waits",
            () ->
                !observer
                    .query(
                        "select 1 from pg_stat_activity where wait_event = 'SyncRep' and usename = 'waiter'")
                    .isEmpty());
      }
      server.crash();
      EngineException failure = Waits.await(end);
      assertEquals(ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, failure.code());
      assertTrue(failure.detail().contains("elsewhere commit apart"), failure.detail());
      assertEquals(List.of("1"), client.query("select id from beside"));
    }
  }

  /// An outcome of an earlier life that is not there says nothing either.
  @Test
  void shouldNotTakeAMissingOutcomeForARollbackWhereThereAreForeignTables() {
    try (PgWireEngine engine = PgWireEngine.open(config);
        DrivenEngine client = new DrivenEngine(engine, "test", "")) {
      try (WireConnection connection = connect()) {
        assertEquals(
            Optional.of(false),
            Outcomes.recovered(connection, ENDPOINT, true, true).committed(5L << 16 | 40));
      }
      makeForeignTable(client);
      try (WireConnection connection = connect()) {
        assertEquals(
            Optional.empty(),
            Outcomes.recovered(connection, ENDPOINT, true, true).committed(5L << 16 | 40));
      }
    }
  }

  /// A table of the same server, by the wrapper of another one.
  private static void makeForeignTable(DrivenEngine client) {
    client.run("create table beside (id int8)");
    client.run("create extension postgres_fdw");
    client.run(
        "create server other foreign data wrapper postgres_fdw options (host '127.0.0.1', port '%d', dbname 'kakehashi')"
            .formatted(server.port()));
    client.run(
        "create user mapping for kakehashi server other options (user 'waiter', password '%s')"
            .formatted(PgWireServer.PASSWORD));
    client.run(
        "create foreign table elsewhere (id int8) server other options (schema_name 'public', table_name 'beside')");
  }

  /// The shortest form of a void result is an empty text, as in psql.
  @Test
  void shouldGiveAnEmptyTextForAFunctionWithoutAResult() {
    try (PgWireEngine engine = PgWireEngine.open(config);
        DrivenEngine client = new DrivenEngine(engine, "test", "")) {
      assertEquals(List.of("|1"), client.query("select pg_sleep(0), 1"));
    }
  }
}
