package dev.kakehashi.pgtests.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The order service does what its README says, in a directory that has what the root of a checkout has after `make run`; psql, HTTP and
/// the queue see the same rows.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OrderServiceInPsqlTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String USER = Installation.serverUser();
  private static final String PASSWORD = "of the tests";
  private static final String FENCE = "```";

  private final Cluster cluster = Cluster.start("orders", "http_port=0");
  private final Path root = cluster.workspace().newDiskDirectory("checkout");

  @BeforeAll
  void doWhatTheReadmeSays() throws IOException {
    Files.createDirectories(root.resolve(".run"));
    Files.createSymbolicLink(root.resolve(".run/lib"), Installation.runDirectory().resolve("lib"));
    // As "make run" leaves it: the command finds its endpoint by what lies beside it.
    Files.createDirectories(root.resolve(".run/bin"));
    Files.copy(
        Installation.runDirectory().resolve("bin/kakehashi"),
        root.resolve(".run/bin/kakehashi"),
        StandardCopyOption.COPY_ATTRIBUTES);
    Files.createDirectories(root.resolve(".run/etc/kakehashi"));
    Files.writeString(
        root.resolve(".run/etc/kakehashi/client.conf"),
        "runtime_directory = %s\nrequirepeer = %s\n"
            .formatted(cluster.endpoint().runtimeDirectory(), USER));
    Files.writeString(
        root.resolve(".run/env"),
        environment().entrySet().stream()
            .map(each -> "export " + each.getKey() + "='" + each.getValue() + "'\n")
            .collect(Collectors.joining()));
    Path example = Files.createDirectories(root.resolve("examples/order-service/target"));
    Files.copy(
        Installation.checkout().resolve("examples/order-service/schema.sql"),
        root.resolve("examples/order-service/schema.sql"));
    Files.copy(
        Installation.exampleJar("order-service"),
        example.resolve("kakehashi-example-order-service-1.jar"));
    cluster.endpoint().command(PASSWORD + "\n", "user", "add", USER);
    int blocks = 0;
    for (String block : readme()) {
      List<String> command =
          block.startsWith("sql\n")
              ? List.of("psql", "-X", "-v", "ON_ERROR_STOP=1", "-f", "-")
              : List.of(
                  "bash", "-e", "-u", "-o", "pipefail", "-c", block.substring("sh\n".length()));
      String input = block.startsWith("sql\n") ? block.substring("sql\n".length()) : "";
      List<String> all = new ArrayList<>(List.of("env", "-C", root.toString()));
      all.addAll(command);
      OsProcess.Outcome outcome = OsProcess.run(all, environment(), input, LIMIT);
      assertEquals(0, outcome.exitCode(), outcome.output());
      assertFalse(outcome.output().contains("ERROR"), outcome.output());
      blocks++;
    }
    assertTrue(blocks >= 3, "the README shows how it is deployed and called");
  }

  /// Its blocks but that which builds, each with its language on the first line.
  private static List<String> readme() throws IOException {
    String text =
        Files.readString(Installation.checkout().resolve("examples/order-service/README.md"));
    String[] parts = text.split(FENCE, -1);
    List<String> blocks = new ArrayList<>();
    for (int i = 1; i < parts.length; i += 2) {
      if (!parts[i].contains("make build")) {
        blocks.add(parts[i]);
      }
    }
    return blocks;
  }

  private Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(cluster.postgres().environment());
    environment.put("KAKEHASHI_RUNTIME_DIR", cluster.endpoint().runtimeDirectory().toString());
    environment.put("KAKEHASHI_URL", cluster.endpoint().httpUri().toString());
    environment.put("KAKEHASHI_USER", USER);
    environment.put("KAKEHASHI_PASSWORD", PASSWORD);
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    return environment;
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void shouldShowWhatWasPlacedAndMailed() throws SQLException {
    try (Connection connection = cluster.connect()) {
      assertEquals(
          List.of("1|anna|2|9.00|placed", "2|anna|1|4.50|placed"),
          Sql.rows(
              connection,
              "SELECT id, customer, quantity, total, state FROM orders WHERE id < 3 ORDER BY id"));
      Await.until(
          "mails of the orders",
          LIMIT,
          () -> value(connection, "SELECT count(*) FROM mail_sent WHERE order_id < 3").equals("2"));
    }
  }

  private static String value(Connection connection, String sql) {
    try {
      return Sql.value(connection, sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldBelongToTheTransactionOfPostgres() throws SQLException {
    String place =
        "SELECT kind FROM kakehashi_call('kakehashi', 'place', %d::bigint, 'anna', 1::bigint, %d)"
            + " AS (kind text, id bigint, total numeric, why text)";
    try (Connection connection = cluster.connect()) {
      String stock = Sql.value(connection, "SELECT stock FROM product WHERE id = 1");
      connection.setAutoCommit(false);
      assertEquals("Done", Sql.value(connection, place.formatted(11, 3)));
      assertEquals("Refused", Sql.value(connection, place.formatted(11, 3)));
      Sql.execute(connection, "SAVEPOINT s");
      assertEquals("Done", Sql.value(connection, place.formatted(12, 1)));
      Sql.execute(connection, "ROLLBACK TO s");
      assertEquals("11", Sql.value(connection, "SELECT id FROM orders WHERE id IN (11, 12)"));
      connection.rollback();
      connection.setAutoCommit(true);
      assertEquals("0", Sql.value(connection, "SELECT count(*) FROM orders WHERE id IN (11, 12)"));
      assertEquals(stock, Sql.value(connection, "SELECT stock FROM product WHERE id = 1"));
    }
  }

  @Test
  void shouldRefuseAProcedureWithATransactionOfItsOwn() throws SQLException {
    try (Connection connection = cluster.connect()) {
      SQLException failure =
          Sql.failure(
              connection,
              "SELECT kakehashi_run('kakehashi', 'place_alone', 20::bigint, 'anna', 1::bigint, 1)");
      assertEquals("25001", failure.getSQLState(), failure.getMessage());
      assertTrue(
          String.valueOf(failure.getMessage()).contains("place_alone"), failure.getMessage());
      // The session goes on, and the engine has nothing of it.
      assertEquals("0", Sql.value(connection, "SELECT count(*) FROM orders WHERE id = 20"));
    }
  }

  @Test
  void shouldReportErrorsOfTheCodeWithTheirSqlstate() throws SQLException {
    try (Connection connection = cluster.connect()) {
      SQLException failure =
          Sql.failure(connection, "SELECT kakehashi_run('kakehashi', 'cancel_order', 404::bigint)");
      assertEquals("P0002", failure.getSQLState(), failure.getMessage());
      assertEquals(
          "42883",
          Sql.failure(connection, "SELECT kakehashi_run('kakehashi', 'missing')").getSQLState());
      assertEquals(
          "P0002|there is no order 404",
          Sql.value(
              connection,
              "SELECT * FROM kakehashi_query('kakehashi', $$SELECT sqlstate, message FROM kakehashi_catalog.application_errors"
                  + " WHERE member LIKE '%cancel_order' ORDER BY failed_at DESC LIMIT 1$$) AS (s text, m text)"));
    }
  }
}
