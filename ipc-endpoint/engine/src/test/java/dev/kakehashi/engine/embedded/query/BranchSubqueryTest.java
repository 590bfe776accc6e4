package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Subqueries that would fail for some rows, where an expression or a condition keeps them from these.
final class BranchSubqueryTest {
  private static final List<String> TABLES =
      List.of(
          "create table t (a int primary key, b int)",
          "create table u (k int primary key, b int)",
          "create table s (id int primary key, name text)",
          "insert into s values (1, 'x'), (2, '12'), (3, 'abc'), (4, '4'), (5, null)",
          "insert into t values (1, 0), (2, 5), (3, null), (4, 2)",
          "insert into u values (1, 3), (2, 4), (3, 0), (4, 9)");

  private static final List<String> QUERIES =
      List.of(
          "select a, case when b <> 0 then (select 10 / t.b) end from t",
          "select a, case when b = 0 then 0 when b > 2 then (select 10 / (t.b - 2)) else (select 10 / (t.b + 1)) end from t",
          "select a, case when b <> 0 then (select max(u.b) from u where u.b > 10 / t.b) end from t",
          "select a, case when b <> 0 then (select max(10 / u.b) from u where u.k > t.b + 1) end from t",
          "select a, case when (select count(*) from u where u.k > t.a) = 1 then (select u.b from u where u.k > t.a) end from t",
          // Subqueries that depend on no row.
          "select a, case when b > 100 then (select 1 / count(*) from u where u.k < 0) end from t",
          "select a, case when b > 100 then (select u.b from u) else (select u.b from u where u.k + 1 = 2) end from t",
          "select a, case when b > 100 then exists (select from u where 1 / (u.b - u.b) > 0) end from t",
          // COALESCE, OR and AND.
          "select a, coalesce(b, (select 1 / t.b), (select u.b from u where t.b is not null)) from t",
          "select a from t where b = 0 or exists (select from u where u.b > 10 / t.b)",
          "select a from t where b = 0 or b is null or 7 / b in (select u.b + 10 / t.b - 2 from u)",
          "select a from t where b = 0 or 7 / b <> all (select u.b from u where u.b < 3)",
          "select a, case when b <> 0 then 12 / b in (select u.b from u) end from t",
          "select a, case when b <> 0 then (12 / b, a) in (select u.b + u.b / 3, u.k - t.a * 0 from u) end from t",
          "select a, case when b <> 0 then 12 / b <= any (select u.b from u) end from t",
          "select a from t where b = 0 or 7 / b < any (select u.b + 10 / t.b from u)",
          "select a, b <> 0 and exists (select from u where u.b > 10 / t.b) from t",
          "select a, not (b = 0 or not exists (select from u where u.b > 10 / t.b)) from t",
          // Both places of one subquery, of which one has a branch.
          "select a, case when b > 2 then (select 10 / (t.a - 1)) end, case when a > 1 then (select 10 / (t.a - 1)) end from t",
          // A condition of the subquery itself.
          "select a, (select max(b) from u where t.b <> 0 and u.b > 10 / t.b) from t",
          "select a, (select max(b) from u where t.b <> 0 and u.b = 10 / t.b) from t",
          "select a, (select max(b) from u where u.k = t.a and (t.b = 0 or u.b > 10 / t.b)) from t",
          "select a, (select max(b) from u where u.k = t.a and u.b > case when t.b <> 0 then 10 / t.b end) from t",
          "select a, (select max(q.b) from (select b, 10 / t.b as y from u) q where t.b <> 0 and q.b > q.y) from t",
          // A condition beside it.
          "select id from s where name ~ '^[0-9]+$' and (select count(*) from u where u.b + 3 >= s.name::int) > 0",
          "select id from s where name ~ '^[0-9]+$' and id in (select u.k from u where u.b + 3 = s.name::int or s.id > 2)",
          "select id, case when name ~ '^[0-9]+$' then name::int in (select u.b from u) end from s",
          // Below joins and groups.
          "select t.b, sum(case when t.b <> 0 then (select max(u.b) from u where u.b > 10 / t.b) end) from t group by t.b",
          "select t.a, l.c from t left join lateral (select case when t.b <> 0 then (select 10 / t.b) end as c) l on true",
          "select t.a, u.k from t left join u on t.a = u.k and (t.b = 0 or (select 10 / t.b) > 1) and (u.b = 0 or (select 10 / u.b) > 1)",
          "select t.a, u.k from t full join u on t.a = u.k and (t.b = 0 or (select 10 / t.b) > 1) and (u.b = 0 or (select 10 / u.b) > 1)",
          "select a, case when b <> 0 then (select u.b from u where u.k > 10 / t.b order by 1 limit 1) end from t",
          "select a, case when b > 9 then (select 1 / u.b from u order by u.b limit 1) end from t",
          "select a, case when b <> 0 then (select max(u.b) from u where exists (select from u v where v.k = u.k and v.b > 10 / t.b)) end from t");

  @TempDir Path directory;

  @Test
  void shouldNotEvaluateSubqueriesForRowsThatTheirBranchIsNotTakenFor() throws SQLException {
    try (PrivatePostgres postgres = PrivatePostgres.start();
        Connection connection = postgres.connect();
        Statement statement = connection.createStatement();
        TestEngine engine = new TestEngine(directory)) {
      for (String sql : TABLES) {
        statement.execute(sql);
        engine.run(sql);
      }
      for (String query : QUERIES) {
        assertEquals(rows(statement, query), engine.query(query).stream().sorted().toList(), query);
      }
    }
  }

  @Test
  void shouldFailWhereTheBranchIsTaken() {
    try (TestEngine engine = new TestEngine(directory)) {
      TABLES.forEach(engine::run);
      assertEquals(
          "division by zero",
          error(engine, "select case when b is not null then (select 10 / t.b) end from t"));
      assertEquals(
          "more than one row returned by a subquery used as an expression",
          error(engine, "select case when b = 5 then (select u.b from u) end from t"));
    }
  }

  private static String error(TestEngine engine, String sql) {
    return String.valueOf(
        assertThrows(EngineException.class, () -> engine.query(sql)).getMessage());
  }

  private static List<String> rows(Statement statement, String sql) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (ResultSet found = statement.executeQuery(sql)) {
      int columns = found.getMetaData().getColumnCount();
      while (found.next()) {
        List<String> values = new ArrayList<>();
        for (int i = 1; i <= columns; i++) {
          String value = found.getString(i);
          values.add(value == null ? "NULL" : value);
        }
        rows.add(String.join("|", values));
      }
    }
    return rows.stream().sorted().toList();
  }
}
