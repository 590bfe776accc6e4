package dev.kakehashi.engine.embedded.query;

import dev.kakehashi.engine.embedded.TestEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Statements that run for long, one or several for each operator and each kind of step, and the tables that they run over.
final class CancelCases {
  private CancelCases() {}

  /// One statement.
  ///
  /// @param kind what is long about it
  /// @param spills whether it runs in an engine whose statements have 1 MB of memory
  /// @param undoes whether what it has done until its cancel is undone before the answer
  record Case(String kind, String sql, boolean spills, boolean undoes) {}

  /// Makes the tables: `big` with `rows` rows, `twin` with as many, `small` with 3000, `wide` with 8 rows of 1 MB texts.
  static void load(TestEngine engine, int rows) {
    engine.run(
        "create table big (id int8 primary key, k int4 not null, g int4 not null, n numeric not"
            + " null, s text not null)");
    engine.run("create table twin (id int8 primary key, k int4 not null, s text not null)");
    engine.run("create table small (id int4 primary key, v int4 not null, s text not null)");
    engine.run("create table empty (id int8, k int4, g int4, n numeric, s text)");
    engine.run("create table wide (id int4 primary key, t text, j jsonb, b bytea)");
    for (int from = 1; from <= rows; from += 50_000) {
      int to = Math.min(rows, from + 49_999);
      engine.run(
          "insert into big select i, i::int8 * 7919 %% %d, i %% 10, i::numeric / 7, 'row number ' || i"
                  .formatted(rows)
              + series(from, to));
      engine.run(
          "insert into twin select i, i::int8 * 104729 %% %d, 'twin of ' || i".formatted(rows)
              + series(from, to));
    }
    engine.run("create index on big (k)");
    engine.run("insert into small select i, i % 100, 'small ' || i" + series(1, 3000));
    engine.run(
        "insert into wide select i, repeat('lorem ipsum dolor ', 58000) || i,"
            + " ('[' || repeat('{\"a\": [1, 2.5, \"three\"]}, ', 8000) || i || ']')::jsonb,"
            + " decode(repeat('00ff17', 300000), 'hex')"
            + series(1, 8));
    engine.run("analyze");
  }

  private static String series(int from, int to) {
    return " from generate_series(%d, %d) i".formatted(from, to);
  }

  /// All of them.
  static List<Case> all() {
    List<Case> cases = new ArrayList<>();
    scans(cases);
    functions(cases);
    operators(cases);
    spilling(cases);
    changes(cases);
    definitions(cases);
    return cases;
  }

  private static void add(List<Case> cases, String kind, String sql) {
    cases.add(new Case(kind, sql, false, false));
  }

  private static void inFiles(List<Case> cases, String kind, String sql) {
    cases.add(new Case(kind, sql, true, false));
  }

  private static void undone(List<Case> cases, String kind, String sql) {
    cases.add(new Case(kind, sql, false, true));
  }

  private static void scans(List<Case> cases) {
    add(
        cases,
        "scan, filter",
        "select count(*) from big a, small b where a.s like '%x%' or b.v < 0");
    add(cases, "scan, regexp", "select count(*) from big where s ~ '(a|b|[0-9]+x)+y*z$'");
    add(cases, "scan to the reader", "select * from big where s like 'row%'");
    add(
        cases,
        "index scan, filter",
        "select count(*) from big a, generate_series(1, 1000) i"
            + " where a.k between 10 and 40000 and md5(a.s) = 'x'");
    add(cases, "series in FROM", "select count(*) from generate_series(1, 1000000000000)");
    add(
        cases,
        "series in FROM, filter",
        "select i from generate_series(1, 1000000000000) i where i < 0");
    add(
        cases,
        "series in the select list",
        "select count(*) from (select generate_series(1, 1000000000000)) q");
    add(
        cases,
        "series of numeric",
        "select count(*) from generate_series(1::numeric, 1e12, 0.5) i");
    add(
        cases,
        "series of timestamps",
        "select count(*) from generate_series('4000-01-01 BC'::timestamp, '9999-01-01', '1 minute')");
    add(cases, "limit with a large offset", "select a.id from big a, small b offset 1000000000000");
    add(cases, "tablesample", "select count(*) from big tablesample bernoulli (90), small");
  }

  private static void functions(List<Case> cases) {
    String some = " from big where id <= 3000";
    add(cases, "numeric power", "select sum(n ^ 300.5)" + some);
    add(cases, "numeric power of one value", "select (1.0000001::numeric ^ 99999999)" + some);
    add(cases, "factorial", "select sum(length(factorial(3000 + k % 100)::text))" + some);
    add(cases, "factorial of each row", "select length(factorial(31000 + k % 1000)::text)" + some);
    add(cases, "numeric exp, ln", "select sum(ln(exp((n % 50)::numeric(40,30))))" + some);
    add(cases, "numeric sqrt", "select sum(sqrt(n::numeric(1000,900)))" + some);
    add(
        cases,
        "numeric of many digits",
        "select length((factorial(20000 + id) * factorial(20000 + id))::text) from small");
    add(
        cases,
        "division of many digits",
        "select length(div(factorial(20000 + id), factorial(10000))::text) from small");
    add(
        cases,
        "text to numeric",
        "select sum(length((repeat('7', 100000) || id)::numeric::text)) from small");
    add(cases, "repeat", "select sum(length(repeat(s, 100000))) from small");
    add(cases, "repeat of one value", "select length(repeat('x', 1000000000 + id)) from small");
    add(cases, "lpad", "select sum(length(lpad(s, 1000000, 'ab'))) from small");
    add(
        cases,
        "replace",
        "select sum(length(replace(t, 'ipsum', 'ipsum lorem'))) from wide, small");
    add(cases, "md5", "select count(md5(t || s)) from wide, small");
    add(cases, "sha512", "select count(sha512(b)) from wide, small");
    add(cases, "upper", "select count(upper(t)) from wide, small");
    add(cases, "reverse", "select count(reverse(t)) from wide, small");
    add(cases, "position", "select count(strpos(t, 'dolor sit' || v)) from wide, small");
    add(cases, "like", "select count(*) from wide, small where t like '%dolor sit%' || v");
    add(cases, "translate", "select count(translate(t, 'abcdefg', 'gfedcba')) from wide, small");
    add(
        cases,
        "regexp_replace",
        "select count(regexp_replace(t, '[aeiou]', s, 'g')) from wide, small");
    add(cases, "regexp of MBs", "select count(*) from wide, small where t ~ ('(do|re|mi)+x' || v)");
    add(cases, "regexp_matches", "select count(*) from wide, regexp_matches(t, '[a-z]+', 'g')");
    add(
        cases,
        "regexp_split_to_table",
        "select count(*) from wide, regexp_split_to_table(t, '[ o]+')");
    add(cases, "string_to_table", "select count(*) from wide, small, string_to_table(t, ' ')");
    add(cases, "string_to_array", "select count(string_to_array(t, ' ')) from wide, small");
    add(
        cases,
        "array functions",
        "select count(array_position(string_to_array(t, ' '), s)) from wide, small");
    add(
        cases,
        "unnest",
        "select count(*) from wide, small, unnest(string_to_array(t, ' ')) u where u = s");
    add(
        cases,
        "encode, decode",
        "select count(decode(encode(b, 'base64'), 'base64')) from wide, small");
    add(cases, "comparisons of MBs", "select count(*) from wide a, wide b, small where a.t < b.t");
    add(
        cases,
        "sort of MBs",
        "select max(length(t)) from (select t, s from wide, small order by s, t offset 1) x");
    add(
        cases,
        "join of MBs",
        "select count(*) from (select t, v from wide, small) x join small y on x.v = y.v and x.t <> y.s");
    add(cases, "groups of MBs", "select count(*) from wide, small group by t");
    add(cases, "distinct of MBs", "select count(distinct t) from wide, small");
    add(cases, "least of MBs", "select min(t), max(t) from wide, small");
    add(
        cases,
        "hash join of MBs",
        "select count(*) from (select t, v from wide, small) x join wide y on x.t = y.t");
    add(
        cases,
        "window of MBs",
        "select sum(n) from (select row_number() over (partition by t order by v) n from wide, small) x");
    add(cases, "except of MBs", "select t from wide, small except select t from wide");
    add(cases, "groups of documents of MBs", "select count(*) from wide, small group by j");
    add(cases, "sort of documents of MBs", "select v from wide, small order by j, v offset 1");
    add(
        cases,
        "groups of arrays of MBs",
        "select count(*) from (select string_to_array(t, ' ') a, v from wide, small) x group by a");
    add(
        cases,
        "IN of MBs",
        "select count(*) from wide a, wide b, small where a.t || v in (b.t, b.t || 'x', b.t || v)");
    add(cases, "concatenation of MBs", "select count(t || t || s) from wide, small");
    add(cases, "format", "select count(format('%s %I %L', t, t, t)) from wide, small");
    add(cases, "text to jsonb", "select count((j::text || ' ')::jsonb) from wide, small");
    add(cases, "path into jsonb", "select count(j #>> '{7999,a,2}') from wide, small");
    add(cases, "jsonb containment", "select count(*) from wide, small where j @> '[{\"a\": [7]}]'");
    add(
        cases,
        "jsonb_array_elements",
        "select count(*) from wide, small, jsonb_array_elements(j) e");
    add(cases, "jsonb_pretty", "select count(jsonb_pretty(j)) from wide, small");
    add(cases, "jsonb_set", "select count(jsonb_set(j, '{7999,a,2}', '7')) from wide, small");
    add(cases, "to_jsonb", "select count(to_jsonb(t)) from wide, small");
    add(
        cases,
        "similar to",
        "select count(*) from wide, small where t similar to '%(do|re)+x' || v || '%'");
  }

  private static void operators(List<Case> cases) {
    add(cases, "sort", "select id from big order by s desc, n");
    add(cases, "sort by numeric", "select id from big order by n % 1000, s");
    add(cases, "top n", "select a.id from big a, small b order by a.s || b.s limit 10");
    add(
        cases,
        "aggregate, few groups",
        "select a.g, sum(a.n), count(b.v) from big a, small b group by a.g");
    add(cases, "aggregate, many groups", "select s, sum(n), max(k) from big group by s");
    add(cases, "grouping sets", "select s, g, k, count(*) from big group by cube (s, g, k)");
    add(cases, "distinct", "select distinct s, n from big");
    add(cases, "distinct aggregate", "select count(distinct s), count(distinct n) from big");
    add(cases, "string_agg, ordered", "select length(string_agg(s, ',' order by n desc)) from big");
    add(cases, "array_agg", "select array_length(array_agg(s), 1) from big");
    add(cases, "array_agg, ordered", "select array_length(array_agg(n order by s), 1) from big");
    add(cases, "percentile", "select percentile_disc(0.5) within group (order by s) from big");
    add(cases, "percentile_cont", "select percentile_cont(0.5) within group (order by n) from big");
    add(cases, "mode", "select mode() within group (order by s) from big");
    add(cases, "jsonb_agg", "select length(jsonb_agg(s)::text) from big");
    add(cases, "hash join", "select count(*) from big a join twin b on a.k = b.k where a.s < b.s");
    add(cases, "hash join, outer", "select count(*) from big a full join twin b on a.s = b.s");
    add(
        cases,
        "exploding join",
        "select count(*) from big a join twin b on a.g = b.k % 10 where a.s = b.s");
    add(cases, "cross join", "select count(*) from big a, twin b");
    add(cases, "nested loop", "select count(*) from big a join twin b on a.n < b.k and a.s > b.s");
    add(
        cases,
        "semi-join",
        "select count(*) from big a where exists (select 1 from twin b where b.k < a.k - 2000000000)");
    add(
        cases,
        "index join",
        "select count(*) from small c cross join lateral (select * from big b where b.k >= c.v"
            + " order by b.k limit 2000) q");
    add(
        cases,
        "correlated subquery",
        "select sum((select count(*) from twin b where b.k < a.k % 1000)) from big a");
    add(
        cases,
        "correlated subquery in WHERE",
        "select count(*) from big a where n > (select avg(b.n) from big b where b.g = a.k % 10 and b.k > a.g)");
    add(
        cases,
        "window, one partition",
        "select id, rank() over (order by s), sum(n) over (order by s) from big");
    add(
        cases,
        "window, sliding frame",
        "select sum(n) over (order by id rows between 5000 preceding and 5000 following) from big");
    add(
        cases,
        "window, min of a sliding frame",
        "select max(s) over (order by id rows between 5000 preceding and 1 following) from big");
    add(
        cases,
        "window, range frame",
        "select count(*) over (order by k range between 9000 preceding and 9000 following) from big");
    add(
        cases,
        "window, exclude",
        "select sum(k) over (order by id rows between unbounded preceding and unbounded following exclude current row) from big");
    add(
        cases,
        "window, groups frame",
        "select sum(k) over (order by g groups between 1 preceding and current row exclude ties) from big");
    add(
        cases,
        "window, nth_value",
        "select nth_value(s, 40000) over (order by n rows between unbounded preceding and unbounded following) from big");
    add(cases, "lag of distant rows", "select lag(s, 40000) over (order by n desc) from big");
    add(cases, "union", "select k, s from big union select k, s from twin");
    add(cases, "intersect", "select s from big intersect select 'row number ' || id from twin");
    add(cases, "except all", "select s from big except all select 'row number ' || k from twin");
    add(
        cases,
        "endless recursion",
        "with recursive r(n) as (select 1::int8 union all select n + 1 from r) select count(*) from r");
    add(
        cases,
        "endless recursion, distinct",
        "with recursive r(n) as (select 1::int8 union select n + 1 from r) select max(n) from r");
    add(
        cases,
        "recursion over a table",
        "with recursive r(n) as (select 1::int8 union all select a.id from r join big a on a.k > r.n % 10)"
            + " select count(*) from r");
    add(
        cases,
        "common table",
        "with c as materialized (select id, s, n from big order by s) select count(*) from c a, c b");
    add(
        cases,
        "values in IN",
        "select count(*) from big a where s in (select s from twin union all select s from big)");
  }

  private static void spilling(List<Case> cases) {
    inFiles(cases, "sort in files", "select id from big order by s desc, n");
    inFiles(cases, "aggregate in files", "select s, sum(n), max(k) from big group by s");
    inFiles(cases, "distinct in files", "select count(distinct s) from big");
    inFiles(
        cases,
        "hash join in files",
        "select count(*) from big a join twin b on a.k = b.k where a.s < b.s");
    inFiles(
        cases,
        "exploding join in files",
        "select count(*) from big a join twin b on a.g = b.k % 10 where a.s = b.s");
    inFiles(
        cases,
        "cross join in pieces",
        "select count(*) from big a, twin b where a.s = b.s || 'x' or b.k < -a.k");
    inFiles(
        cases,
        "window in files",
        "select rank() over (order by s), sum(n) over (order by s) from big");
    inFiles(
        cases,
        "sliding frame in files",
        "select max(s) over (order by id rows between 5000 preceding and 1 following) from big");
    inFiles(cases, "union in files", "select k, s from big union select k, s from twin");
    inFiles(
        cases,
        "string_agg in files",
        "select g, length(string_agg(left(s, 1), '' order by n desc)) from big group by g");
    inFiles(
        cases,
        "array_agg in files",
        "select k, array_length(array_agg(s), 1), string_agg(s, ',') from big group by k");
    inFiles(
        cases,
        "percentile in files",
        "select percentile_disc(0.5) within group (order by s desc), mode() within group (order by n) from big");
    inFiles(
        cases,
        "recursive union in files",
        "with recursive r(n, s) as (select id, s from big union select n + 3, s from r where n % 4 > 0) select count(*) from r");
  }

  private static void changes(List<Case> cases) {
    undone(cases, "insert of a query", "insert into empty select * from big");
    undone(
        cases, "insert of a query, keys", "insert into twin select id + 100000000, k, s from big");
    undone(cases, "update of all rows", "update big set n = n + 1");
    undone(cases, "update of all keys", "update big set k = k + 1, id = id + 100000000");
    undone(cases, "delete of all rows", "delete from twin");
    undone(cases, "delete of referenced rows", "delete from parent");
    undone(cases, "insert of references", "insert into child select id, k from twin");
    undone(cases, "update, joined", "update big a set s = b.s from twin b where a.k = b.k");
    undone(
        cases,
        "on conflict do nothing",
        "insert into twin select * from twin on conflict do nothing");
    undone(
        cases,
        "on conflict do update",
        "insert into twin select id, k, s from twin on conflict (id) do update set s = excluded.s || 'x'");
    undone(
        cases,
        "merge",
        "merge into twin t using big b on t.id = b.id when matched and b.g < 5 then update set s = b.s"
            + " when matched then delete when not matched then insert values (b.id, b.k, b.s)");
    undone(cases, "returning", "update twin set s = s || 'x' returning id, s");
    undone(cases, "lock of all rows", "select * from big for update");
    undone(
        cases,
        "changes in WITH",
        "with d as (delete from twin returning id, k, s) insert into empty select id, k, k, 1, s from d");
    undone(cases, "deferrable keys", "update later set id = id + 1");
  }

  private static void definitions(List<Case> cases) {
    undone(cases, "create table as", "create table copy as select * from big");
    add(cases, "create index", "create index on big (s, n)");
    add(cases, "create unique index", "create unique index on big (s)");
    add(cases, "add check", "alter table big add check (s ~ '^(row|number)+ [a-z]* [0-9]+$')");
    add(cases, "set not null", "alter table big alter s drop not null, alter s set not null");
    add(cases, "add foreign key", "alter table twin add foreign key (id) references big (id)");
    undone(cases, "alter type", "alter table big alter k type text");
    undone(cases, "alter type, using", "alter table big alter n type text using md5(n::text)");
    undone(cases, "add column, copied", "alter table big add z bigserial");
    add(
        cases,
        "add generated column",
        "alter table big add z text generated always as (upper(s)) stored");
    add(cases, "analyze", "analyze");
    add(cases, "truncate", "truncate big");
  }

  /// Tables of [#changes] with constraints.
  static void loadConstrained(TestEngine engine, int rows) {
    engine.run("create table parent (id int8 primary key)");
    engine.run("create table child (id int8 primary key, p int8 not null references parent)");
    engine.run("insert into parent select i - 1 from generate_series(1, %d) i".formatted(rows));
    engine.run("create table later (id int8 primary key deferrable initially immediate, s text)");
    engine.run("insert into later select id, s from big");
  }

  /// For displays.
  static String row(String kind, Object... values) {
    StringBuilder text = new StringBuilder("| ").append(kind).append(" |");
    for (Object value : values) {
      text.append(' ')
          .append(
              value instanceof Double number
                  ? String.format(Locale.ROOT, "%.1f", number)
                  : value.toString())
          .append(" |");
    }
    return text.toString();
  }
}
