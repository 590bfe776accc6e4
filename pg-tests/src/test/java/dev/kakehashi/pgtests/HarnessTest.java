package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.PostgresProcess;
import dev.kakehashi.pgtests.harness.PsqlSession;
import dev.kakehashi.pgtests.harness.Workspace;
import java.nio.file.Files;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Basis of the other tests: a session that stays, a server that can be killed and started again, nothing left behind.
class HarnessTest {
  @Test
  void shouldKeepOnePsqlSessionAndReportErrorsWithTheirSqlstate() {
    try (var workspace = Workspace.create("harness");
        var postgres = PostgresProcess.start(workspace.disk(), Map.of());
        var psql = PsqlSession.open(postgres)) {
      String pid = psql.run("SELECT pg_backend_pid()");
      assertEquals(pid, psql.run("SELECT pg_backend_pid()"));
      assertTrue(psql.run("SELECT 1/0").contains("22012"));
      assertEquals("1", psql.run("SELECT 1"));
    }
  }

  @Test
  void shouldStartAKilledServerAgainAndRemoveItsDirectories() throws Exception {
    var workspace = Workspace.create("harness");
    var postgres = PostgresProcess.start(workspace.disk(), Map.of());
    try (var connection = postgres.connect();
        var statement = connection.createStatement()) {
      statement.execute("CREATE TABLE t AS SELECT 42 AS a");
      statement.execute("CHECKPOINT");
    }
    postgres.kill();
    assertFalse(postgres.isAlive());
    postgres.start();
    assertEquals("42", postgres.psql("SELECT a FROM t").output().strip());
    postgres.close();
    workspace.close();
    assertFalse(Files.exists(workspace.disk()));
    assertFalse(Files.exists(workspace.memory()));
  }
}
