package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.PsqlSession;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The endpoint ends and comes back; the psql session stays the same.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EndpointLifeTest {
  private Cluster cluster;

  EndpointLifeTest() {
    cluster = Cluster.start("life");
  }

  @BeforeAll
  void createTable() throws SQLException {
    cluster.createTable("item", "id int4, name text", "id");
    cluster.onEngine("INSERT INTO item VALUES (1, 'stored')");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @BeforeEach
  void runEndpoint() {
    if (!cluster.endpoint().isAlive()) {
      cluster.endpoint().start();
    }
  }

  @Test
  void shouldReportAnAbsentEndpointAndUseItOnceItIsThere() {
    cluster.endpoint().stop();
    try (var psql = PsqlSession.open(cluster.postgres())) {
      assertFailure("08001", psql.run("SELECT name FROM item"));
      assertEquals("1", psql.run("SELECT 1"), "the session stays usable");
      cluster.endpoint().start();
      assertEquals("stored", psql.run("SELECT name FROM item"));
    }
  }

  @Test
  void shouldReportAKilledEndpointOnceAndUseItsSuccessor() {
    try (var psql = PsqlSession.open(cluster.postgres())) {
      assertEquals("stored", psql.run("SELECT name FROM item"));
      psql.run("BEGIN");
      psql.run("UPDATE item SET name = 'lost' WHERE id = 1");
      cluster.endpoint().kill();
      assertFailure("08006", psql.run("SELECT name FROM item"));
      psql.run("ROLLBACK");
      assertFailure("08001", psql.run("SELECT name FROM item"));
      cluster.endpoint().start();
      assertEquals("stored", psql.run("SELECT name FROM item"));
    }
  }

  @Test
  void shouldUseASuccessorWithoutAnErrorWhenNoTransactionWasOpen() {
    try (var psql = PsqlSession.open(cluster.postgres())) {
      assertEquals("stored", psql.run("SELECT name FROM item"));
      cluster.endpoint().kill();
      cluster.endpoint().start();
      assertEquals("stored", psql.run("SELECT name FROM item"));
    }
  }

  @Test
  void shouldNotCommitLocallyWhatTheLostEndpointCannotCommit() {
    try (var psql = PsqlSession.open(cluster.postgres())) {
      psql.run("CREATE TABLE IF NOT EXISTS journal (id int)");
      psql.run("TRUNCATE journal");
      psql.run("BEGIN");
      psql.run("INSERT INTO journal VALUES (1)");
      psql.run("UPDATE item SET name = 'lost' WHERE id = 1");
      cluster.endpoint().kill();
      assertFailure("08006", psql.run("COMMIT"));
      assertEquals("0", psql.run("SELECT count(*) FROM journal"));
      cluster.endpoint().start();
      assertEquals("stored", psql.run("SELECT name FROM item"));
    }
  }

  private static void assertFailure(String sqlstate, String output) {
    assertTrue(output.contains(sqlstate + ":"), "expected SQLSTATE " + sqlstate + " in: " + output);
  }
}
