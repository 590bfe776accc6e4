package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.EngineTransaction;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Definitions beyond what `definitions.sql`, `table-copies.sql` and `generated-columns.sql` compare with PostgreSQL: restarts, kinds of
/// transactions, what is refused.
final class DefinitionTest {
  private static final int ROWS = 20_000;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void reopen() {
    engine.close();
    engine = new TestEngine(directory);
  }

  @Test
  void shouldKeepWhatAQueryFilledATableWith() {
    engine.run(
        "create table copy as select g as id, 'row ' || g as word from generate_series(1, "
            + ROWS
            + ") g");
    engine.run("create table empty as select * from copy with no data");
    reopen();
    assertEquals(
        List.of(ROWS + "|" + (long) ROWS * (ROWS + 1) / 2 + "|row 9999"),
        engine.query("select count(*), sum(id), max(word) from copy"));
    assertEquals(List.of("0"), engine.query("select count(*) from empty"));
  }

  @Test
  void shouldMakeAndFillATableInItsTransactionOnly() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run("create table t (id int)");
    engine.run("insert into t values (1)");
    assertEquals(1, engine.run(transaction, "create table copy as select * from t").count());
    engine.run(transaction, "insert into copy values (2)");
    assertEquals(
        List.of("1", "2"), engine.run(transaction, "select * from copy order by id").rows());
    engine.rollback(transaction);
    assertState("42P01", () -> engine.run("select * from copy"));
    assertEquals(1, engine.run("create table copy as select * from t").count());
  }

  @Test
  void shouldFillATableOnlyWhereRowsMayBeReadAndWritten() {
    engine.run("create table t (id int)");
    EngineTransaction readOnly = begin(Kind.RTX);
    assertState("25006", () -> engine.run(readOnly, "create table copy as select * from t"));
    engine.rollback(readOnly);
    EngineTransaction declared = begin(Kind.LTX);
    assertState("0A000", () -> engine.run(declared, "create table copy as select * from t"));
    engine.rollback(declared);
  }

  private EngineTransaction begin(Kind kind) {
    return engine.engine.begin(
        new BeginOptions(
            kind, Isolation.SERIALIZABLE, "", 0, 0, new BeginOptions.Areas("", "", "")));
  }

  @Test
  void shouldComputeGeneratedColumnsAfterARestart() {
    engine.run(
        "create table g (id int primary key, a int, twice int generated always as (a * 2) stored, word text generated always as ('w' || id) stored)");
    engine.run("insert into g (id, a) select g, g * 10 from generate_series(1, " + ROWS + ") g");
    reopen();
    engine.run("insert into g (id, a) values (0, 7)");
    engine.run("update g set a = a + 1 where id = 2");
    assertEquals(
        List.of("0|14|w0", "1|20|w1", "2|42|w2"),
        engine.query("select id, twice, word from g where id < 3 order by id"));
    assertEquals(
        List.of("0"),
        engine.query(
            "select count(*) from g where twice is distinct from a * 2 or word is distinct from 'w' || id"));
    assertState("428C9", () -> engine.run("update g set twice = 1"));
  }

  /// Values of a batch of rows that is put one by one, of which some exist.
  @Test
  void shouldComputeGeneratedColumnsOfRowsBesideThoseThatExist() {
    engine.run(
        "create table g (id int primary key, a int, word text generated always as ('value ' || a) stored)");
    engine.run("insert into g (id, a) select g * 3, -1 from generate_series(0, 500) g");
    engine.run(
        "insert into g (id, a) select g, g from generate_series(0, 1500) g on conflict (id) do update set a = excluded.a + 10000");
    assertEquals(
        List.of("1501|0|501"),
        engine.query(
            "select count(*), count(*) filter (where word is distinct from 'value ' || a), count(*) filter (where word = 'value ' || (id + 10000)) from g"));
  }

  @Test
  void shouldShowGenerationsAndCommentsOfConstraints() {
    engine.run(
        "create table g (a int constraint small check (a < 9), b int generated always as (a + 1) stored)");
    engine.run("comment on constraint small on g is 'not big'");
    reopen();
    assertEquals(
        List.of("a|NULL|NULL", "b|stored|a + 1"),
        engine.query(
            "select column_name, generated, generation_expression from kakehashi_catalog.columns where table_name = 'g' order by ordinal_position"));
    assertEquals(
        List.of("constraint|public|g|NULL|not big|small"),
        engine.query("select * from kakehashi_catalog.comments"));
    engine.run("alter table g rename constraint small to tiny");
    assertEquals(
        List.of("tiny|not big"),
        engine.query("select constraint_name, comment from kakehashi_catalog.comments"));
    engine.run("alter table g drop constraint tiny");
    engine.run("alter table g add constraint tiny check (a < 8)");
    assertEquals(List.of(), engine.query("select comment from kakehashi_catalog.comments"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "create temporary table x (id int)",
        "create temp table x as select 1 as id",
        "create local temp table x (id int)",
        "create temp sequence x",
        "create temporary view x as select 1 as id",
        "create unlogged table x (id int)",
        "select 1 as id into temp x",
        "create index on t (id) where lower(name) = 'a'",
        "create unique index on t (id) where id = 1 or name is null",
        "create index on t (id) include (name)",
        "create index on t using gin (id)",
        "create table x (a int, b int generated always as (a) virtual)",
        "create schema authorization current_role",
        "create schema x create table y (id int)",
        "alter table t drop column id, drop column name"
      })
  void shouldSayClearlyWhatThereIsNot(String sql) {
    engine.run("create table t (id int, name text)");
    assertState("0A000", () -> engine.run(sql));
    assertTrue(
        Stream.of("x", "y")
            .allMatch(name ->
                engine
                    .query(
                        "select table_name from kakehashi_catalog.tables where table_name = '"
                            + name
                            + "'")
                    .isEmpty()));
  }
}
