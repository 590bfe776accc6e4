package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.catalog.OutcomePlaces;
import dev.kakehashi.pgwire.catalog.Outcomes;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Connections that break at the worst moments.
class LostConnectionTest {
  private static PgWireServer server;

  private CuttingProxy proxy;
  private PgWireEngine engine;
  private DrivenEngine client;
  private ScheduledExecutorService timer;
  private WireConnection observer;

  @BeforeAll
  static void startServer() {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    // Commits wait for no other server, except those of a role that is told to.
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
    timer = Executors.newSingleThreadScheduledExecutor();
    observer = connect();
    client.run("drop table if exists t");
    client.run("create table t (id int8 primary key)");
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    engine.close();
    observer.close();
    timer.shutdownNow();
    proxy.close();
  }

  /// A connection past the engine and the proxy.
  private WireConnection connect() throws IOException {
    ServerAddress address = new ServerAddress("127.0.0.1", server.port());
    return WireConnection.open(
        address, PgWireUnderTest.config(List.of(address), server.passwordFile()).wire(), timer);
  }

  /// Processes of which this holds.
  private Set<String> processes(String condition) {
    return observer
        .query("select pid from pg_stat_activity where pid <> pg_backend_pid() and " + condition)
        .stream()
        .map(row -> String.valueOf(row.getFirst()))
        .collect(Collectors.toSet());
  }

  private DrivenTransaction inserted(int id) {
    DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED);
    transaction.run("insert into t values (" + id + ")");
    return transaction;
  }

  private List<String> ids() {
    return client.query("select id from t order by id");
  }

  @Test
  void shouldFindTheCommitWhoseAnswerIsLost() {
    DrivenTransaction transaction = inserted(1);
    proxy.cutNext(false);
    transaction.commit();
    assertEquals(1, proxy.cuts());
    assertEquals(List.of("1"), ids());
  }

  @Test
  void shouldFindThatTheCommitHasNotCome() {
    DrivenTransaction transaction = inserted(1);
    proxy.cutNext(true);
    EngineException failure = assertThrows(EngineException.class, transaction::commit);
    assertEquals(ErrorCode.SERIALIZATION_FAILURE, failure.code());
    assertEquals(1, proxy.cuts());
    assertEquals(List.of(), ids());
  }

  /// A process that ends while its commit waits for another server has committed, for this server alone.
  @Test
  void shouldNotTakeACommitForDoneThatNoOtherServerHas() throws Exception {
    server.psql("alter role kakehashi set synchronous_commit = 'on'");
    proxy.cutAll(); // the next connections have it
    CompletableFuture<Boolean> commit = inserted(6).startCommit();
    String waiting = "wait_event = 'SyncRep'";
    Waits.until("the commit waits", () -> !processes(waiting).isEmpty());
    Set<String> first = processes(waiting);
    proxy.cutAll();
    Waits.until("the look-up waits", () -> !first.containsAll(processes(waiting)));
    assertFalse(commit.isDone());
    assertEquals(List.of(List.of("6")), observer.query("select id from t"));
    server.psql("alter role kakehashi reset synchronous_commit");
    server.psql("alter system set synchronous_standby_names = ''");
    server.psql("select pg_reload_conf()");
    assertTrue(Waits.await(commit));
  }

  /// As on another server, where the process of the lost connection cannot be ended.
  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void shouldWaitForTheCommitThatIsOnItsWay(boolean placeIsUsed, boolean commits) throws Exception {
    try (WireConnection lost = connect();
        WireConnection looking = connect()) {
      int place = (placeIsUsed ? 10 : 20) + (commits ? 1 : 0);
      Outcomes.Row row = new Outcomes.Row(1, place, 20);
      lost.query("prepare w as " + Outcomes.WRITE);
      if (placeIsUsed) {
        lost.query("execute w (1, %d, 10)".formatted(place));
      }
      lost.query("begin");
      lost.query("execute w (1, %d, 20)".formatted(place));
      CompletableFuture<Boolean> settled =
          CompletableFuture.supplyAsync(() -> Outcomes.settle(looking, false, row));
      Waits.until(
          "the look-up waits",
          () -> !processes("wait_event_type = 'Lock' and pid = " + looking.processId()).isEmpty());
      lost.query(commits ? "commit" : "rollback");
      assertEquals(commits, Waits.await(settled));
      assertEquals(commits, Outcomes.settle(looking, false, row));
    }
  }

  @Test
  void shouldRefuseACommitThatComesAfterItsTransactionWasGivenUp() throws IOException {
    try (WireConnection late = connect();
        WireConnection looking = connect()) {
      late.query("prepare w as " + Outcomes.WRITE);
      assertFalse(Outcomes.settle(looking, false, new Outcomes.Row(1, 30, 20)));
      ServerError refused =
          assertThrows(ServerError.class, () -> late.query("execute w (1, 30, 20)"));
      assertEquals("23502", refused.sqlstate());
      assertFalse(Outcomes.settle(looking, false, new Outcomes.Row(1, 30, 20)));
      late.query("execute w (1, 30, 21)"); // the next transaction at the place
      assertThrows(ServerError.class, () -> late.query("execute w (1, 30, 19)"));
      assertTrue(Outcomes.settle(looking, false, new Outcomes.Row(1, 30, 21)));
    }
  }

  /// The endpoint was killed, and its successor is there before the server has done what it was told.
  @Test
  void shouldWaitForCommitsOfAnEarlierLife() throws Exception {
    try (WireConnection lost = connect();
        WireConnection next = connect()) {
      long reference = 5L << 16 | 40;
      lost.query("prepare w as " + Outcomes.WRITE);
      lost.query("begin");
      lost.query("execute w (4, 40, %d)".formatted(reference));
      CompletableFuture<RecoveredOutcomes> recovered =
          CompletableFuture.supplyAsync(() -> Outcomes.recovered(next, 4, true, true));
      Waits.until(
          "the next life waits",
          () -> !processes("wait_event_type = 'Lock' and pid = " + next.processId()).isEmpty());
      lost.query("commit");
      assertEquals(Optional.of(true), Waits.await(recovered).committed(reference));
    }
  }

  @Test
  void shouldGiveNoPlaceAgainWhoseOutcomeMayBeAskedFor() throws IOException {
    try (WireConnection connection = connect()) {
      OutcomePlaces places = OutcomePlaces.of(connection, 3);
      Outcomes.Row first = places.take(0);
      Outcomes.Row second = places.take(0);
      assertNotEquals(first.place(), second.place());
      places.give(first);
      Outcomes.Row third = places.take(0);
      assertEquals(first.place(), third.place());
      assertTrue(third.reference() > second.reference(), "numbers of a place grow");
      connection.query("prepare w as " + Outcomes.WRITE);
      connection.query("execute w (3, %d, %d)".formatted(third.place(), third.reference()));
      long next = OutcomePlaces.of(connection, 3).take(0).reference();
      assertTrue(next > third.reference(), "numbers of a later life are higher");
    }
  }

  @Test
  void shouldBeginAnewWhenTheKeptConnectionIsDead() {
    assertEquals(List.of(), ids());
    proxy.cutAll();
    client.run("insert into t values (2)");
    assertEquals(List.of("2"), ids());
  }

  @Test
  void shouldGiveUpATransactionWhoseConnectionIsLost() {
    DrivenTransaction transaction = inserted(3);
    proxy.cutAll();
    EngineException failure =
        assertThrows(EngineException.class, () -> transaction.run("insert into t values (4)"));
    assertEquals(ErrorCode.SERIALIZATION_FAILURE, failure.code());
    transaction.rollback();
    assertEquals(List.of(), ids());
  }

  /// The statement has failed because of a node, and is about to be tried again.
  @Test
  void shouldGiveUpAStatementWhoseConnectionIsLostWhileItIsTakenBack() {
    observer.query(
        "create or replace function away() returns int8 language plpgsql as"
            + " $$ begin perform pg_advisory_xact_lock(7); raise 'no node' using errcode = '08006'; end $$");
    observer.query("select pg_advisory_lock(7)");
    try (DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED)) {
      RunningStatement running = transaction.start("insert into t select away()");
      Waits.until("it runs", () -> !processes("wait_event = 'advisory'").isEmpty());
      proxy.cutNext(true);
      observer.query("select pg_advisory_unlock(7)");
      EngineException failure = assertThrows(EngineException.class, running::await);
      assertEquals(ErrorCode.SERIALIZATION_FAILURE, failure.code());
      assertEquals(1, proxy.cuts());
    }
  }

  @Test
  void shouldFindThePreparedTransactionWhoseAnswerIsLost() {
    DrivenTransaction transaction = inserted(5);
    proxy.cutNext(false);
    assertNull(prepared(transaction, "lost answer"));
    assertEquals(1, proxy.cuts());
    proxy.cutNext(false);
    assertNull(committed("lost answer"));
    assertEquals(List.of("5"), ids());
    assertEquals(List.of(), engine.preparedTransactions());
  }

  @Test
  void shouldFindThatThePrepareHasNotCome() {
    DrivenTransaction transaction = inserted(6);
    proxy.cutNext(true);
    EngineException failure = prepared(transaction, "lost question");
    assertEquals(1, proxy.cuts());
    assertEquals(ErrorCode.SERIALIZATION_FAILURE, failure.code());
    assertEquals(List.of(), engine.preparedTransactions());
    assertEquals(List.of(), ids());
  }

  @Test
  void shouldFindThatThePrepareWasNeverSent() {
    DrivenTransaction transaction = inserted(6);
    proxy.cutAll();
    EngineException failure = prepared(transaction, "never sent");
    assertEquals(ErrorCode.SERIALIZATION_FAILURE, failure.code());
    assertEquals(List.of(), engine.preparedTransactions());
    assertEquals(List.of(), ids());
  }

  @Test
  void shouldKeepAPreparedTransactionWhoseConnectionIsLostAfterTheAnswer() {
    assertNull(prepared(inserted(8), "answered"));
    proxy.cutAll();
    assertNull(committed("answered"));
    assertEquals(List.of("8"), ids());
  }

  /// When the connection of a PREPARE breaks after which nobody answers.
  enum Break {
    BEFORE_IT_IS_SENT,
    BEFORE_THE_SERVER_HAS_IT,
    BEFORE_ITS_ANSWER_COMES
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldSayThatAPreparedTransactionIsUnknownWhenNobodyAnswers(Break moment)
      throws IOException {
    try (PgWireEngine impatient = impatient();
        DrivenEngine other = new DrivenEngine(impatient, "test", "")) {
      DrivenTransaction transaction = other.begin(Isolation.READ_COMMITTED);
      transaction.run("insert into t values (7)");
      switch (moment) {
        case BEFORE_IT_IS_SENT -> proxy.close();
        case BEFORE_THE_SERVER_HAS_IT -> proxy.cutLast(true);
        case BEFORE_ITS_ANSWER_COMES -> proxy.cutLast(false);
      }
      assertEquals(
          ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, prepared(other, transaction, "nobody").code());
    } finally {
      forget("nobody");
    }
  }

  /// An error that leaves the outcome open is no rollback, see [WireErrors#leavesOpen].
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void shouldLookWhetherAnErrorThatLeavesItOpenHasPrepared(boolean answers) throws IOException {
    observer.query(
        "create or replace function fail() returns trigger language plpgsql as"
            + " $$ begin raise exception 'who knows' using errcode = '40003'; end $$");
    observer.query(
        "create constraint trigger fails after insert on t deferrable initially deferred"
            + " for each row execute function fail()");
    try (PgWireEngine impatient = impatient();
        DrivenEngine other = new DrivenEngine(impatient, "test", "")) {
      DrivenTransaction transaction = other.begin(Isolation.READ_COMMITTED);
      transaction.run("insert into t values (9)");
      if (!answers) {
        proxy.refuseNew();
      }
      EngineException failure = prepared(other, transaction, "open");
      if (answers) {
        assertEquals("40003", failure.sqlstate());
      } else {
        assertEquals(ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, failure.code());
      }
      assertEquals(List.of(), observer.query("select gid from pg_prepared_xacts"));
    } finally {
      observer.query("drop trigger fails on t");
    }
  }

  /// An engine that gives up soon when nobody answers.
  private PgWireEngine impatient() throws IOException {
    return PgWireEngine.open(
        PgWireUnderTest.config(
            List.of(new ServerAddress("127.0.0.1", proxy.port())),
            server.passwordFile(),
            new PoolLimits(5, Duration.ofMillis(300)),
            new EngineLimits(10, 0, 0)));
  }

  /// Rolls back what may be prepared, past the engine: its locks would stop the tests that follow.
  private void forget(String name) {
    Waits.until(
        "the process of the lost connection has ended",
        () -> processes("backend_type = 'client backend' and state <> 'idle'").isEmpty());
    for (List<String> row :
        observer.query("select gid from pg_prepared_xacts where gid like '%/" + name + "'")) {
      observer.query("rollback prepared '" + row.getFirst() + "'");
    }
  }

  private EngineException prepared(DrivenTransaction transaction, String name) {
    return prepared(client, transaction, name);
  }

  private static EngineException prepared(
      DrivenEngine engine, DrivenTransaction transaction, String name) {
    CompletableFuture<EngineException> end = new CompletableFuture<>();
    engine.session().prepare(transaction.engine(), name, end::complete);
    return end.join();
  }

  private EngineException committed(String name) {
    CompletableFuture<EngineException> end = new CompletableFuture<>();
    client.session().commitPrepared(name, EngineTransaction.CommitResponse.STORED, end::complete);
    return end.join();
  }

  @Test
  void shouldRefuseTheWrongPassword(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("password"), "another one");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    assertEquals(ErrorCode.INVALID_PASSWORD, refusal(file));
  }

  @Test
  void shouldRefuseAPasswordThatOthersMayRead(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("password"), PgWireServer.PASSWORD);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    assertEquals(ErrorCode.AUTHENTICATION_FAILED, refusal(file));
  }

  private ErrorCode refusal(Path password) {
    ServerAddress address = new ServerAddress("127.0.0.1", server.port());
    PgWireConfig config = PgWireUnderTest.config(List.of(address), password);
    return assertThrows(EngineException.class, () -> PgWireEngine.open(config)).code();
  }
}
