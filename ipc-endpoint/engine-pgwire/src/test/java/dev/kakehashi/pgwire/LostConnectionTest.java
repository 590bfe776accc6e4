package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
  void shouldRefuseTheWrongPassword() throws IOException {
    // A file without the password.
    EngineException failure =
        assertThrows(
            EngineException.class,
            () ->
                PgWireEngine.open(
                    PgWireUnderTest.config(
                        List.of(new ServerAddress("127.0.0.1", server.port())),
                        java.nio.file.Path.of("pom.xml"))));
    assertEquals(ErrorCode.INVALID_PASSWORD, failure.code());
  }
}
