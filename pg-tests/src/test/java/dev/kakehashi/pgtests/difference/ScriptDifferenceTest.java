package dev.kakehashi.pgtests.difference;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Features that PostgreSQL builds on tables work on foreign tables: triggers, views, generated columns, partitions, PL/pgSQL. Each
/// statement of a script gives the same on heap tables and on foreign ones.
///
/// A statement of a script ends with a semicolon at the end of a line, outside of `$$`. Lines that begin with `--engine:` run on the
/// engine first, those with `--heap:` and `--foreign:` on one side only.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ScriptDifferenceTest {
  private final Cluster cluster = Cluster.start("scripts");

  @BeforeAll
  void createSchemas() throws SQLException {
    cluster.onEngine("CREATE SCHEMA diff");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"triggers", "views", "generated", "partitions", "plpgsql"})
  void shouldGiveTheSameOnBothSides(String script) throws SQLException, IOException {
    List<String> statements = statements(script);
    Answer heap = run(script, "heap", statements);
    assertEquals("", heap.difference(run(script, "foreign", statements)));
  }

  private Answer run(String script, String kind, List<String> statements) throws SQLException {
    String schema = script + "_" + kind;
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "CREATE SCHEMA " + schema);
    }
    Answer transcript = new Answer();
    try (Side side = new Side(cluster, schema, 0)) {
      for (String statement : statements) {
        if (statement.startsWith("--")) {
          runOnOne(kind, side, statement);
          continue;
        }
        String result = side.result(statement, statement.contains("ORDER BY"));
        transcript.add(statement, result.replace(schema, "schema"));
      }
    }
    return transcript;
  }

  private void runOnOne(String kind, Side side, String line) throws SQLException {
    String sql = line.substring(line.indexOf(':') + 1).strip();
    if (line.startsWith("--engine:")) {
      if (kind.equals("heap")) {
        cluster.onEngine(sql);
      }
    } else if (line.startsWith("--" + kind + ":")) {
      String result = side.result(sql, false);
      assertEquals("changed 0", result, sql);
    }
  }

  private static List<String> statements(String script) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            ScriptDifferenceTest.class.getResourceAsStream(script + ".sql"), script)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<String> statements = new ArrayList<>();
      StringBuilder open = new StringBuilder();
      boolean quoted = false;
      for (String line : text.lines().toList()) {
        if (line.startsWith("--")) {
          statements.add(line);
          continue;
        }
        open.append(line).append('\n');
        // Bodies are between $$ and $$.
        quoted ^= line.split("\\$\\$", -1).length % 2 == 0;
        if (!quoted && line.endsWith(";")) {
          statements.add(open.toString().strip().replaceAll(";$", ""));
          open.setLength(0);
        }
      }
      return statements;
    }
  }
}
