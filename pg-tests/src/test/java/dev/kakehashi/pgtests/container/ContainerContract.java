package dev.kakehashi.pgtests.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.application.ImportedFunctions;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/// Conditions that must hold on every supported release, with both sides in containers of their own.
@NeedsDocker
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.MethodName.class)
abstract class ContainerContract {
  /// All scripts but those of rows and statements of many megabytes: their subject is no matter of the release. The host's PostgreSQL runs
  /// them. This and the next ones are commands of the shell, run in the directory of the scripts.
  static final String MOST_SCRIPTS =
      "ls sql | grep -vE '^(117-long-rows|118-long-values|119-insert-memory|124-wide-tables|128-long-expressions|198-many-partitions)'";

  /// Scripts that attach, read, change and end transactions.
  static final String CHOSEN_SCRIPTS =
      MOST_SCRIPTS + " | grep -vE '^1([12][1-9]|3[1-9]|4[1-4]|[5-9])'";

  /// Scripts that have different outputs with different versions of PostgreSQL.
  static final String DIFFERING_SCRIPTS = "ls expected | sed -n 's/_[0-9][.]out$/.sql/p'";

  private final String debianVersion;
  private final int postgresMajor;
  private final ContainerPair containers;

  ContainerContract(String suite, String debianVersion, int postgresMajor) {
    this("debian:" + suite, suite, debianVersion, postgresMajor);
  }

  ContainerContract(String base, String suite, String debianVersion, int postgresMajor) {
    this.debianVersion = debianVersion;
    this.postgresMajor = postgresMajor;
    this.containers = new ContainerPair(base, suite, postgresMajor);
  }

  @BeforeAll
  void start() throws SQLException {
    containers.start();
    try (Connection connection = containers.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE EXTENSION kakehashi_fdw");
      statement.execute(
          "CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '"
              + ContainerPair.RUNTIME_DIR
              + "')");
      statement.execute("CREATE USER MAPPING FOR PUBLIC SERVER kakehashi");
      statement.execute(
          "SELECT kakehashi_execute('kakehashi', 'CREATE TABLE account (id int4, owner text, balance numeric(15,2),"
              + " PRIMARY KEY (id))')");
      statement.execute(
          "IMPORT FOREIGN SCHEMA public LIMIT TO (account) FROM SERVER kakehashi INTO public");
    }
  }

  @AfterAll
  void stop() {
    containers.close();
  }

  @Test
  void shouldRunOnTheReleaseThatTheTestIsNamedAfter() throws Exception {
    String version = containers.inPostgres("cat", "/etc/debian_version");
    assertTrue(version.contains(debianVersion), version);
    try (Connection connection = containers.connect()) {
      assertEquals(postgresMajor, connection.getMetaData().getDatabaseMajorVersion());
    }
  }

  /// Command that lists the scripts that are run here. The host runs all of them with its own version.
  String scripts() {
    return Installation.postgresMajor() == postgresMajor ? CHOSEN_SCRIPTS : MOST_SCRIPTS;
  }

  @Test
  void shouldPassTheRegressionScripts() throws Exception {
    String report =
        containers.inPostgres(
            "sh",
            "-c",
            """
            cd /src/test && mkdir -p /tmp/regress && KAKEHASHI_RUNTIME_DIR=%s PGUSER=postgres \\
              /opt/pg_regress --inputdir=. --outputdir=/tmp/regress --bindir=/opt/bin --host=/var/run/postgresql \\
              --load-extension=kakehashi_fdw $({ %s; } | sort -u | sed 's/[.]sql$//') \\
              || cat /tmp/regress/regression.diffs
            """
                .formatted(ContainerPair.RUNTIME_DIR, scripts()));
    assertTrue(report.contains("tests passed"), report);
  }

  @Test
  void shouldPassTheIsolationSpecs() throws Exception {
    String report =
        containers.inPostgres(
            "sh",
            "-c",
            "PGHOST=/var/run/postgresql PGUSER=postgres /src/test/isolation/run.sh"
                + " /usr/lib/postgresql/%d/bin/pg_config /tmp/isolation %s 2>&1 || true"
                    .formatted(postgresMajor, ContainerPair.RUNTIME_DIR));
    // Over heap tables and over foreign tables.
    assertEquals(2, report.split("tests passed", -1).length - 1, report);
  }

  @Test
  void shouldChangeAndReadRowsAcrossContainers() throws SQLException {
    try (Connection connection = containers.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("DELETE FROM account");
      statement.execute(
          "INSERT INTO account SELECT i, 'owner ' || i, i * 1.25 FROM generate_series(1, 1000) i");
      assertEquals(
          "1000|625625.00", query(statement, "SELECT count(*), sum(balance) FROM account"));
      assertEquals(
          "owner 42|52.50", query(statement, "SELECT owner, balance FROM account WHERE id = 42"));
    }
  }

  @Test
  void shouldUseFunctionsOfApplications() throws SQLException {
    try (Connection connection = containers.connect()) {
      ImportedFunctions.check(connection);
    }
  }

  @Test
  void shouldRollBackBothSidesOfATransaction() throws SQLException {
    try (Connection connection = containers.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS journal (id int)");
      statement.execute("DELETE FROM account WHERE id = 5000");
      connection.setAutoCommit(false);
      statement.execute("INSERT INTO account VALUES (5000, 'nobody', 0)");
      statement.execute("INSERT INTO journal VALUES (5000)");
      connection.rollback();
      assertEquals(
          "0|0",
          query(
              statement,
              "SELECT (SELECT count(*) FROM account WHERE id = 5000), count(*) FROM journal"));
      connection.commit();
    }
  }

  @Test
  void shouldReportALostEndpointAndUseItsSuccessorInTheSameSession() throws SQLException {
    try (Connection connection = containers.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("DELETE FROM account WHERE id = 7000");
      statement.execute("INSERT INTO account VALUES (7000, 'stored', 1)");
      connection.setAutoCommit(false);
      query(statement, "SELECT count(*) FROM account");
      containers.killEndpoint();
      SQLException failure =
          assertThrows(SQLException.class, () -> query(statement, "SELECT count(*) FROM account"));
      assertEquals("08006", failure.getSQLState(), failure.getMessage());
      connection.rollback();
      connection.setAutoCommit(true);
      containers.restartEndpoint();
      Await.until(
          "attach to the new endpoint",
          ContainerPair.START_LIMIT,
          () -> succeeds(statement, "SELECT 1 FROM account WHERE id = 7000"));
      assertEquals("stored", query(statement, "SELECT owner FROM account WHERE id = 7000"));
    }
  }

  private static boolean succeeds(Statement statement, String sql) {
    try {
      query(statement, sql);
      return true;
    } catch (SQLException e) {
      return false; // 08001 as long as the endpoint is not ready
    }
  }

  /// First row, columns separated by bars.
  private static String query(Statement statement, String sql) throws SQLException {
    try (var rows = statement.executeQuery(sql)) {
      assertTrue(rows.next(), sql);
      var text = new StringBuilder();
      for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
        text.append(i > 1 ? "|" : "").append(rows.getString(i));
      }
      return text.toString();
    }
  }
}
