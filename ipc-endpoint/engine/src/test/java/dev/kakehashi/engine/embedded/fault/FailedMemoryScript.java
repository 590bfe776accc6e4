package dev.kakehashi.engine.embedded.fault;

import java.util.ArrayList;
import java.util.List;

/// Statements, and what shows their effect.
///
/// @param steps one after another; each is a statement, or those of a transaction
/// @param queries of all that the steps change
record FailedMemoryScript(List<List<String>> steps, List<String> queries) {
  private static final String ROWS =
      "select i, 1 + i % 40, repeat(chr(97 + i % 26), i % 300), i * 1.5, array[i, -i] from generate_series(";

  private static final List<String> QUERIES =
      List.of(
          "select count(*), sum(id), sum(length(name)) from parent",
          "select count(*), sum(id), sum(parent), sum(length(v)), sum(n), sum(a[1]) from child",
          "select count(*), min(v), max(v) from child where v >= 'b' and v < 'q'",
          "select count(*) from child where id between 100 and 100500",
          "select count(*) from child c join parent p on p.id = c.parent where p.id > 3");

  private static List<String> one(String statement) {
    return List.of(statement);
  }

  private static List<String> insert(int from, int to) {
    return one("insert into child " + ROWS + from + ", " + to + ") i");
  }

  /// All scripts. Each takes away what it has made.
  static List<FailedMemoryScript> all() {
    return List.of(empty(), changes(), transactions(), definitions(), bulk());
  }

  private static List<List<String>> tables() {
    return List.of(
        one("create table parent (id int primary key, name text)"),
        one(
            "create table child (id int primary key, parent int references parent on delete cascade, v text, n numeric, a int[])"),
        one("create index child_v on child (v)"),
        one("create index child_parent on child (parent)"),
        one("insert into parent select i, 'parent ' || i from generate_series(1, 40) i"));
  }

  private static final List<List<String>> DROPS =
      List.of(one("drop table child"), one("drop table parent"));

  private static FailedMemoryScript script(List<List<String>> steps) {
    List<List<String>> all = new ArrayList<>(tables());
    all.addAll(steps);
    all.addAll(DROPS);
    return new FailedMemoryScript(List.copyOf(all), QUERIES);
  }

  /// Definitions of a table with hardly any rows: a few allocations, so that each of them can fail.
  private static FailedMemoryScript empty() {
    return new FailedMemoryScript(
        List.of(
            one("create table parent (id int primary key, name text unique, n numeric unique)"),
            one("insert into parent values (1, 'one', 1)"),
            one("create index named on parent (name) where name > 'a'"),
            one(
                "alter table parent add column a text default 'first', add column b numeric default 1.5, add column c text default 'third'"),
            one("update parent set a = 'other' where id = 1"),
            one("insert into parent values (2, 'two', 2) on conflict do nothing"),
            List.of(
                "begin",
                "create table child (id int primary key, parent int references parent, v text, n numeric, a int[])",
                "create index child_v on child (v) where n < 7",
                "insert into child values (1, 1, 'v', 2, '{1}')",
                "commit"),
            one("truncate child"),
            one("drop table child"),
            one("delete from parent"),
            one("drop table parent")),
        QUERIES);
  }

  private static FailedMemoryScript changes() {
    return script(
        List.of(
            insert(1, 1500),
            one("update child set v = v || 'x', n = n + 1 where id % 3 = 0"),
            one("update child set id = id + 100000 where id % 7 = 0"),
            one("delete from child where id % 5 = 0"),
            one("delete from parent where id % 10 = 0"),
            one(
                "insert into child values (3, 1, 'again', 1, '{1,2}'), (5000, 2, 'new', 2, '{}') on conflict (id) do update set v = excluded.v"),
            one(
                "merge into child c using (select i from generate_series(1, 3000, 10) i) s on s.i = c.id when matched and c.id % 20 = 1 then delete when matched then update set v = 'merged' when not matched then insert (id, parent, v) values (s.i, 1, 'inserted')"),
            one("update child set v = repeat('w', 30000 + id) where id < 12"),
            one("delete from child")));
  }

  private static FailedMemoryScript transactions() {
    return script(
        List.of(
            insert(1, 600),
            List.of(
                "begin",
                "update child set v = 'first' where id < 100",
                "savepoint s",
                "update child set v = 'second', id = id + 200000 where id < 200",
                "delete from child where id > 400",
                "rollback to s",
                "select id from child where id < 50 for update",
                "delete from child where id between 100 and 150",
                "commit"),
            List.of(
                "begin repeatable",
                "select count(*) from child",
                "update child set parent = 2 where parent = 1",
                "delete from child where v like 'c%'",
                "commit"),
            List.of("begin", "delete from child", "rollback"),
            one("truncate child")));
  }

  private static FailedMemoryScript definitions() {
    return script(
        List.of(
            insert(1, 800),
            one("create unique index child_n on child (n, id)"),
            one("alter table child add column extra text default 'none'"),
            one("update child set extra = 'some' where id % 2 = 0"),
            one("alter table child drop column extra"),
            List.of(
                "begin",
                "create table third (id int primary key, v text)",
                "insert into third select id, v from child",
                "drop index child_n",
                "delete from child where id in (select id from third where id % 2 = 0)",
                "drop table third",
                "commit"),
            one("update child set n = n + 1000000")));
  }

  private static FailedMemoryScript bulk() {
    return script(
        List.of(
            insert(1, 14000),
            one("delete from child where id > 12000"),
            one("update child set parent = 1 + parent % 40"),
            one("delete from child where id % 2 = 0"),
            insert(20000, 21000)));
  }
}
