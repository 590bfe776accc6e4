package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.TmpfsMount;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/// The disk of the data directory is filled to the last byte: what a commit is answered is what has become of it, on both sides, then and
/// after a restart.
@EnabledIf(value = "mayMount", disabledReason = "only root can mount a tmpfs")
class DataDiskFullTest {
  private static final int MEGABYTES = 40;

  /// A row takes a seventh of a segment of the log: the room that is there already is soon used up.
  private static final int ROW_BYTES = 600_000;

  private final List<String> committed = new ArrayList<>();
  private int last;
  private int refused;

  static boolean mayMount() {
    return TmpfsMount.permitted();
  }

  @Test
  void shouldKeepWhatWasCommittedAndNothingElse() throws Exception {
    try (var cluster = Cluster.start("datadisk")) {
      cluster.endpoint().stop();
      try (var mount = TmpfsMount.at(cluster.endpoint().dataDirectory(), MEGABYTES)) {
        cluster.endpoint().start();
        cluster.createTable("far", "id int4, filler text", "id");
        try (Connection connection = cluster.connect()) {
          Sql.execute(connection, "CREATE TABLE near (id int4)");
          insert(connection, 4);
          assertEquals(0, refused);
          check(connection);

          Path ballast = mount.fill();
          insert(connection, 30);
          assertTrue(refused > 2, "refused " + refused);
          check(connection);

          mount.release(ballast);
          int before = refused;
          insert(connection, 4);
          assertEquals(before, refused);
          check(connection);
        }
        cluster.endpoint().kill();
        cluster.endpoint().start();
        try (Connection connection = cluster.connect()) {
          check(connection);
        }
        cluster.endpoint().stop();
      }
    }
  }

  /// Transactions of the engine alone, and every third time of both sides.
  private void insert(Connection connection, int count) throws SQLException {
    for (int i = 0; i < count; i++) {
      int id = ++last;
      String far = "INSERT INTO far VALUES (" + id + ", repeat('x', " + ROW_BYTES + "))";
      String near = "INSERT INTO near VALUES (" + id + ")";
      try {
        Sql.execute(connection, "BEGIN", far, id % 3 == 0 ? near : "SELECT 1", "COMMIT");
        committed.add(Integer.toString(id));
      } catch (SQLException e) {
        Sql.execute(connection, "ROLLBACK");
        String said = String.valueOf(e.getMessage());
        assertEquals("53100", e.getSQLState(), said);
        assertTrue(said.contains("The transaction was rolled back."), said);
        refused++;
      }
    }
  }

  private void check(Connection connection) throws SQLException {
    assertEquals(committed, Sql.rows(connection, "SELECT id FROM far ORDER BY id"));
    assertEquals(
        committed.stream().filter(id -> Integer.parseInt(id) % 3 == 0).toList(),
        Sql.rows(connection, "SELECT id FROM near ORDER BY id"));
    assertThrows(
        SQLException.class, () -> Sql.execute(connection, "INSERT INTO far VALUES (1, 'there')"));
  }
}
