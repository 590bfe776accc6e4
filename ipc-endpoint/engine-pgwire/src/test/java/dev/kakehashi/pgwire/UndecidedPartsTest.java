package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgwire.catalog.Outcomes;
import dev.kakehashi.pgwire.catalog.UndecidedParts;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.Waits;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Transactions that were prepared under names as Citus gives them, on a server that stands for one of its nodes.
class UndecidedPartsTest extends OnPgWireServer {
  private PgWireEngine engine;
  private DrivenEngine client;
  private ScheduledExecutorService timer;
  private WireConnection looking;
  private WireConnection other;

  @BeforeEach
  void open() throws IOException {
    ServerAddress address = new ServerAddress("127.0.0.1", server.port());
    PgWireConfig config = PgWireUnderTest.config(List.of(address), server.passwordFile());
    timer = Executors.newSingleThreadScheduledExecutor();
    looking = WireConnection.open(address, config.wire(), timer);
    other = WireConnection.open(address, config.wire(), timer);
    engine = PgWireEngine.open(config);
    client = new DrivenEngine(engine, "test", "");
    client.run("drop table if exists t");
    client.run("create table t (id int8 primary key)");
  }

  @AfterEach
  void close() {
    client.close();
    engine.close();
    looking.close();
    other.close();
    timer.shutdownNow();
  }

  private void prepare(String gid, int id) {
    other.query("begin");
    other.query("insert into t values (" + id + ")");
    other.query("prepare transaction '" + gid + "'");
  }

  @Test
  void shouldWaitForThoseThatAreThereAtTheBeginning() throws Exception {
    prepare("citus_0_7_1_0", 1);
    prepare("citus_0_7_2_0", 2);
    CompletableFuture<Boolean> decided =
        CompletableFuture.supplyAsync(() ->
            UndecidedParts.awaitDecided(looking, UndecidedParts.OF_NODE, Duration.ofMinutes(1)));
    // The view of activity has the text of the last question.
    Waits.until(
        "it has asked",
        () ->
            !other
                .query(
                    "select 1 from pg_stat_activity where pid = "
                        + looking.processId()
                        + " and query like '%pg_prepared_xacts%' and state = 'idle'")
                .isEmpty());
    other.query("commit prepared 'citus_0_7_1_0'");
    prepare("citus_0_7_3_0", 3);
    assertFalse(decided.isDone());
    other.query("rollback prepared 'citus_0_7_2_0'");
    assertTrue(Waits.await(decided));
    other.query("commit prepared 'citus_0_7_3_0'");
    assertEquals(List.of("1", "3"), client.query("select id from t order by id"));
  }

  @Test
  void shouldKnowNothingOfAMissingOutcomeWhenTheyAreNotDecided() {
    prepare("citus_0_8_1_0", 4);
    assertFalse(
        UndecidedParts.awaitDecided(looking, UndecidedParts.OF_NODE, Duration.ofMillis(100)));
    long reference = 9L << 16 | 41;
    assertEquals(
        Optional.empty(), Outcomes.recovered(looking, 5, true, false).committed(reference));
    other.query("rollback prepared 'citus_0_8_1_0'");
    assertEquals(
        Optional.of(false), Outcomes.recovered(looking, 5, true, true).committed(reference));
  }

  @Test
  void shouldNameThePreparedTransactionThatSomebodyWaitsFor() throws Exception {
    prepare("citus_0_9_1_0", 5);
    CompletableFuture<Long> waiting =
        CompletableFuture.supplyAsync(() -> client.run("insert into t values (5)"));
    try (DrivenEngine observer = new DrivenEngine(engine, "test", "")) {
      Waits.until(
          "the wait is there",
          () ->
              observer
                  .query("select blocking_gid from kakehashi_catalog.waits")
                  .equals(List.of("citus_0_9_1_0")));
    }
    other.query("rollback prepared 'citus_0_9_1_0'");
    assertEquals(1, Waits.await(waiting));
  }
}
