package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Connections that break at the worst moments.
class LostConnectionTest {
  private static PgWireServer server;

  private CuttingProxy proxy;
  private PgWireEngine engine;
  private DrivenEngine client;

  @BeforeAll
  static void startServer() throws IOException, InterruptedException {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    server = PgWireServer.start();
  }

  @AfterAll
  static void stopServer() throws IOException, InterruptedException {
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
    client.run("create table t (id int8 primary key)");
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    engine.close();
    proxy.close();
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
  void shouldSayThatAPreparedTransactionIsUnknownWhenNobodyAnswers()
      throws IOException, InterruptedException {
    PgWireEngine impatient =
        PgWireEngine.open(
            PgWireUnderTest.config(
                List.of(new ServerAddress("127.0.0.1", proxy.port())),
                server.passwordFile(),
                new PoolLimits(5, Duration.ofMillis(300)),
                new EngineLimits(10, 0, 0)));
    try (impatient;
        DrivenEngine other = new DrivenEngine(impatient, "test", "")) {
      DrivenTransaction transaction = other.begin(Isolation.READ_COMMITTED);
      transaction.run("insert into t values (7)");
      proxy.close();
      CompletableFuture<EngineException> end = new CompletableFuture<>();
      other.session().prepare(transaction.engine(), "nobody", end::complete);
      assertEquals(ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, end.join().code());
    }
  }

  private EngineException prepared(DrivenTransaction transaction, String name) {
    CompletableFuture<EngineException> end = new CompletableFuture<>();
    client.session().prepare(transaction.engine(), name, end::complete);
    return end.join();
  }

  private EngineException committed(String name) {
    CompletableFuture<EngineException> end = new CompletableFuture<>();
    client
        .session()
        .commitPrepared(name, EngineTransaction.CommitResponse.STORED, end::complete);
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
