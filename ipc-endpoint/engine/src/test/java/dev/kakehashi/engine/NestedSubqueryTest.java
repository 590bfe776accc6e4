package dev.kakehashi.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.testing.PrivatePostgres;
import dev.kakehashi.engine.testing.ResultText;
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

/// Random queries with subqueries that name columns of any query around them give the same rows here and on PostgreSQL.
///
/// Skipped when PostgreSQL is not installed. A difference prints seed and query; `-Dkakehashi.seed=n` runs another seed, `-Dkakehashi.queries=n` other than 150 queries.
final class NestedSubqueryTest {
  private static final int QUERIES = Integer.getInteger("kakehashi.queries", 150);
  private static final int MAX_SHOWN = 12;

  @TempDir Path directory;

  @Test
  void shouldGiveEachSubqueryTheRowsOfTheQueriesAroundIt() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 7);
    try (PrivatePostgres postgres = PrivatePostgres.start();
        Connection connection = postgres.connect();
        Statement statement = connection.createStatement();
        TestEngine engine = new TestEngine(directory)) {
      Random random = new Random(seed);
      for (String table : List.of("t", "u", "n")) {
        // One of them has no nulls.
        String notNull = table.equals("n") ? " not null" : "";
        both(
            engine,
            statement,
            "create table " + table + " (a int" + notNull + ", b int" + notNull + ")");
        for (int i = 0; i < RandomSubqueries.ROWS; i++) {
          String row = value(random, notNull) + ", " + value(random, notNull);
          both(engine, statement, "insert into " + table + " values (" + row + ")");
        }
      }
      compare(new RandomSubqueries(seed), seed, engine, statement);
    }
  }

  private static String value(Random random, String notNull) {
    return notNull.isEmpty() && random.nextInt(5) == 0 ? "null" : String.valueOf(random.nextInt(4));
  }

  private static void both(TestEngine engine, Statement statement, String sql) throws SQLException {
    statement.execute(sql);
    engine.run(sql);
  }

  private static void compare(
      RandomSubqueries queries, long seed, TestEngine engine, Statement statement)
      throws SQLException {
    List<String> differences = new ArrayList<>();
    for (int i = 0; i < QUERIES; i++) {
      String sql = queries.next();
      String expected = onPostgres(statement, sql);
      String actual = onEngine(engine, sql);
      if (!expected.equals(actual)) {
        differences.add(sql + "\n  PostgreSQL: " + expected + "\n  engine:     " + actual);
      }
    }
    assertEquals(
        "",
        String.join("\n", differences.subList(0, Math.min(MAX_SHOWN, differences.size()))),
        differences.size() + " differences of " + QUERIES + ", seed " + seed);
  }

  /// The rows in an order of their own; an error is one of the generator.
  private static String onPostgres(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      List<String> rows = ResultText.rows(result);
      rows.sort(null);
      return rows.toString();
    } catch (SQLException refused) {
      throw new SQLException(sql, refused);
    }
  }

  private static String onEngine(TestEngine engine, String sql) {
    try {
      List<String> rows = new ArrayList<>(engine.query(sql));
      rows.sort(null);
      return rows.toString();
    } catch (EngineException refused) {
      return "error " + refused.code().sqlstate() + " " + refused.getMessage();
    } catch (RuntimeException | AssertionError broken) {
      return "broken: " + broken + " at " + List.of(broken.getStackTrace()).subList(0, 4);
    }
  }
}
