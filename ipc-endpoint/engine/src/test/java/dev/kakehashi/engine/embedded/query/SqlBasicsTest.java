package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// SQL over tables: what one statement does.
final class SqlBasicsTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run(
        "create table t (id int primary key, name text not null, price numeric(15,2), d date, n int8 default 42)");
    engine.run(
        "insert into t values (1,'one',1.50,'2020-01-01',7),(2,'two',2.25,'2020-02-01',default),"
            + "(3,'three',null,null,null)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldReadAllColumnsWithDefaultsAndNulls() {
    assertEquals(
        List.of("1|one|1.50|2020-01-01|7", "2|two|2.25|2020-02-01|42", "3|three|NULL|NULL|NULL"),
        engine.query("select * from t order by id"));
  }

  @Test
  void shouldFindRowByPrimaryKeyParameterUsedTwice() {
    assertEquals(
        List.of("2|4"), engine.query("select id, $1 * 2 from t where id = $1 and id <= $1", 2));
  }

  @Test
  void shouldAnswerQueryForEachRowOfParametersInTheirOrder() {
    // More answers than a few result buffers hold, which the reader gives back as it goes.
    Statement statement =
        engine.prepare("select $1, id, repeat(name, 100) from t where id <= $2", 23, 23);
    Object[][] rows = new Object[3000][];
    List<String> expected = new ArrayList<>();
    List<String> names = List.of("one", "two", "three");
    for (int i = 0; i < rows.length; i++) {
      int upTo = i % 5 - 1;
      rows[i] = new Object[] {i, upTo < 0 ? null : upTo};
      for (int id = 1; id <= Math.min(upTo, 3); id++) {
        expected.add(i + "|" + id + "|" + names.get(id - 1).repeat(100));
      }
    }
    EngineTransaction transaction = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    TestEngine.Result result = engine.execute(transaction, statement, rows);
    assertEquals(expected.size(), result.count());
    assertEquals(expected, result.rows());
    // A failure in the middle gives back what was held.
    Statement failing = engine.prepare("select id / $1 from t", 23);
    assertThrows(
        EngineException.class,
        () -> engine.execute(transaction, failing, new Object[][] {{1}, {2}, {0}, {3}}));
    engine.rollback(transaction);
  }

  @Test
  void shouldGiveTheFirstRowsOfMany() {
    engine.run("create table many (id int4 primary key, a int4, s text)");
    Statement insert = engine.prepare("insert into many values ($1, $2, $3)", 23, 23, 25);
    Object[][] rows = new Object[40_000][];
    for (int i = 0; i < rows.length; i++) {
      Integer a = i % 97 == 0 ? null : i * 7919 % 50_021;
      rows[i] = new Object[] {i, a, a == null ? null : "s" + a % 1000};
    }
    EngineTransaction transaction = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    engine.execute(transaction, insert, rows);
    engine.commit(transaction);
    // The same order of everything, cut off by the reader.
    for (String key : List.of("a", "s")) {
      for (String order : List.of("", " desc")) {
        for (String nulls : List.of(" nulls first", " nulls last")) {
          String by = " order by " + key + order + nulls + ", id";
          List<String> all = engine.query("select id, a, s from many" + by);
          assertEquals(rows.length, all.size());
          assertEquals(
              all.subList(0, 10), engine.query("select id, a, s from many" + by + " limit 10"), by);
          assertEquals(
              all.subList(500, 507),
              engine.query("select id, a, s from many" + by + " limit 7 offset 500"),
              by);
        }
      }
    }
  }

  @Test
  void shouldGiveAggregatesPostgresTypes() {
    TestEngine.Result result =
        engine.run("select count(*), sum(id), avg(id), sum(price), min(name), sum(n) from t");
    assertEquals(List.of("3|6|2.0000000000000000|3.75|one|49"), result.rows());
    assertEquals(
        List.of(20, 20, 1700, 1700, 25, 1700),
        result.columns().stream().map(c -> c.typeOid()).toList());
  }

  @Test
  void shouldJoinAndSortNullsLast() {
    assertEquals(
        List.of("1|2", "2|3", "3|NULL"),
        engine.query("select a.id, b.id from t a left join t b on b.id = a.id + 1 order by 2"));
  }

  @Test
  void shouldDecorrelateSubqueries() {
    assertEquals(
        List.of("1|NULL", "2|1", "3|2"),
        engine.query("select id, (select max(id) from t x where x.id < t.id) from t order by id"));
    assertEquals(
        List.of("1", "2"),
        engine.query(
            "select id from t where exists (select 1 from t x where x.id = t.id + 1) order by 1"));
    // A nullable column against the key: predicates inferred from the join must not go round in
    // circles.
    assertEquals(
        List.of(),
        engine.query("select id from t where exists (select 1 from t x where x.n = t.id)"));
    assertEquals(
        List.of("3"),
        engine.query("select id from t where id not in (select id from t where id < 3)"));
  }

  @Test
  void shouldReturnNewRowsOfChanges() {
    assertEquals(
        List.of("4|four|NULL|NULL|42|8"),
        engine.query("insert into t (id,name) values (4,'four') returning *, id*2 as twice"));
    assertEquals(
        List.of("1|3.00"),
        engine.query("update t set price = price * 2 where id = 1 returning id, price"));
    assertEquals(List.of("4"), engine.query("delete from t where id = 4 returning id"));
    assertEquals(List.of("3"), engine.query("select count(*) from t"));
  }

  @Test
  void shouldReportErrorsWithSqlStateAndPosition() {
    assertFailure("42P01", 15, "relation \"nope\" does not exist", "select * from nope");
    assertFailure("42703", 8, "column \"foo\" does not exist", "select foo from t");
    assertFailure("42601", 1, "syntax error at or near \"selec\"", "selec 1");
    assertFailure("42601", 9, "syntax error at end of input", "select (");
    assertFailure(
        "22P02", 13, "invalid input syntax for type integer: \"x\"", "select id + 'x' from t");
    assertFailure("22012", 0, "division by zero", "select 1 / (id - id) from t");
    assertFailure(
        "42803",
        0,
        "column \"t.id\" must appear in the GROUP BY clause or be used in an aggregate function",
        "select id, count(*) from t group by name");
    assertFailure(
        "42803",
        24,
        "aggregate functions are not allowed in WHERE",
        "select id from t where count(*) > 1");
  }

  @Test
  void shouldFillUpColumnsThatAreNotListed() {
    engine.run("create table d (a int, b int default 7, c int generated always as (a * 2) stored)");
    engine.run("insert into d values (1)");
    engine.run("insert into d select 2");
    engine.run("insert into d select 3, 4");
    engine.run("insert into d values (default)");
    engine.run("insert into d (a, b) values (5, default)");
    assertEquals(
        List.of("1|7|2", "2|7|4", "3|4|6", "5|7|10", "NULL|7|NULL"),
        engine.query("select * from d order by a"));
    engine.run("create table e (a int, b int)");
    for (String sql :
        List.of(
            "insert into e (a, b) values (1)",
            "insert into e (a, b) values (default)",
            "insert into e (a, b) select 1",
            "insert into e (b) values (1, 2)",
            "insert into e select 1, 2, 3")) {
      EngineException refused = assertThrows(EngineException.class, () -> engine.run(sql), sql);
      assertEquals("42601", refused.code().sqlstate(), sql);
    }
  }

  @Test
  void shouldBindCastsCloserThanOperators() {
    assertEquals(
        List.of("1x|2.00|t|-5|2|6"),
        engine.query(
            "select id::text || 'x', (id + 1)::numeric(5,2), name <> 'a'::text, -5::int, id + '1'::int, 2 * (3)::int8"
                + " from t where id = 1"));
  }

  @Test
  void shouldLeaveOutRowsThatExistOnConflictDoNothing() {
    assertEquals(
        List.of("8"),
        engine.query(
            "insert into t (id, name) values (1,'again'),(8,'eight'),(8,'twice') on conflict do nothing returning id"));
    assertEquals(
        0,
        engine.run("insert into t (id, name) values (8,'x') on conflict (id) do nothing").count());
    assertFailure(
        "42P10",
        0,
        "there is no unique or exclusion constraint matching the ON CONFLICT specification",
        "insert into t (id, name) values (8,'x') on conflict (name) do nothing");
    assertEquals(
        List.of("1|one", "8|eight"),
        engine.query("select id, name from t where id in (1, 8) order by 1"));
  }

  @Test
  void shouldFindRangesOfDescendingIndexColumns() {
    engine.run("create index t_n on t (name, id desc)");
    engine.run("insert into t (id, name) values (4, 'one'), (5, 'one'), (6, 'one')");
    assertEquals(
        List.of("5", "6"),
        engine.query("select id from t where name = 'one' and id > 4 order by 1"));
    assertEquals(
        List.of("4"),
        engine.query("select id from t where name = 'one' and id < 5 and id >= 2 order by 1"));
  }

  @Test
  void shouldRefuseScalarSubqueryWithSeveralRows() {
    assertFailure(
        "21000",
        0,
        "more than one row returned by a subquery used as an expression",
        "select (select id from t)");
    assertEquals(List.of("NULL"), engine.query("select (select name from t where id > 3)"));
    assertEquals(
        List.of("two"),
        engine.query("select name from t where price = (select price from t where name = 'two')"));
  }

  @Test
  void shouldSelectWithoutTable() {
    assertEquals(List.of(), engine.query("select 1 where 1 = 2"));
    assertEquals(List.of("1"), engine.query("select 1 where 2 = 2"));
  }

  @Test
  void shouldReadOnlyTheColumnsThatAreUsed() {
    assertEquals(
        true,
        String.join("\n", engine.query("explain select n from t where price > 1"))
            .contains("Columns: price, n"));
  }

  @Test
  void shouldRefuseDuplicateKeysAndNulls() {
    EngineException duplicate =
        assertThrows(EngineException.class, () -> engine.run("insert into t values (1,'dup')"));
    assertEquals("23505", duplicate.code().sqlstate());
    assertEquals(
        "duplicate key value violates unique constraint \"t_pkey\"", duplicate.getMessage());
    assertEquals("Key (id)=(1) already exists.", duplicate.detail());
    EngineException missing =
        assertThrows(EngineException.class, () -> engine.run("insert into t values (9,null)"));
    assertEquals("23502", missing.code().sqlstate());
    assertEquals("name", missing.columnName());
  }

  @Test
  void shouldUseIndexForPrimaryKeyAndForOrderWithLimit() {
    assertEquals(
        true,
        String.join("\n", engine.query("explain select name from t where id = 1"))
            .contains("Index Scan using t_pkey on public.t"));
    assertEquals(List.of("3", "2"), engine.query("select id from t order by id desc limit 2"));
    assertEquals(
        true,
        String.join("\n", engine.query("explain select id from t order by id desc limit 2"))
            .contains("Index Scan Backward"));
  }

  @Test
  void shouldKeepCatalogueAcrossReopening() {
    engine.run("create unique index t_name on t (name)");
    engine.close();
    engine = new TestEngine(directory);
    assertEquals(List.of("3"), engine.query("select count(*) from t"));
    assertEquals(
        List.of("t_name|t|f", "t_pkey|t|t"),
        engine.query(
            "select index_name, is_unique, is_primary from kakehashi_catalog.indexes where table_name = 't' order by 1"));
    assertFailure(
        "23505",
        0,
        "duplicate key value violates unique constraint \"t_name\"",
        "insert into t values (5,'one')");
  }

  @Test
  void shouldPlanPreparedStatementAgainWhenCatalogueChanges() {
    var statement = engine.prepare("select count(*) from t");
    engine.run("truncate t");
    var transaction = engine.begin(dev.kakehashi.engine.api.BeginOptions.Isolation.READ_COMMITTED);
    assertEquals(List.of("0"), engine.execute(transaction, statement, new Object[][] {{}}).rows());
    engine.commit(transaction);
  }

  private void assertFailure(String sqlstate, int position, String message, String sql) {
    EngineException failure = assertThrows(EngineException.class, () -> engine.run(sql));
    assertEquals(sqlstate + " " + message, failure.code().sqlstate() + " " + failure.getMessage());
    if (position > 0) {
      assertEquals(position, failure.position(), sql);
    }
  }

  @Test
  void shouldRefuseMoreColumnsThanAMessageDescribes() {
    assertEquals(
        1664, engine.query("select " + "1, ".repeat(1663) + "1").get(0).split("\\|").length);
    EngineException refused =
        assertThrows(
            EngineException.class, () -> engine.query("select " + "1, ".repeat(1664) + "1"));
    assertEquals("54000", refused.code().sqlstate());
  }
}
