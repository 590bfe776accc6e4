package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.testing.ResultText;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The same data and the same random queries here and on PostgreSQL: the same rows in the same order, or the same SQLSTATE.
///
/// Skipped when PostgreSQL is not installed. A difference prints seed and query; `-Dkakehashi.seed=n` runs another seed.
final class QueryDifferenceTest {
  private static final int ROWS = 60;
  private static final int QUERIES = 600;
  private static final int MAX_SHOWN = 12;

  private static final String COLUMNS =
      " (id int primary key, i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision,"
          + " n numeric(12,3), nn numeric, t text, v varchar(8), c char(5), d date, ts timestamp,"
          + " iv interval, b bool)";

  @TempDir Path directory;

  @Test
  void shouldAnswerRandomQueriesAsPostgresDoes() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261121L);
    try (PrivatePostgres postgres = PrivatePostgres.start();
        Connection connection = postgres.connect();
        Statement statement = connection.createStatement();
        TestEngine engine = new TestEngine(directory)) {
      statement.execute("set timezone = 'UTC'");
      Random random = new Random(seed);
      for (String table : List.of("a", "b")) {
        both(engine, statement, "create table " + table + COLUMNS);
        for (int i = 0; i < ROWS; i++) {
          both(engine, statement, "insert into " + table + " values " + row(i, random));
        }
      }
      both(engine, statement, "create index on a (i4)");
      compare(new RandomQueries(seed), seed, engine, statement);
    }
  }

  private static void both(TestEngine engine, Statement statement, String sql) throws SQLException {
    statement.execute(sql);
    engine.run(sql);
  }

  private static void compare(
      RandomQueries queries, long seed, TestEngine engine, Statement statement) {
    List<String> differences = new ArrayList<>();
    for (int i = 0; i < QUERIES; i++) {
      String sql = queries.next();
      String expected = onPostgres(statement, sql);
      String actual = onEngine(engine, sql);
      if (!expected.equals(actual)) {
        differences.add(
            sql + "\n  PostgreSQL: " + shorten(expected) + "\n  engine:     " + shorten(actual));
      }
    }
    assertEquals(
        "",
        String.join("\n", differences.subList(0, Math.min(MAX_SHOWN, differences.size()))),
        differences.size() + " differences of " + QUERIES + ", seed " + seed);
  }

  private static String shorten(String text) {
    return text.length() > 400 ? text.substring(0, 400) + "..." : text;
  }

  private static String onPostgres(Statement statement, String sql) {
    try (ResultSet result = statement.executeQuery(sql)) {
      return ResultText.rows(result).toString();
    } catch (SQLException refused) {
      return "error " + refused.getSQLState();
    }
  }

  private static String onEngine(TestEngine engine, String sql) {
    try {
      return engine.query(sql).toString();
    } catch (EngineException refused) {
      return "error "
          + refused.code().sqlstate()
          + (refused.code().sqlstate().startsWith("XX")
                  || refused.code().sqlstate().startsWith("0A")
              ? " " + refused.getMessage()
              : "");
    }
  }

  private static String row(int id, Random random) {
    List<String> values = new ArrayList<>();
    values.add(String.valueOf(id));
    for (String value :
        List.of(
            String.valueOf(random.nextInt(20) - 5),
            String.valueOf(random.nextInt(12)),
            String.valueOf(random.nextInt(30) - 3),
            String.valueOf(random.nextInt(8) / 4.0),
            String.valueOf(random.nextInt(16) / 8.0),
            String.valueOf(random.nextInt(40) / 4.0),
            String.valueOf(random.nextInt(40) / 8.0),
            text(random, 6),
            text(random, 8),
            text(random, 3),
            "'2020-0" + (1 + random.nextInt(4)) + "-1" + random.nextInt(3) + "'",
            "'2021-03-0" + (1 + random.nextInt(4)) + " 0" + random.nextInt(9) + ":10:20.5'",
            "'"
                + random.nextInt(3)
                + " mon "
                + random.nextInt(40)
                + " days 0"
                + random.nextInt(9)
                + ":00'",
            random.nextBoolean() ? "true" : "false")) {
      values.add(random.nextInt(6) == 0 ? "null" : value);
    }
    return "(" + String.join(",", values) + ")";
  }

  private static String text(Random random, int maxLength) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(maxLength);
    for (int i = 0; i < length; i++) {
      text.append("aabB x".charAt(random.nextInt(6)));
    }
    return "'" + text + "'";
  }
}
