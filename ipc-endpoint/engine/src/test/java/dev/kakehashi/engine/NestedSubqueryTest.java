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
/// Skipped when PostgreSQL is not installed. A difference prints seed, query and a smaller one; `-Dkakehashi.seed=n` runs another seed, `-Dkakehashi.queries=n` other than 300 queries.
final class NestedSubqueryTest {
  private static final int QUERIES = Integer.getInteger("kakehashi.queries", 300);
  private static final int MAX_SHOWN = 12;
  private static final int MAX_TRIALS = 20_000;

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

  @Test
  void shouldGiveTheRowsOfQueriesThatCalciteMakesWrongJoinsOf() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (a int, b int)");
      engine.run("create table u (a int, b int)");
      engine.run("insert into t values (1, 2), (2, 3), (null, 1), (3, null), (0, 0)");
      engine.run("insert into u values (1, 1), (0, 3), (null, 1), (2, null), (2, 2)");
      // What is computed from the outer row alone has no value of its own where another column is
      // null.
      assertRows(
          "0|0, 1|1, 2|2, 2|2, NULL|NULL",
          engine,
          "select q.a, (select max(case when q.a is null then t.b else q.a end) from t where t.a > q.a) from u q");
      assertRows(
          "0, 1, 2, 2, NULL",
          engine,
          "select q.a from u q where q.a not in (select t.a from t join u r on q.b is distinct from q.b where r.a >= q.a)");
      // Columns that are aggregates are no keys.
      assertRows(
          "2",
          engine,
          "select m from (select max(a) m from u group by a) q where 2 in (select q.m)");
      // A name for groups that a subquery once had is none for the columns above.
      assertRows(
          "0, 1, 1, 2",
          engine,
          "select count(a) from u group by a having (select 9) not in (select t.b from t where t.b is not null and not u.a < t.a)");
      // Groups by a constant have no row where their input has none.
      assertRows(
          "0|NULL, 1|NULL, 2|NULL, 3|NULL, NULL|NULL",
          engine,
          "select q.b, (select min(r.b) from t r where exists (select where 9 in (select b from u)) and r.a > q.b) from t q");
      // A condition that takes the place of a column below OR.
      assertRows(
          "0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, NULL, NULL",
          engine,
          "select q.a from u q join u r on 0 in (select s.a from u s where q.b >= r.a or q.b <= q.b and q.a <> s.b)");
    }
  }

  private static void assertRows(String expected, TestEngine engine, String sql) {
    assertEquals("[" + expected + "]", onEngine(engine, sql), sql);
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
      if (!expected.equals(actual) && differences.size() < MAX_SHOWN) {
        String reduced =
            new QueryReducer(text -> isSuch(actual, engine, statement, text), MAX_TRIALS)
                .reduce(sql);
        differences.add(
            sql
                + "\n  PostgreSQL: "
                + expected
                + "\n  engine:     "
                + actual
                + "\n  reduced:    "
                + reduced);
      }
    }
    assertEquals(
        "",
        String.join("\n", differences),
        differences.size() + " differences of " + QUERIES + ", seed " + seed);
  }

  /// Whether a query of PostgreSQL's has other rows here, or the error of another one.
  private static boolean isSuch(String other, TestEngine engine, Statement statement, String sql) {
    try {
      String expected = onPostgres(statement, sql);
      String actual = onEngine(engine, sql);
      return !expected.equals(actual) && kind(actual).equals(kind(other));
    } catch (SQLException refused) {
      return false;
    }
  }

  private static String kind(String actual) {
    return actual.startsWith("[") ? "rows" : actual.substring(0, Math.min(11, actual.length()));
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
