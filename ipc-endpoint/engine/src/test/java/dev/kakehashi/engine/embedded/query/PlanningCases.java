package dev.kakehashi.engine.embedded.query;

import dev.kakehashi.engine.embedded.TestEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Statements that are long to plan, one for each thing that may be large about a statement.
final class PlanningCases {
  private PlanningCases() {}

  /// @param kind what is large
  record Case(String kind, String sql) {}

  static void load(TestEngine engine) {
    engine.run("create table t (id int4 primary key, k int4, s text, n numeric)");
    engine.run(
        "insert into t select i, i % 100, 'row ' || i, i / 7.0 from generate_series(1, 2000) i");
    engine.run("create index on t (k)");
    engine.run("create view v as select id, k, s from t where k > 3");
    engine.run("analyze");
  }

  /// Each query of WITH names the one before it twice: planned as a tree it has 2^depth leaves.
  static String doubling(int depth) {
    return "with q0 as not materialized (select 1 as x)"
        + list(
            1,
            depth,
            "",
            i ->
                ", q%d as not materialized (select a.x from q%d a, q%d b)"
                    .formatted(i, i - 1, i - 1))
        + " select count(*) from q"
        + depth;
  }

  /// @param size 1 for the build; the sizes of all of them grow with it
  static List<Case> all(int size) {
    List<Case> cases = new ArrayList<>();
    cases.add(new Case("queries of WITH, doubling", doubling(size > 1 ? 8 : 6)));
    cases.add(
        new Case(
            "10 tables, all joined with all",
            "select count(*) from "
                + list(0, 9, ", ", i -> "t t" + i)
                + " where "
                + list(
                    1,
                    9,
                    " and ",
                    i -> list(0, i - 1, " and ", j -> "t%d.k = t%d.k".formatted(i, j)))));
    cases.add(new Case("12 tables with outer joins", chain(12, "left join")));
    cases.add(new Case("chain of " + 20 * size + " tables", chain(20 * size, "join")));
    cases.add(
        new Case(
            "list of IN",
            "select * from t where k in (" + list(1, 2000 * size, ", ", i -> "" + i) + ")"));
    cases.add(
        new Case(
            "terms of OR",
            "select * from t where "
                + list(1, 300 * size, " or ", i -> "k = %d and s > 'row %d'".formatted(i, i))));
    cases.add(
        new Case(
            "terms of AND",
            "select * from t where "
                + list(1, 300 * size, " and ", i -> "(k <> %d or s > 'row %d')".formatted(i, i))));
    cases.add(
        new Case(
            "branches of CASE",
            "select case "
                + list(1, 500 * size, " ", i -> "when k = %d then s || '%d'".formatted(i, i))
                + " end from t"));
    // Each term is a level of calls, whose frames take most while they are interpreted.
    cases.add(
        new Case("sum of many", "select " + list(1, 300, " + ", i -> "k * " + i) + " from t"));
    cases.add(
        new Case("parentheses", "select " + "(".repeat(40) + "k" + ")".repeat(40) + " + 1 from t"));
    cases.add(
        new Case(
            "columns",
            "select "
                + list(1, 500 * size, ", ", i -> "k + %d as c%d".formatted(i, i))
                + " from t"));
    cases.add(
        new Case(
            "rows of VALUES",
            "insert into t values "
                + list(
                    1, 1000 * size, ", ", i -> "(%d, %d, 'row %d', %d.5)".formatted(-i, i, i, i))));
    cases.add(
        new Case(
            "parts of UNION ALL",
            list(1, 60 * size, " union all ", i -> "select id from t where k = " + i)));
    cases.add(
        new Case(
            "subqueries",
            "select "
                + list(1, 25 * size, ", ", i -> "(select max(k) from t where k < %d)".formatted(i))
                + " from t"));
    cases.add(
        new Case(
            "correlated subqueries",
            "select * from t o where "
                + list(
                    1,
                    5 + size,
                    " and ",
                    i -> "k > (select avg(i.k) from t i where i.id = o.id + %d)".formatted(i))));
    cases.add(
        new Case(
            "subqueries in subqueries",
            "select count(*) from t where k in ("
                + list(1, 12, "", i -> "select k from v where id > %d and k in (".formatted(i))
                + "select k from t"
                + ")".repeat(13)));
    cases.add(
        new Case(
            "window functions",
            "select "
                + list(
                    1,
                    40 * size,
                    ", ",
                    i -> "sum(k) over (partition by k %% %d order by id)".formatted(i + 1))
                + " from t"));
    cases.add(
        new Case(
            "a constant that is long to compute",
            "select length(repeat('lorem ipsum ', 200000)), md5(repeat('x', %d))"
                .formatted(2_000_000 * size)));
    cases.add(new Case("text of the statement", "select '" + "x".repeat(2_000_000 * size) + "'"));
    return cases;
  }

  private static String chain(int tables, String join) {
    return "select count(*) from t t0"
        + list(1, tables - 1, "", i -> " %s t t%d on t%d.k = t%d.id".formatted(join, i, i, i - 1));
  }

  private static String list(int from, int to, String between, IntFunction<String> item) {
    return IntStream.rangeClosed(from, to).mapToObj(item).collect(Collectors.joining(between));
  }
}
