package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.ScriptSession;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.testing.ResultText;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Scripts of statements here and on PostgreSQL: the same names of columns and rows (in the same order where the statement has one), the
/// same number of changed rows, or the same SQLSTATE.
///
/// Skipped when PostgreSQL is not installed. Statements of a script end with a semicolon at the end of a line.
final class StatementDifferenceTest {
  /// Names of scripts with commas between; empty: all.
  private static final String ONLY = System.getProperty("kakehashi.scripts", "");

  private static final int MAX_SHOWN = 30;

  private static PrivatePostgres postgres;
  private static Connection connection;

  @TempDir Path directory;

  @BeforeAll
  static void startPostgres() throws SQLException {
    postgres = PrivatePostgres.start();
    connection = postgres.connect();
  }

  @AfterAll
  static void stopPostgres() throws SQLException {
    if (connection != null) {
      connection.close();
      postgres.close();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dml",
        "merge",
        "mixed-times",
        "with-changes",
        "windows",
        "grouping",
        "nesting",
        "operators",
        "functions",
        "alter-table",
        "added-columns",
        "check-constraints",
        "null-keys",
        "long-keys",
        "not-valid",
        "sequences",
        "relation-names",
        "identity-columns",
        "views",
        "comments",
        "foreign-keys",
        "time-zone",
        "deferred-keys",
        "row-functions",
        "from-char",
        "limits",
        "rows",
        "row-subqueries",
        "correlated",
        "select-rows",
        "to-number",
        "similar",
        "definitions",
        "table-copies",
        "generated-columns",
        "deferred-unique",
        "partial-indexes",
        "expression-indexes",
        "implied-predicates",
        "row-failures",
        "arrays",
        "json",
        "collecting",
        "document-keys",
        "conflict-subqueries",
        "returning-subqueries",
        "from-items",
        "records",
        "variadic",
        "named-arguments",
        "full-joins",
        "literals",
        "literal-escapes",
        "time-texts",
        "quantified-operators",
        "column-definitions",
        "miscellany",
        "traversal",
        "reports",
        "changes",
        "encodings",
        "ordered-sets",
        "one-group",
        "outer-aggregates",
        "whole-rows",
        "system-functions",
        "condition-order",
        "pushed-down"
      })
  void shouldDoWhatPostgresDoes(String script) throws SQLException, IOException {
    assumeTrue(ONLY.isEmpty() || List.of(ONLY.split(",")).contains(script));
    List<String> differences = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        TestEngine engine = new TestEngine(directory)) {
      statement.execute("drop schema public cascade; create schema public");
      statement.execute("set timezone = 'UTC'");
      ScriptSession session = new ScriptSession(engine);
      for (String sql : statements(script)) {
        String expected = onPostgres(statement, sql);
        String actual = onEngine(session, sql);
        boolean bothRefuse = expected.endsWith("0A000") && actual.startsWith(expected);
        if (!expected.equals(actual) && !bothRefuse) {
          differences.add(sql + "\n  PostgreSQL: " + expected + "\n  engine:     " + actual);
        }
      }
    }
    assertEquals(
        "",
        String.join("\n", differences.subList(0, Math.min(MAX_SHOWN, differences.size()))),
        differences.size() + " differences");
  }

  private static List<String> statements(String script) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            StatementDifferenceTest.class.getResourceAsStream(script + ".sql"), script)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Pattern.compile(";\\s*\n")
          .splitAsStream(text)
          .map(String::strip)
          .filter(statement -> !statement.isEmpty())
          .toList();
    }
  }

  private static String shown(String sql, List<String> rows) {
    List<String> shown = new ArrayList<>(rows);
    if (!sql.toLowerCase(Locale.ROOT).contains("order by")) {
      shown.sort(null);
    }
    return shown.toString();
  }

  private static String onPostgres(Statement statement, String sql) {
    try {
      if (!statement.execute(sql)) {
        return "changed " + statement.getUpdateCount();
      }
      List<String> names = new ArrayList<>();
      try (ResultSet result = statement.getResultSet()) {
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
          names.add(result.getMetaData().getColumnLabel(i));
        }
        return names + " " + shown(sql, ResultText.rows(result));
      }
    } catch (SQLException refused) {
      return "error " + refused.getSQLState();
    }
  }

  private static String onEngine(ScriptSession session, String sql) {
    try {
      TestEngine.Result result = session.run(sql);
      List<String> names = result.columns().stream().map(column -> column.name()).toList();
      boolean setting = sql.startsWith("set ") || sql.startsWith("reset ");
      return result.isQuery() && !setting
          ? names + " " + shown(sql, result.rows())
          : "changed " + result.count();
    } catch (EngineException refused) {
      String state = refused.code().sqlstate();
      boolean unexpected = state.startsWith("XX") || state.startsWith("0A");
      return "error " + state + (unexpected ? " " + refused.getMessage() : "");
    }
  }
}
