package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How joins are executed: lookups in an index for few rows, EXISTS as a semi-join, filters out of disjunctions. The answers are compared
/// with those of the same query over subqueries with OFFSET, which no filter and no index gets through.
final class JoinPlanTest {
  private static final String ITEMS = "(select * from items offset 0) ";

  @TempDir static Path directory;
  private static TestEngine engine;

  @BeforeAll
  static void open() {
    engine = new TestEngine(directory);
    engine.run("create table numbers (n int)");
    engine.run("insert into numbers values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    engine.run(
        "insert into numbers select a.n + 10 * b.n + 100 * c.n + 1000 * d.n from numbers a, numbers b, numbers c, numbers d"
            + " where a.n + 10 * b.n + 100 * c.n + 1000 * d.n > 9");
    engine.run("create table parts (p int primary key, brand text, size int, note text)");
    engine.run(
        "insert into parts select i, 'b' || (i % 25), i % 50, case when i % 3 = 0 then null else 'n' || i end"
            + " from (select n + 1 as i from numbers where n < 1000) g");
    engine.run(
        "create table items (o int, line int, p int, s int, qty int, primary key (o, line))");
    engine.run(
        "insert into items select i / 4, i % 4, case when i % 11 = 0 then null else i % 1000 end, i % 7, i % 49"
            + " from (select 4 * a.n + b.n as i from numbers a, numbers b where b.n < 4) g");
    engine.run("create index items_part on items (p, s)");
    engine.run("analyze");
  }

  @AfterAll
  static void close() {
    engine.close();
  }

  private static String plan(String sql) {
    return String.join("\n", engine.query("explain " + sql));
  }

  private static void assertSameRows(String sql) {
    List<String> expected = engine.query(sql.replaceAll("items( |$)", ITEMS));
    assertFalse(expected.isEmpty(), sql);
    assertEquals(expected, engine.query(sql), sql);
  }

  @Test
  void shouldLookUpThePartnersOfFewRows() {
    for (String sql :
        List.of(
            "select parts.p, o, line from parts join items i on i.p = parts.p where size = 7 and qty < 9 order by 1, 2, 3",
            "select parts.p, o, line from items i join parts on i.p = parts.p and i.s <> parts.size where size = 7 order by 1, 2, 3",
            "select a.p, o, note from parts a left join items i on i.p = a.p + 990 and i.s = 3 where size = 7 order by 1, 2",
            "select a.p, note, o from items i right join parts a on i.p = a.p and i.qty > a.p % 40 where size = 7 order by 1, 3",
            "select p from parts where size = 7 and exists (select 1 from items i where i.p = parts.p and qty > parts.p % 50 + 40) order by 1",
            "select p from parts where size = 7 and not exists (select 1 from items i where i.p = parts.p and qty > parts.p % 50 + 40)"
                + " order by 1",
            "select o, sum(qty) from items i where o in (select a.p from parts a where size = 7) group by o order by 1")) {
      String plan = plan(sql);
      assertTrue(plan.contains("Index Scan using items_"), sql + "\n" + plan);
      assertFalse(plan.contains("Table Scan on public.items"), sql + "\n" + plan);
      assertSameRows(sql);
    }
  }

  @Test
  void shouldOrderJoinsByWhatLookupsCost() {
    engine.run("create table sizes (size int, name text)");
    engine.run("insert into sizes values (3, 'a'), (5, 'b'), (8, 'c')");
    engine.run("analyze sizes");
    String sql =
        "select count(*), sum(j.s) from parts f, items i, items j, sizes where f.size = 7 and i.p = f.p"
            + " and j.o = i.o and sizes.size = j.qty";
    // Few rows until the end, if all partners of each are combined with the sizes before the last
    // join; but then the last one reads all items.
    assertFalse(plan(sql).contains("Nested Loop"), plan(sql));
    assertFalse(plan(sql).contains("Table Scan on public.items"), plan(sql));
    assertSameRows(sql);
  }

  @Test
  void shouldKeepTheRowsThatNoneOfSeveralTasksFoundAPartnerOf() {
    String sql =
        "select count(*), count(i.p), count(a.p), sum(a.p) from items i %s join parts a on i.p = a.p and i.qty < 3 and a.p <> 5";
    for (String kind : List.of("right", "full")) {
      String measured = String.join("\n", engine.query("explain analyze " + sql.formatted(kind)));
      String join =
          measured.lines().filter(line -> line.contains("Hash Join")).findFirst().orElseThrow();
      assertTrue(join.contains("Hash Join " + kind.toUpperCase(Locale.ROOT)), measured);
      assertFalse(join.contains("loops=1)"), measured);
      assertSameRows(sql.formatted(kind));
    }
    assertSameRows(
        "select a.p from items i right join parts a on i.p = a.p and i.qty < 3 where i.p is null order by 1");
  }

  @Test
  void shouldFindNoPartnerOfNull() {
    engine.run("create table few (p int)");
    engine.run("insert into few values (null), (5), (null), (2000000)");
    engine.run("analyze few");
    for (String sql :
        List.of(
            "select f.p, count(o) from few f left join items i on i.p = f.p group by f.p order by 1",
            "select count(*) from few f join items i on i.p = f.p",
            "select f.p from few f where exists (select 1 from items i where i.p = f.p) order by 1",
            "select f.p from few f where not exists (select 1 from items i where i.p = f.p) order by 1")) {
      assertTrue(plan(sql).contains("Index Scan using items_part"), sql + "\n" + plan(sql));
      assertSameRows(sql);
    }
  }

  @Test
  void shouldScanWhenManyRowsWouldBeLookedUp() {
    String sql = "select count(*) from parts a join items i on i.p = a.p";
    assertTrue(plan(sql).contains("Table Scan on public.items"), plan(sql));
    assertTrue(plan(sql).contains("Hash Join"), plan(sql));
  }

  @Test
  void shouldEvaluateTheOuterQueryOfExistsOnce() {
    String sql =
        "select count(*) from items i, parts a where i.p = a.p and size < 40"
            + " and exists (select 1 from items j where j.o = i.o and j.s <> i.s)"
            + " and not exists (select 1 from items k where k.o = i.o and k.s <> i.s and k.qty > a.size)";
    String plan = plan(sql);
    assertEquals(1, plan.split("on public.parts", -1).length - 1, plan);
    assertEquals(3, plan.split("on public.items", -1).length - 1, plan);
    assertSameRows(sql);
  }

  @Test
  void shouldKeepWhatIsNoSemiJoin() {
    for (String sql :
        List.of(
            "select p from parts where size = 7 and (exists (select 1 from items i where i.p = parts.p) or p > 990) order by 1",
            "select p from parts where exists (select count(*) from items i where i.p = parts.p) order by 1",
            "select p from parts where exists (select 1 from items i where i.p = parts.p limit 0) or p = 3 order by 1",
            "select p from parts where exists (select 1 from items i where i.p = parts.p offset 36) order by 1",
            "select p from parts a where exists (select 1 from items i where i.p = a.p and exists"
                + " (select 1 from items j where j.o = i.o and j.p = a.p + 1)) order by 1",
            "select p from parts a where exists (select 1 from items i where i.p = a.p group by i.s having sum(qty) > 130)"
                + " order by 1",
            "select p from parts a where size = 7 and exists (select 1 from items i where i.p = a.p and qty ="
                + " (select max(qty) from items j where j.o = i.o)) order by 1",
            "select p from parts a where exists (select 1 from items i where qty = 48) and size = 7 order by 1")) {
      assertSameRows(sql);
    }
  }

  @Test
  void shouldGroupOnlyWhatBelongsToFewRows() {
    for (String sql :
        List.of(
            "select a.p, i.o, qty from parts a, items i where i.p = a.p and size = 7 and qty > (select avg(qty) from items j where j.p = a.p)"
                + " order by 1, 2",
            "select a.p, m.c, m.q from parts a join (select p, count(*) as c, sum(qty) as q from items i group by p) m on m.p = a.p where size = 7"
                + " order by 1",
            "select a.p, m.c from parts a left join (select p, count(*) as c from items i group by p having count(*) > 36) m on m.p = a.p"
                + " where a.size = 7 order by 1",
            "select a.p, m.s, m.c from (select p, s, count(*) * 2 as c from items i where qty < 40 group by p, s) m right join parts a on a.p = m.p"
                + " and m.s < 5 where size = 7 order by 1, 2",
            "select p from parts where size = 7 and p in (select p from items i group by p having sum(qty) > 900) order by 1",
            "select p from parts where size = 7 and not exists (select 1 from (select p, sum(qty) as q from items i group by p) m where m.p = parts.p"
                + " and q > 900) order by 1",
            "select a.note, m.c from parts a join (select x.size, count(*) as c from items i join parts x on x.p = i.p group by x.size) m"
                + " on m.size = a.size where a.brand = 'b3' order by 1, 2")) {
      assertSameRows(sql);
    }
    for (String sql :
        List.of(
            "select sum(qty) from parts a, items i where i.p = a.p and size = 7 and qty > (select avg(qty) from items j where j.p = a.p)",
            "select count(*) from parts a left join (select p, sum(qty) as q from items group by p) m on m.p = a.p where size = 7")) {
      assertFalse(plan(sql).contains("Table Scan on public.items"), sql + "\n" + plan(sql));
    }
  }

  @Test
  void shouldNotRestrictTheGroupsThatARowWithoutPartnerKeeps() {
    for (String sql :
        List.of(
            "select count(*), sum(c) from (select p, count(*) as c from items i group by p) m left join parts a on a.p = m.p and size = 7",
            "select count(*), sum(c), count(a.p) from (select p, count(*) as c from items i group by p) m full join"
                + " (select * from parts where size = 7) a on a.p = m.p",
            "select count(*) from (select p, count(*) as c from items i group by p) m where not exists (select 1 from parts a where a.p = m.p"
                + " and size = 7)")) {
      assertSameRows(sql);
    }
  }

  @Test
  void shouldEvaluateAQueryThatIsNamedTwiceOnce() {
    String query = " (select p, sum(qty) as q from items group by p) ";
    String use = "select count(*) from a x, a y where x.q = y.q + 1 and x.p in (select p from a)";
    String once = plan("with a as" + query + use);
    assertEquals(1, once.split("Table Scan on public.items", -1).length - 1, once);
    assertEquals(3, once.split("Work Table", -1).length - 1, once);
    assertTrue(once.contains("CTE a: "), once);
    String inlined = plan("with a as not materialized" + query + use);
    assertEquals(3, inlined.split("Table Scan on public.items", -1).length - 1, inlined);
    assertEquals(
        engine.query("with a as not materialized" + query + use),
        engine.query("with a as" + query + use));
    String single = plan("with a as" + query + "select * from a where p = 3");
    assertFalse(single.contains("Work Table"), single);
    assertTrue(single.contains("Index Scan using items_part"), single);
  }

  @Test
  void shouldFilterEachSideByWhatADisjunctionSaysOfIt() {
    String sql =
        "select sum(qty), count(*) from items i, parts a where (i.p = a.p and brand = 'b1' and qty between 1 and 10 and size < 30)"
            + " or (a.p = i.p and brand = 'b7' and qty between 20 and 25)";
    String plan = plan(sql);
    assertTrue(plan.contains("Index Scan using items_part"), plan);
    assertTrue(
        plan.lines()
            .dropWhile(line -> !line.contains("Table Scan on public.parts"))
            .anyMatch(line -> line.contains("Filter") && line.contains("'b7'")),
        plan);
    assertSameRows(sql);
    for (String kind : List.of("left", "right", "full")) {
      assertSameRows(
          "select count(*), sum(qty), sum(a.p), count(i.p) from parts a "
              + kind
              + " join items i on i.p = a.p and ((brand = 'b1' and qty < 5) or (brand = 'b2' and qty > 45))");
    }
  }

  @Test
  void shouldFilterTheTablesOfSeveralJoins() {
    String sql =
        "select count(*) from items i, parts a, items j where i.p = a.p and j.o = i.o and"
            + " ((brand = 'b1' and i.qty = 7 and j.line = 2) or (brand = 'b2' and i.qty = 9 and j.line = 3))";
    assertTrue(plan(sql).contains("'b2'"), plan(sql));
    assertSameRows(sql);
  }
}
