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

/// Random queries with subqueries that name columns of any query around them give the same rows here and on PostgreSQL.
///
/// Skipped when PostgreSQL is not installed. A difference prints seed, query and a smaller one; `-Dkakehashi.seed=n` runs another seed,
/// `-Dkakehashi.queries=n` other than 300 queries.
final class NestedSubqueryTest {
  private static final int QUERIES = Integer.getInteger("kakehashi.queries", 300);
  private static final int MAX_SHOWN = 12;
  private static final int MAX_TRIALS = 5_000;

  private static final List<String> TABLES =
      List.of(
          "create table t (a int, b int)",
          "create table u (a int, b int)",
          "create table n (a int not null, b int not null)",
          "insert into t values (1, 2), (2, 3), (null, 1), (3, null), (0, 0)",
          "insert into u values (1, 1), (0, 3), (null, 1), (2, null), (2, 2)",
          "insert into n values (1, 1), (0, 3), (3, 1), (2, 0), (2, 2)");

  /// Wrong or refused once, each for a reason of its own.
  private static final List<String> MISTAKEN =
      List.of(
          // An expression of the outer row alone has no value of its own where another column is
          // null.
          "select q.a, (select max(case when q.a is null then t.b else q.a end) from t where t.a > q.a) from u q",
          "select q.a from u q where q.a not in (select t.a from t join u r on q.b is distinct from q.b where r.a >= q.a)",
          // Columns that are aggregates are no keys.
          "select m from (select max(a) m from u group by a) q where 2 in (select q.m)",
          // A name for groups that a subquery once had is none for the columns above.
          "select count(a) from u group by a having (select 9) not in (select t.b from t where t.b is not null and not u.a < t.a)",
          // Groups by a constant have no row where their input has none.
          "select q.b, (select min(r.b) from t r where exists (select where 9 in (select b from u)) and r.a > q.b) from t q",
          // A condition that takes the place of a column below OR.
          "select q.a from u q join u r on 0 in (select s.a from u s where q.b >= r.a or q.b <= q.b and q.a <> s.b)",
          "select q.a from u q where 0 in (select r.a from t r where (q.b = 0 or q.a = q.a) is not true)",
          // Columns of an outer join below a subquery may be null.
          "select t.a, (select sum(u.b) from u left join n v on u.a = v.a"
              + " where exists (select 1 from n w where w.a is distinct from u.a and w.b > t.b)) from t",
          // There is no join with a window.
          "select t.a, l.* from t, lateral (select u.a, sum(u.b) over (order by u.a) + t.a as w from u where t.b is null or u.a > t.b) l",
          // A constant among several keys.
          "select t.a, l.* from t, lateral (select true as k, u.a, count(*) from u where u.b > t.b group by 1, 2) l",
          "select * from t where t.a in (select x.a from (select distinct true, a from u where u.b > t.b) x)",
          // A limit below what names the outer row.
          "select (select max(x.b) from (select b from u order by b limit 2) x where x.b < t.a) from t",
          // An order by what is computed, of a limit that becomes numbers of rows.
          "select a, b from n q where (select coalesce(r.b, q.b) from u r where r.a = q.a order by 1 limit 1 offset 1) in (select b from u)",
          "select q.a from u q where (select coalesce(q.b, 3) order by 1 limit 1 offset 1) in (select b from u)",
          // One outer column in several comparisons, over another level.
          "select q.b from t q join lateral (select where (q.b, q.b) in"
              + " (select r.b, r.a from n join n r on exists (select from n s where q.b = s.b))) l on true",
          // A column that equals an outer one, beside others that become columns before it.
          "select t.a, t.b, (select count(*) from (select u.a from u where u.b >= t.a) q, n m where m.b = t.b) from t",
          "select case when (t.b, t.b) in (select q.x2, q.x1 from"
              + " (select n.a x1, max(n.b) x2 from n where t.b is null group by n.a) q) then t.b end from t",
          // One row of groups there is always, also where it is no subquery as a value.
          "select t.a, l.m from t, lateral (select max(u.a) m from u where u.b = t.b) l",
          "select t.a, l.m from t cross join lateral (select max(u.a) m from u where u.b = t.b + 1) l",
          "select t.a, l.m, l.c from t, lateral (select max(u.a) m, count(*) c from u where u.b = t.b) l",
          "select t.a, exists (select from (select max(u.a) m from u where u.b = t.b) q where q.m is null) from t",
          "select t.a, exists (select max(u.a) from u where u.b = t.b having count(*) = 0) from t",
          "select t.a from t where exists (select max(u.a) from u where u.b = t.b)",
          "select t.a, (select coalesce(max(u.a), 7) from u where u.b = t.b) from t",
          "select t.a, (select case when max(u.a) is null then 5 end from u where u.b = t.b) from t",
          "select t.a, (select q.m is null from (select max(u.a) m from u where u.b = t.b) q) from t",
          "select t.a, l.m from t left join lateral (select coalesce(max(u.a), 7) m from u where u.b = t.b) l on true",
          "select t.a, (select q.m + n.b from (select coalesce(max(u.a), 7) m from u where u.b = t.b) q, n order by 1 limit 1) from t",
          "select t.a, 7 in (select coalesce(max(u.a), 7) from u where u.b = t.b) from t",
          "select t.a, l.m from t, lateral (select max(u.a) m from u where u.b = t.b union all select 3) l",
          // Both sides of a join name one outer column.
          "select t.a, (select count(*) from (select * from u where u.b = t.a) q, (select * from n where n.b > t.a) r) from t",
          "select t.a, (select count(*) from (select * from u where u.b = t.b and t.a < 3) q where q.a in (select n.b from n where n.a = t.a)) from t",
          "select t.a, (select count(*) from (select * from u where u.b >= t.a) q, (select * from n where n.b > t.b) r) from t",
          // Subqueries in VALUES.
          "values ((select 7)), (8), ((select max(a) from t))",
          "select t.a, q.c from t, lateral (values ((select max(u.a) from u where u.b = t.b)), (t.a)) q (c)",
          // Conditions of the sides of INTERSECT are not Calcite's to evaluate.
          "select count(*) from (select true from u join (select from"
              + " (select q.a, 0 from u q intersect select r.a, 3 from t r where null) s) v on true) w",
          "select count(*) from n q join lateral (select (select 0 from"
              + " (select r.a, 0 from t r where q.a >= s.a intersect select x.a, 0 from u x) y limit 1) from n s) z on true");

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
  void shouldGiveTheRowsOfQueriesThatCalciteMakesWrongJoinsOf() throws SQLException {
    try (PrivatePostgres postgres = PrivatePostgres.start();
        Connection connection = postgres.connect();
        Statement statement = connection.createStatement();
        TestEngine engine = new TestEngine(directory)) {
      for (String sql : TABLES) {
        both(engine, statement, sql);
      }
      for (String sql : MISTAKEN) {
        assertEquals(onPostgres(statement, sql), onEngine(engine, sql), sql);
      }
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
    int found = 0;
    for (int i = 0; i < QUERIES; i++) {
      String sql = queries.next();
      String expected = onPostgres(statement, sql);
      String actual = onEngine(engine, sql);
      if (expected.equals(actual)) {
        continue;
      }
      found++;
      if (found <= MAX_SHOWN) {
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
        found + " differences of " + QUERIES + ", seed " + seed);
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
