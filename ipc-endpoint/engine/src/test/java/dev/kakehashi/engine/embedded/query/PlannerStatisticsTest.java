package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.embedded.plans.StatementPlan;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.valuetext.time.Zone;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Effects of statistics on the planner: numbers of rows near the truth, joins in a good order, plans made anew when the statistics change.
final class PlannerStatisticsTest {
  private static final int LINES = 30_000;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run(
        "create table orders (o_orderkey int primary key, o_orderstatus text, o_shippriority int, o_orderdate date,"
            + " o_comment text)");
    engine.run("create table supplier (s_suppkey int primary key, s_nationkey int)");
    engine.run(
        "create table partsupp (ps_partkey int, ps_suppkey int, primary key (ps_partkey, ps_suppkey))");
    engine.run(
        "create table lineitem (l_orderkey int, l_suppkey int, l_partkey int, l_quantity numeric, l_shipdate date)");
    // Nearly all orders have one status and one priority; one supplier in a hundred is of nation 3.
    insert(
        "orders",
        LINES / 4,
        i ->
            new Object[] {
              i,
              i % 20 == 0 ? "F" : "O",
              i % 25 == 0 ? 1 : 0,
              "%d-%02d-%02d".formatted(1992 + i % 7, 1 + i % 12, 1 + i % 28),
              i % 50 == 0 ? null : "c" + i % 997
            });
    insert("supplier", 400, i -> new Object[] {i, i % 100 == 7 ? 3 : i % 100});
    insert("partsupp", 4_000, i -> new Object[] {i / 4, i * 7 % 400});
    insert(
        "lineitem",
        LINES,
        i ->
            new Object[] {
              i / 4,
              i % 4_000 * 7 % 400,
              i % 4_000 / 4,
              i % 50 + ".5",
              "199%d-05-%02d".formatted(i % 8, 1 + i % 28)
            });
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void insert(String table, int count, IntFunction<Object[]> row) {
    Object[][] rows = new Object[count][];
    for (int i = 0; i < count; i++) {
      rows[i] = row.apply(i);
    }
    StringBuilder sql = new StringBuilder("insert into " + table + " values (");
    for (int i = 1; i <= rows[0].length; i++) {
      sql.append(i == 1 ? "$" : ", $").append(i);
    }
    Statement insert = engine.prepare(sql + ")");
    EngineTransaction transaction = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    engine.execute(transaction, insert, rows);
    engine.commit(transaction);
  }

  /// Names of the tables that a plan scans, those that are joined first before the others.
  private List<String> joinOrder(PhysicalPlan plan) {
    List<String> order = new ArrayList<>();
    deepestFirst(plan.source(), order);
    return order;
  }

  private void deepestFirst(PlanNode node, List<String> order) {
    switch (node) {
      case PlanNode.TableScan scan -> order.add(name(scan.tableId()));
      case PlanNode.IndexScan scan -> order.add(name(scan.tableId()));
      default ->
          node.inputs().stream()
              .sorted((a, b) -> Integer.compare(depth(b), depth(a)))
              .forEach(input -> deepestFirst(input, order));
    }
  }

  private static int depth(PlanNode node) {
    return 1 + node.inputs().stream().mapToInt(PlannerStatisticsTest::depth).max().orElse(0);
  }

  private String name(long tableId) {
    return engine.engine.catalogSnapshot().tables().stream()
        .filter(table -> table.tableId() == tableId)
        .findFirst()
        .map(Table::name)
        .orElseThrow();
  }

  private PhysicalPlan planWithoutStatistics(String sql) {
    CatalogSnapshot catalog = engine.engine.catalogSnapshot();
    return ((Prepared.Planned)
            SqlFront.prepare(
                sql,
                new int[0],
                catalog,
                table -> engine.engine.facts().applyAsLong(table),
                Zone.UTC,
                RoleSet.SUPERUSER))
        .plan();
  }

  private StatementPlan planOf(String sql) {
    return engine
        .engine
        .plans()
        .plan(sql, new int[0], engine.engine.catalogSnapshot(), Zone.UTC, RoleSet.SUPERUSER);
  }

  private PhysicalPlan plan(String sql) {
    return ((Prepared.Planned) planOf(sql).prepared()).plan();
  }

  @Test
  void shouldJoinFirstWhatLeavesFewRows() {
    String sql =
        "select count(*), sum(l_quantity) from orders, lineitem, supplier where l_orderkey = o_orderkey and l_suppkey = s_suppkey"
            + " and o_orderstatus = 'O' and o_shippriority = 0 and s_nationkey = 3";
    // Two conditions seem to leave next to no orders, one leaves more suppliers.
    List<String> misled = joinOrder(planWithoutStatistics(sql));
    assertNotEquals("orders", misled.getLast(), "order without statistics " + misled);
    engine.run("analyze");
    List<String> order = joinOrder(plan(sql));
    assertEquals("orders", order.getLast(), "order with statistics " + order);
    assertEquals(
        engine.query(
            "select count(*), sum(l_quantity) from lineitem where l_suppkey in (select s_suppkey from supplier where s_nationkey = 3)"
                + " and l_orderkey in (select o_orderkey from orders where o_orderstatus = 'O' and o_shippriority = 0)"),
        engine.query(sql));
  }

  @Test
  void shouldExpectNumbersOfRowsNearTheTruth() {
    engine.run("analyze");
    for (String condition :
        List.of(
            "orders where o_orderstatus = 'O'",
            "orders where o_orderstatus = 'F'",
            "orders where o_orderstatus <> 'F'",
            "orders where o_orderstatus in ('F', 'x')",
            "orders where o_orderstatus in ('F', 'O')",
            "orders where o_orderkey < 1000",
            "orders where o_orderkey between 1000 and 1999",
            "orders where 4000 <= o_orderkey",
            "orders where o_orderkey = 17",
            "orders where o_orderkey > 100 and o_orderkey <= 350",
            "orders where o_orderdate >= date '1997-01-01'",
            "orders where o_orderdate >= date '1994-01-01' and o_orderdate < timestamp '1994-07-01'",
            "orders where extract(year from o_orderdate) = 1994",
            "orders where o_comment is null",
            "orders where o_comment is not null",
            "orders where o_comment = 'c5'",
            "orders where o_comment like 'c1%'",
            "orders where o_comment not like 'c1%'",
            "orders where upper(o_orderstatus) = 'F'",
            "orders where o_orderstatus = 'F' or o_shippriority = 1",
            "orders where not (o_shippriority = 1)",
            "lineitem where l_quantity < 10",
            "lineitem where l_quantity + 1 < 10",
            "lineitem join orders on l_orderkey = o_orderkey",
            "orders, supplier where (o_orderstatus = 'F' and s_nationkey = 3) or (o_shippriority = 1 and s_nationkey = 5)",
            "lineitem join orders on l_orderkey = o_orderkey where o_orderstatus = 'F'",
            "lineitem join partsupp on l_partkey = ps_partkey and l_suppkey = ps_suppkey",
            "lineitem join supplier on l_suppkey = s_suppkey where s_nationkey = 3",
            "lineitem left join supplier on l_suppkey = s_suppkey and s_nationkey = 3",
            "supplier where exists (select 1 from lineitem where l_suppkey = s_suppkey)",
            "lineitem where l_suppkey in (select s_suppkey from supplier where s_nationkey = 3)",
            "(select l_suppkey from lineitem group by l_suppkey) x",
            "(select distinct o_orderstatus, o_shippriority from orders) x",
            "(select o_orderkey from orders order by o_orderdate limit 20) x",
            "(select s_suppkey from supplier union all select o_orderkey from orders) x")) {
      double actual = Double.parseDouble(engine.query("select count(*) from " + condition).get(0));
      double expected = expectedRows("select * from " + condition);
      double ratio = Math.max(actual, 1) / expected;
      assertTrue(
          ratio > 1 / 2.5 && ratio < 2.5,
          condition + " has " + actual + " rows, expected were " + expected);
    }
  }

  private double expectedRows(String sql) {
    Prepared.Planned planned = (Prepared.Planned) planOf(sql).prepared();
    PhysicalPlan.Query query = (PhysicalPlan.Query) planned.plan();
    return Objects.requireNonNull(planned.estimates().rows(query.source()), sql);
  }

  @Test
  void shouldReadAnIndexForFewRowsOfARangeAndTheTableForMany() {
    engine.run("create table ranged (id int8 primary key, v int8)");
    engine.run("insert into ranged select i, i % 7 from generate_series(1, 20000) as i");
    engine.run("analyze ranged");
    for (String few :
        List.of("id > 19000", "id <= 500", "id between 100 and 900", "id between $1 and $2")) {
      assertEquals("Index Scan using ranged_pkey", scanOf(few), few);
    }
    for (String many :
        List.of(
            "id > 100", "id < 15000", "id between 10 and 19000", "id > $1", "v between 1 and 2")) {
      assertEquals("Table Scan", scanOf(many), many);
    }
  }

  private String scanOf(String condition) {
    Object[] parameters =
        condition.contains("$2")
            ? new Object[] {1L, 9L}
            : condition.contains("$1") ? new Object[] {1L} : new Object[0];
    String plan =
        String.join(
            "\n",
            engine.query(
                "explain (costs off) select sum(v) from ranged where " + condition, parameters));
    Matcher scan = Pattern.compile("(Table Scan|Index Scan using \\w+) on").matcher(plan);
    assertTrue(scan.find(), plan);
    return scan.group(1);
  }

  @Test
  void shouldPlanAgainWhenStatisticsHaveChanged() {
    engine.run("analyze");
    String sql = "select o_orderkey from orders where o_orderstatus = 'F'";
    String other = "select s_suppkey from supplier where s_nationkey = 3";
    StatementPlan first = planOf(sql);
    StatementPlan ofOther = planOf(other);
    engine.run("analyze orders");
    assertSame(first, planOf(sql), "nothing has changed");
    engine.run("update orders set o_orderstatus = 'F'");
    Await.until("the plan's basis is old", () -> !first.basis().isCurrent());
    assertNotSame(first, planOf(sql), "most rows have changed");
    assertSame(ofOther, planOf(other), "a plan of another table");
    assertEquals((double) LINES / 4, expectedRows(sql), LINES / 100.0);
  }
}
