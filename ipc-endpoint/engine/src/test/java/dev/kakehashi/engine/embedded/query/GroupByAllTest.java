package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// GROUP BY ALL: the items of the select list without aggregates and window functions are the keys.
final class GroupByAllTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (a int, b text, v int)");
    engine.run("create table u (a int, w int)");
    engine.run("insert into t values (1, 'x', 10), (1, 'x', 20), (1, 'y', 5), (2, null, 7)");
    engine.run("insert into u values (1, 100), (1, 200), (2, 300)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void assertSame(String list, String group, String end) {
    assertEquals(
        engine.query("select " + list + " from t " + group + end),
        engine.query("select " + list + " from t group by all" + end),
        list);
  }

  @Test
  void shouldGroupByTheItemsThatAreNoAggregates() {
    assertSame("a, b, count(*)", "group by a, b", " order by 1, 2");
    assertSame("a + 1 as n, sum(v)", "group by a + 1", " having sum(v) > 10 order by n");
    assertSame("b, a, a, max(v) - min(v)", "group by b, a", " order by a, b");
    assertSame("'c' as c, count(*)", "group by 1", "");
    assertSame("*", "group by a, b, v", " order by a, b, v");
    assertSame("a, sum(v) + a", "group by a", " order by a limit 1");
    assertSame("coalesce(b, '-'), grouping(coalesce(b, '-'))", "group by 1", " order by 1");
    assertSame("distinct a", "group by a", " order by a");
    assertEquals(
        List.of("1|3", "2|1", "3|0"),
        engine.query(
            "select a, count(*) from t group by all union all select count(*) + 3, count(*) from t where v > 99 group by all order by 1"));
  }

  @Test
  void shouldBeOneGroupWithoutSuchItems() {
    assertEquals(List.of("4"), engine.query("select count(*) from t group by all"));
    assertEquals(List.of("0"), engine.query("select count(*) from t where a > 99 group by all"));
    assertEquals(List.of(), engine.query("select 'c', count(*) from t where a > 99 group by all"));
    assertEquals(1, engine.run("select from t group by all").count());
  }

  @Test
  void shouldGroupBySubqueries() {
    assertSame(
        "(select max(w) from u where u.a = t.a) as m, count(*)", "group by 1", " order by m");
    assertSame("(select max(w) from u), sum(v)", "group by 1", "");
    assertSame(
        "a, (select count(*) from u where u.a = t.a) + count(*)", "group by a", " order by a");
    // The aggregate in the subquery is this query's.
    assertSame("(select sum(t.v) from u limit 1)", "", "");
    assertEquals(
        List.of("1|200|3", "2|300|1"),
        engine.query(
            "select a, (select max(w) from u where u.a = t.a) m, count(*) from t group by all order by a"));
  }

  @Test
  void shouldLeaveOutWindowFunctionsAndTakeRowFunctions() {
    assertSame("a, count(*) over (), count(*)", "group by a", " order by a");
    assertSame("a, generate_series(1, a) as s, count(*)", "group by a, s", " order by a, s");
  }

  @Test
  void shouldRefuseColumnsThatAreNoKeys() {
    for (String query :
        List.of(
            "select a + count(*) from t group by all",
            "select a, count(*) from t group by all order by v",
            "select a, count(*) over (order by v) from t group by all",
            "select count(*), (select count(*) from u where u.a = t.a) + sum(v) from t group by all")) {
      TestEngine.assertState("42803", () -> engine.query(query));
    }
  }

  @Test
  void shouldStayAWordInFrontOfAList() {
    assertEquals(
        engine.query("select a, count(*) from t group by a order by a"),
        engine.query("select a, count(*) from t group by all a order by a"));
  }
}
