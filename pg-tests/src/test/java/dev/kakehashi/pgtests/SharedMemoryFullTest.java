package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.TmpfsMount;
import dev.kakehashi.pgtests.harness.Workspace;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/// A tmpfs of its own is filled to the last byte: an SQL error, never a SIGBUS, and the service goes on with the space back.
@EnabledIf(value = "mayMount", disabledReason = "only root can mount a tmpfs")
class SharedMemoryFullTest {
  private static final int MEGABYTES = 64;
  private static final int SESSIONS = 30;
  private static final int CURSORS_PER_SESSION = 12; // of 16 response slots

  static boolean mayMount() {
    return TmpfsMount.permitted();
  }

  @Test
  void shouldReportFullSharedMemoryAndRecover() throws Exception {
    try (var cluster = Cluster.start(Workspace.createWithSmallMemory("full", MEGABYTES))) {
      TmpfsMount mount = cluster.workspace().mount();
      cluster.createTable("wide", "id int4, filler text", "id");
      try (Connection connection = cluster.connect()) {
        Sql.execute(
            connection,
            "INSERT INTO wide SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i");
        assertEquals("20000", count(connection));
        String backend = Sql.value(connection, "SELECT pg_backend_pid()");

        Path ballast = mount.fill();
        SQLException failure = firstFailure(cluster);
        assertEquals("53100", failure.getSQLState(), failure.getMessage());
        assertTrue(cluster.endpoint().isAlive());
        assertEquals(
            backend,
            Sql.value(connection, "SELECT pg_backend_pid()"),
            "PostgreSQL was not restarted");

        mount.release(ballast);
        assertEquals("20000", count(connection));
      }
    }
  }

  /// Pools that were reserved earlier serve some statements: open cursors of ever more sessions hold what they were given, so that new
  /// demand meets the limit.
  private static SQLException firstFailure(Cluster cluster) throws SQLException {
    var sessions = new ArrayList<Connection>();
    try {
      for (int i = 0; i < SESSIONS * CURSORS_PER_SESSION; i++) {
        if (i % CURSORS_PER_SESSION == 0) {
          sessions.add(cluster.connect());
          sessions.getLast().setAutoCommit(false);
        }
        try {
          Sql.execute(
              sessions.getLast(),
              "DECLARE c" + i + " CURSOR FOR SELECT id, filler FROM wide OFFSET 0");
          Sql.rows(sessions.getLast(), "FETCH 1 FROM c" + i);
        } catch (SQLException e) {
          return e;
        }
      }
    } finally {
      for (Connection session : sessions) {
        session.close();
      }
    }
    throw new AssertionError("a full tmpfs was never noticed");
  }

  private static String count(Connection connection) throws SQLException {
    return Sql.value(connection, "SELECT count(filler) FROM (SELECT filler FROM wide OFFSET 0) w");
  }
}
