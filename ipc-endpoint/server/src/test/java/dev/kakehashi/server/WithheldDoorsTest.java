package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.server.socket.RuntimeLocation;
import dev.kakehashi.server.withheld.WithholdingEngineFactory;
import java.io.IOException;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A capability that an engine lacks is refused at every door of the endpoint, by its name.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before the tests
class WithheldDoorsTest {
  private Path root;
  private Path withheld;
  private EndpointServer server;

  @BeforeAll
  void start() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    withheld = root.resolve("withheld");
    Files.writeString(withheld, "");
    server =
        EndpointServer.start(
            Settings.defaults()
                .set("data_directory", root.resolve("data").toString())
                .set("runtime_directory", root.resolve("run").toString())
                .set("http_port", "0"),
            new WithholdingEngineFactory(withheld));
    server.addUser("alice", "wonder");
    try (Session session = attach()) {
      session.execute("create table t (id int8 primary key)");
    }
  }

  @AfterEach
  void giveBack() throws IOException {
    Files.writeString(withheld, "");
  }

  @AfterAll
  void stop() throws IOException {
    server.close();
    Directories.delete(root);
  }

  private void withhold(String line) throws IOException {
    Files.writeString(withheld, line + "\n");
  }

  private Session attach() {
    return Session.attach(AttachOptions.of(root.resolve("run")).withUser("alice", ""));
  }

  private RuntimeLocation location() {
    return new RuntimeLocation(root.resolve("run"), "");
  }

  private static void assertLacks(String what, EndpointException failure) {
    assertEquals("0A000", failure.sqlstate());
    assertEquals("engine \"withholding\" has no " + what, failure.getMessage());
  }

  @Test
  void shouldTellClientsWhatTheEngineCanDo() throws IOException {
    withhold("capability SAVEPOINTS");
    try (Session session = attach()) {
      assertEquals("withholding", session.capabilities().engine());
      assertFalse(session.capabilities().has(Capability.SAVEPOINTS));
      assertTrue(session.capabilities().has(Capability.TWO_PHASE));
    }
  }

  @Test
  void shouldRefuseASavepointAndGoOnWithTheTransaction() throws IOException {
    withhold("capability SAVEPOINTS");
    try (Session session = attach();
        Transaction transaction = session.begin()) {
      assertLacks("savepoints", assertThrows(EndpointException.class, transaction::savepoint));
      transaction.commit();
    }
  }

  @Test
  void shouldRefuseAPreparationAndGoOnWithTheTransaction() throws IOException {
    withhold("capability TWO_PHASE");
    try (Session session = attach();
        Transaction transaction = session.begin()) {
      assertLacks(
          "two-phase commit",
          assertThrows(EndpointException.class, () -> transaction.prepare("id")));
      transaction.commit();
      assertLacks(
          "two-phase commit",
          assertThrows(EndpointException.class, () -> session.execute("commit prepared 'id'")));
    }
  }

  @Test
  void shouldRefuseStatementsByTheirFirstWords() throws IOException {
    try (Session session = attach()) {
      withhold("capability QUEUES");
      assertLacks(
          "queues", assertThrows(EndpointException.class, () -> session.execute("create queue q")));
      withhold("capability COPY_FILES");
      assertLacks(
          "COPY of files",
          assertThrows(
              EndpointException.class,
              () -> session.execute("/* x */ -- y\n copy t to 'file:t.csv'")));
      withhold("capability DDL");
      assertLacks(
          "definitions",
          assertThrows(EndpointException.class, () -> session.execute("create table u (id int8)")));
      session.execute("insert into t values (1)");
      withhold("capability CHANGES");
      assertLacks(
          "changes of rows",
          assertThrows(EndpointException.class, () -> session.execute("insert into t values (2)")));
    }
  }

  private int get(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection)
            Objects.requireNonNull(server.http()).uri(0).resolve(path).toURL().openConnection();
    connection.setRequestProperty(
        "Authorization",
        "Basic "
            + Base64.getEncoder().encodeToString("alice:wonder".getBytes(StandardCharsets.UTF_8)));
    try {
      return connection.getResponseCode();
    } finally {
      connection.disconnect();
    }
  }

  @Test
  void shouldRefuseRoutesOfWhatTheEngineLacks() throws IOException {
    assertEquals(200, get("/v1/queues"));
    withhold("capability QUEUES");
    assertEquals(501, get("/v1/queues"));
    withhold("capability COPY_FILES");
    assertEquals(501, get("/v1/inspect?location=file:t.csv"));
    assertEquals(200, get("/v1/queues"));
    withhold("capability APPLICATIONS");
    assertEquals(501, get("/v1/applications"));
  }

  @Test
  void shouldRefuseBackupsAndDefinitions() throws IOException {
    withhold("capability BACKUP");
    Exception refused =
        assertThrows(
            Exception.class,
            () ->
                BackupSocket.ask(
                    location(),
                    root.resolve("backup"),
                    new PrintStream(PrintStream.nullOutputStream())));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("has no backups by the endpoint"),
        refused.getMessage());
    withhold("capability DEFINITIONS");
    refused = assertThrows(Exception.class, () -> SchemaSocket.ask(location()));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("has no list of its definitions"),
        refused.getMessage());
  }

  @Test
  void shouldShowTheEngineInTheStatus() throws IOException {
    assertEquals("engine: withholding", StatusSocket.ask(location()).engine());
    Files.writeString(withheld, "capability SAVEPOINTS\ncomputation JOINS\ntype INTERVAL\n");
    assertEquals(
        """
        engine: withholding
          has no: savepoints
          leaves to PostgreSQL: joins
          does not keep: interval\
        """,
        StatusSocket.ask(location()).engine());
  }
}
