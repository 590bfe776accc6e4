package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.testing.Differences;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Correlated subqueries over a large table are evaluated by row where that costs less than a join, and give PostgreSQL's rows either way.
///
/// The comparison is skipped when PostgreSQL is not installed. A difference prints seed and query; `-Dkakehashi.seed=n` runs another seed,
/// `-Dkakehashi.queries=n` other than 120 queries.
final class CorrelatedPlanTest {
  private static final int QUERIES = Integer.getInteger("kakehashi.queries", 120);

  private static final List<String> TABLES =
      List.of(
          "create table few (id int primary key, v int, w int not null, s text)",
          "insert into few select i, case when i % 7 = 0 then null else i * 37 % 50 end, i % 9, 'few ' || i * 31 % 40"
              + " from generate_series(1, 40) i",
          "create table many (id int primary key, k int, g int not null, s text)",
          "insert into many select i, case when i % 13 = 0 then null else i * 7919 % 5000 end, i % 50, 'many ' || i % 100"
              + " from generate_series(1, 12000) i",
          "create index many_k on many (k)",
          "create index many_g on many (g, id)",
          "analyze");

  /// Subqueries by row that name rows of queries further out, below others by row.
  private static final List<String> NESTED =
      List.of(
          "select id, (select count(*) from few b where b.w = a.w and b.id < (select max(c.id) from many c where c.k = b.v and c.g <"
              + " (select max(d.id) from many d where d.k = c.k and d.g <> a.id))) from few a order by 1",
          "select id, (select count(*) from few b where b.id < (select max(c.id) from many c where c.k = b.v and c.g <"
              + " (select max(d.id) from many d where d.k = c.k and d.g <> a.id))) from few a order by 1",
          "select a.id, q.id, (select max(o.id) from many o where o.k = q.k and o.id > a.w) from few a cross join lateral"
              + " (select m.id, m.k from many m where m.k > a.v and m.id > (select min(o.id) from many o where o.k = a.v + m.g) order by m.k, m.id limit 2) q order by 1, 2");

  @TempDir static Path directory;
  private static TestEngine engine;

  @BeforeAll
  static void open() {
    engine = new TestEngine(directory);
    TABLES.forEach(engine::run);
  }

  @AfterAll
  static void close() {
    engine.close();
  }

  private static String plan(String sql) {
    return String.join("\n", engine.query("explain " + sql));
  }

  private static void assertByRow(String index, String sql) {
    String plan = plan(sql);
    assertTrue(plan.contains("Correlated Join"), sql + "\n" + plan);
    assertTrue(plan.contains("Index Scan using " + index), sql + "\n" + plan);
    assertFalse(plan.contains("Table Scan on public.many"), sql + "\n" + plan);
  }

  @Test
  void shouldTakeTheFirstRowsOfALateralSubqueryFromAnIndex() {
    String lateral = "select f.id, q.id from few f cross join lateral (select * from many m where ";
    assertByRow("many_k", lateral + "m.k >= f.v order by m.k limit 3) q");
    assertByRow("many_k", lateral + "m.k = f.v order by m.id desc limit 1) q");
    assertByRow("many_g", lateral + "m.g = f.w order by m.id limit 2) q where f.id < 5");
    assertByRow(
        "many_k",
        "select id, (select s from many m where m.k > f.v order by m.k limit 1) from few f");
  }

  @Test
  void shouldLookUpTheRowsOfAggregatesOfFewOuterRows() {
    assertByRow("many_k", "select id, (select count(*) from many m where m.k = f.v) from few f");
    assertByRow(
        "many_k",
        "select id, (select max(s) from many m where m.k > f.v and m.k < f.v + 3) from few f where id = 5");
    assertByRow(
        "many_k", "select id from few f where w > (select count(*) from many m where m.k = f.id)");
  }

  @Test
  void shouldJoinWhereAllRowsAreNeeded() {
    for (String sql :
        List.of(
            "select m.id, (select count(*) from few f where f.w = m.g) from many m",
            "select m.id, q.id from many m cross join lateral (select * from few f where f.w = m.g order by f.id limit 1) q",
            "select f.id, q.id from many f cross join lateral (select * from many m where m.s = f.s order by m.id limit 1) q")) {
      assertFalse(plan(sql).contains("Correlated Join"), sql + "\n" + plan(sql));
    }
  }

  @Test
  void shouldComputeSubqueriesOfTheSelectListForTheRowsThatLimitLeaves() {
    String sql =
        "select m.id, (select count(*) from many o where o.k = m.k), (select max(v) from few f where f.id > m.g) from many m"
            + " order by m.s desc, m.id limit 4";
    List<String> measured = engine.query("explain analyze " + sql);
    List<String> subqueries =
        measured.stream()
            .filter(line -> line.contains("-> ") && line.contains("loops=4)"))
            .toList();
    assertTrue(subqueries.size() >= 2, String.join("\n", measured));
    assertEquals(engine.query(sql.replace(" limit 4", "")).subList(0, 4), engine.query(sql));
  }

  @Test
  void shouldTakeTheRowsOfALimitOnce() {
    // Two evaluations of the outer query would leave others.
    for (String outer :
        List.of(
            "(select *, random() as x from many) m order by x limit 10",
            "(select * from many order by random() limit 10) m",
            "(select * from many tablesample bernoulli (10)) m",
            "many m order by s limit 10")) {
      String counts =
          "select (select count(*) from few f where f.id <= m.id + 40) as c from " + outer;
      assertEquals(
          List.of("40|40"), engine.query("select min(c), max(c) from (" + counts + ") q"), outer);
    }
    engine.run("create sequence drawn");
    assertEquals(
        1,
        engine
            .query(
                "select (select count(*) from few f where f.id = m.id) from many m limit nextval('drawn')")
            .size());
    assertEquals(List.of("2"), engine.query("select nextval('drawn')"));
  }

  @Test
  void shouldJoinASubqueryBesideOneThatIsEvaluatedByRow() {
    String sql =
        "select f.id, (select m.s from many m where m.k = f.v and m.id < 5000), (select count(*) from many c where c.s = f.s) from few f";
    assertTrue(plan(sql).contains("Correlated Join"), plan(sql));
    assertTrue(plan(sql).contains("Join RIGHT"), plan(sql));
  }

  @Test
  void shouldSortFewRowsRatherThanPassManyInOrder() {
    assertTrue(plan("select * from many where k = 5 order by id limit 1").contains("many_k"));
    // One of a hundred fulfils it, and two are wanted.
    assertTrue(
        plan("select * from many where s = 'many 7' order by id limit 2").contains("many_pkey"));
    assertTrue(
        plan("select * from many where s = 'many 7' order by id limit 100").contains("Sort"));
  }

  @Test
  void shouldReadARangeOfANullableColumnInItsOrder() {
    for (String sql :
        List.of(
            "select k from many order by k limit 3",
            "select k from many order by k desc limit 3",
            "select k from many where k > 4000 order by k limit 3",
            "select k from many where k <= 10 order by k desc nulls last limit 3",
            "select k from many where k is not null and k < 4 order by k nulls first limit 50")) {
      assertTrue(plan(sql).contains("many_k"), sql + "\n" + plan(sql));
      assertFalse(plan(sql).contains("Sort"), sql + "\n" + plan(sql));
      assertEquals(
          engine.query(sql.replace("from many", "from (select * from many offset 0) m")),
          engine.query(sql));
    }
    assertTrue(plan("select * from many order by k nulls first limit 3").contains("Sort"));
    assertTrue(plan("select * from many order by k desc nulls last limit 3").contains("Sort"));
  }

  @Test
  void shouldReadJoinsInTheOrderOfAnIndexUpToTheLimit() {
    for (String sql :
        List.of(
            "select m.id, f.s from many m join few f on f.id = m.g order by m.id desc limit 20",
            "select f.s, m.s from few f right join many m on f.id = m.g and f.v > 3 order by m.id limit 5",
            "select m.id from many m where exists (select 1 from many o where o.k = m.k and o.id > m.id) order by m.id limit 5",
            "select m.id, q.id from many m cross join lateral (select * from many o where o.k > m.k order by o.k limit 1) q"
                + " order by m.id limit 5")) {
      String plan = plan(sql);
      assertTrue(plan.contains("using many_pkey"), sql + "\n" + plan);
      assertFalse(plan.contains("Sort"), sql + "\n" + plan);
      String all = sql.replaceAll(" limit \\d+$", "");
      int limit = Integer.parseInt(sql.replaceAll(".* limit ", ""));
      assertEquals(engine.query(all).subList(0, limit), engine.query(sql), sql);
    }
    // All rows are needed.
    String many =
        plan("select m.id, f.s from many m join few f on f.id = m.g order by m.id limit 11000");
    assertTrue(many.contains("Sort"), many);
  }

  @Test
  void shouldReadNoMoreRowsThanALimitOrExistsAsksFor() {
    for (String sql :
        List.of(
            "select f.id, q.id from few f cross join lateral (select * from many m where m.k >= f.v order by m.k limit 3) q",
            "select * from many order by id limit 100",
            "select id from few f where not exists (select 1 from many m where m.k between f.v and f.v + 400)",
            "select m.id, f.s from many m join few f on f.id = m.g order by m.id desc limit 20")) {
      for (String line : engine.query("explain analyze " + sql)) {
        if (line.contains("Scan")) {
          long rows = Long.parseLong(line.replaceAll(".* rows=(\\d+) loops.*", "$1"));
          assertTrue(rows <= 120, sql + "\n" + line);
        }
      }
    }
  }

  @Test
  void shouldLookUpRangesThatTheOtherRowBounds() {
    for (String sql :
        List.of(
            "select f.id, m.id from few f join many m on m.k between f.v and f.v + 2",
            "select f.id, m.id from few f left join many m on m.k > f.v * 10 and m.k < f.v * 10 + 3",
            "select f.id from few f where exists (select 1 from many m where m.k > f.v and m.k < f.v + 3 and m.id <> f.id)",
            "select f.id from few f where not exists (select 1 from many m where m.k > f.v and m.k < f.v + 3 and m.id <> f.id)")) {
      assertByRow("many_k", sql);
    }
  }

  @Test
  void shouldGiveTheSameRowsAsPostgres() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 11);
    RandomCorrelations queries = new RandomCorrelations(seed);
    List<String> differences = new ArrayList<>();
    int byRow = 0;
    try (PrivatePostgres postgres = PrivatePostgres.start();
        Connection connection = postgres.connect();
        Statement statement = connection.createStatement()) {
      for (String table : TABLES) {
        statement.execute(table);
      }
      for (int i = 0; i < QUERIES + NESTED.size(); i++) {
        String sql = i < NESTED.size() ? NESTED.get(i) : queries.next();
        byRow += plan(sql).contains("Correlated Join") ? 1 : 0;
        List<String> expected = onPostgres(statement, sql);
        List<String> actual = engine.query(sql);
        if (!expected.equals(actual)) {
          differences.add(
              sql + "\n  PostgreSQL: " + start(expected) + "\n  engine:     " + start(actual));
        }
      }
    }
    Differences.assertNone(differences, seed);
    assertTrue(byRow > QUERIES / 4 && byRow < QUERIES, byRow + " by row, seed " + seed);
  }

  private static String start(List<String> rows) {
    return rows.size() + " rows, " + rows.subList(0, Math.min(8, rows.size()));
  }

  private static List<String> onPostgres(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      return ResultText.rows(result);
    } catch (SQLException refused) {
      throw new SQLException(sql, refused);
    }
  }

  /// Queries with correlated subqueries over `few` and `many`. Their rows have a total order.
  private static final class RandomCorrelations {
    private final Random random;

    RandomCorrelations(long seed) {
      random = new Random(seed);
    }

    private String any(String... choices) {
      return choices[random.nextInt(choices.length)];
    }

    private String outer() {
      return any(
          "few f",
          "few f",
          "(select * from few order by w, id limit " + (1 + random.nextInt(9)) + ") f",
          "(select f.* from few f left join few h on h.id = f.v where h.w is null or h.w < 6) f",
          "(select id, k as v, g as w, s from many where id % 400 < 3) f");
    }

    private String term() {
      return any(
          "m.k = f.v",
          "m.k = f.v + 1",
          "m.k >= f.v",
          "m.k between f.v and f.v + 3",
          "m.k > f.v * 100 and m.k < f.v * 100 + f.w",
          "m.g = f.w",
          "m.g = f.v",
          "m.id > f.id",
          "m.id <> f.id",
          "m.g < 40",
          "m.k + f.w > 30",
          "m.s > f.s",
          "m.k is not distinct from f.v");
    }

    private String where() {
      StringBuilder where = new StringBuilder(" where " + term());
      while (random.nextInt(3) == 0) {
        where.append(" and ").append(term());
      }
      return where.toString();
    }

    private String order() {
      return " order by "
          + any("m.id", "m.id desc", "m.k, m.id", "m.k desc, m.id desc", "m.g, m.id", "m.s, m.id");
    }

    private String limit() {
      return " limit " + (1 + random.nextInt(4)) + (random.nextInt(4) == 0 ? " offset 1" : "");
    }

    private String scalar() {
      return random.nextInt(3) == 0
          ? "(select "
              + any("m.id", "m.s", "m.k")
              + " from many m"
              + where()
              + order()
              + " limit 1)"
          : "(select "
              + any("count(*)", "max(m.id)", "min(m.s)", "sum(m.g)", "count(distinct m.g)")
              + " from many m"
              + where()
              + ")";
    }

    String next() {
      String last = random.nextInt(2) == 0 ? " limit " + (1 + random.nextInt(12)) : "";
      String order = any("f.id", "f.s, f.id", "f.w desc, f.id", "f.v nulls first, f.id");
      String condition =
          random.nextInt(2) == 0 ? "" : any("f.id < 20", "f.w = 3", "f.v is not null");
      return switch (random.nextInt(8)) {
        case 0, 1 -> {
          String join = any("cross join lateral (", "left join lateral (");
          String query = "select m.id, m.k, m.s from many m" + where() + order() + limit();
          String on = join.startsWith("left") ? ") q on " + any("true", "q.k > f.w") : ") q";
          yield "select f.id, q.* from "
              + outer()
              + " "
              + join
              + query
              + on
              + (condition.isEmpty() ? "" : " where " + condition)
              + " order by "
              + order
              + ", q.id"
              + last;
        }
        case 2 -> {
          String first =
              "cross join lateral (select m.id, m.g from many m"
                  + where()
                  + order()
                  + limit()
                  + ") q";
          String second =
              "left join lateral (select count(*) as c, min(m.id) as d from many m where m.g = q.g and "
                  + term()
                  + ") r on true";
          yield "select f.id, q.*, r.* from "
              + outer()
              + " "
              + first
              + " "
              + second
              + (condition.isEmpty() ? "" : " where " + condition)
              + " order by "
              + order
              + ", q.id"
              + last;
        }
        case 3 ->
            "select f.id, "
                + scalar()
                + ", "
                + scalar()
                + " from "
                + outer()
                + (condition.isEmpty() ? "" : " where " + condition)
                + " order by "
                + order
                + last;
        case 4 ->
            "select m.id, f.s from many m "
                + any("join", "left join")
                + " few f on f.id = m.g"
                + any("", " and f.w < 5", " and m.k > 20")
                + any("", " where m.s < 'many 3'", " where m.k > 4000")
                + " order by "
                + any("m.id", "m.id desc", "m.g, m.id", "m.g desc, m.id desc")
                + " limit "
                + (1 + random.nextInt(40))
                + any("", " offset 3");
        case 5 ->
            "select m.id from many m where "
                + any("", "not ")
                + "exists (select 1 from many o where o.k = m.k and o.id "
                + any("> m.id", "<> m.id", "< 9000")
                + ") order by "
                + any("m.id", "m.id desc", "m.k desc nulls last, m.id")
                + " limit "
                + (1 + random.nextInt(40));
        case 6 ->
            "select m.id, f.id, h.id from many m join few f on f.id = m.g join few h on h.id = f.w + "
                + random.nextInt(9)
                + any("", " where h.v > 10", " where m.id % 3 = 0")
                + " order by "
                + any("m.id", "m.id desc")
                + " limit "
                + (1 + random.nextInt(40));
        default ->
            "select f.id from "
                + outer()
                + " where f.w "
                + any("<", ">=", "<>")
                + " (select count(*) from many m"
                + where()
                + ")"
                + (condition.isEmpty() ? "" : " and " + condition)
                + " order by "
                + order
                + last;
      };
    }
  }
}
