package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// A Java program works in a transaction that PostgreSQL has begun.
class JoinedTransactionTest {
  private static final String PROGRAM = "JoinTransaction.java";
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Test
  void shouldCommitWhatBothHaveDoneTogether() throws Exception {
    try (var cluster = Cluster.start("joined")) {
      cluster.createTable("item", "id int4, v int4", "id");
      try (Connection connection = cluster.connect();
          Connection other = cluster.connect()) {
        // One that PostgreSQL itself has not changed before it hands the handle out.
        Sql.execute(connection, "BEGIN");
        String empty = Sql.value(connection, "SELECT kakehashi_current_transaction('kakehashi')");
        assertTrue(Long.parseLong(empty) != 0);
        Sql.execute(connection, "INSERT INTO item VALUES (1, 10)");
        assertEquals(empty, Sql.value(connection, "SELECT kakehashi_current_transaction()"));

        assertEquals("sees 10\nadds 1\n", join(cluster, empty));
        assertEquals("30", Sql.value(connection, "SELECT sum(v) FROM item"));
        assertEquals("0", Sql.value(other, "SELECT count(*) FROM item"));
        Sql.execute(connection, "COMMIT");
        assertEquals(List.of("1", "2"), Sql.rows(other, "SELECT id FROM item ORDER BY id"));

        Sql.execute(connection, "DELETE FROM item WHERE id = 2", "BEGIN");
        String undone = Sql.value(connection, "SELECT kakehashi_current_transaction('kakehashi')");
        assertEquals("sees 10\nadds 1\n", join(cluster, undone));
        Sql.execute(connection, "ROLLBACK");
        assertEquals(List.of("1"), Sql.rows(other, "SELECT id FROM item"));
      }
    }
  }

  private static String join(Cluster cluster, String handle) throws IOException {
    Path program = cluster.workspace().disk().resolve(PROGRAM);
    if (Files.notExists(program)) {
      try (InputStream source =
          Objects.requireNonNull(JoinedTransactionTest.class.getResourceAsStream("/" + PROGRAM))) {
        Files.copy(source, program);
      }
    }
    return OsProcess.runOk(
        List.of(
            Installation.java().toString(),
            "@" + Installation.jvmOptions(),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "--class-path",
            Installation.runDirectory().resolve("lib/kakehashi-tools.jar").toString(),
            program.toString(),
            cluster.endpoint().runtimeDirectory().toString(),
            handle),
        Map.of(),
        LIMIT);
  }
}
