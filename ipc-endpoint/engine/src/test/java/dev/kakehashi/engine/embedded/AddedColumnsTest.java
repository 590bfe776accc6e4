package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.store.OlderFormat;
import dev.kakehashi.engine.store.StoreFactory;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Columns are added and dropped with the rows where they are, as part of a transaction, and so they are after a restart.
@SuppressWarnings("NullAway.Init") // set before each test
final class AddedColumnsTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, name text)");
    engine.run(
        "insert into t with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) "
            + "select i, 'n' || i from n");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void restart() {
    engine.close();
    engine = new TestEngine(directory);
  }

  /// The stored table's number, which a copy has another of. Restarts.
  private String number() {
    engine.close();
    try (Store store = StoreFactory.open(new StoreConfig(directory, 1L << 28))) {
      List<String> tables =
          store.catalog().keySet().stream().filter(key -> key.startsWith("table/")).toList();
      assertEquals(1, tables.size());
      return tables.getFirst();
    } finally {
      engine = new TestEngine(directory);
    }
  }

  @Test
  void shouldCopyOnlyWhatHasAValueOfItsOwn() {
    String number = number();
    engine.run("alter table t add column a int default 1, add column b text, drop column name");
    engine.run("alter table t add column c timestamptz default now() not null");
    assertEquals(number, number());
    assertEquals(
        List.of("5000|1|0"), engine.query("select sum(a), count(distinct c), count(b) from t"));
    engine.run("create sequence s");
    engine.run("alter table t add column d bigint default nextval('s')");
    assertNotEquals(number, number());
    number = number();
    engine.run("alter table t add column e int generated always as identity");
    assertNotEquals(number, number());
    assertEquals(
        List.of("5000|5000"), engine.query("select count(distinct d), count(distinct e) from t"));
  }

  @Test
  void shouldGiveEachRowItsOwnRandomValue() {
    engine.run("alter table t add column r double precision default random()");
    engine.run(
        "alter table t add column u uuid default gen_random_uuid(), add column n numeric default random() * 2");
    assertEquals(
        List.of("5000|5000|5000|0"),
        engine.query(
            "select count(distinct r), count(distinct u), count(distinct n), count(*) filter (where r < 0 or r >= 1) from t"));
  }

  @Test
  void shouldRollBackToASavepoint() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "alter table t add column a int default 1");
    engine.run(transaction, "update t set a = 2 where id = 1");
    awaitEnd(done -> transaction.savepoint(1, done));
    engine.run(transaction, "alter table t drop column name, add column b text default 'b'");
    engine.run(transaction, "update t set b = 'own', a = 3 where id in (1, 2)");
    awaitEnd(done -> transaction.rollbackToSavepoint(1, done));
    engine.run(transaction, "alter table t add column c text default 'c'");
    engine.run(transaction, "update t set c = 'own' where id = 3");
    engine.commit(transaction);
    for (int opened = 0; opened < 2; opened++) {
      assertEquals(
          List.of("1|n1|2|c", "2|n2|1|c", "3|n3|1|own"),
          engine.query("select * from t where id <= 3 order by id"));
      restart();
    }
  }

  @Test
  void shouldHaveTheColumnsAfterARestart() {
    engine.run("alter table t add column a int default 1");
    engine.run("update t set a = 2 where id = 1");
    restart();
    engine.run("alter table t drop column name, add column b text default 'b'");
    engine.run("insert into t values (5001, 3, 'own')");
    restart();
    assertEquals(
        List.of("1|2|b", "2|1|b", "5001|3|own"),
        engine.query("select * from t where id in (1, 2, 5001) order by id"));
    assertEquals(List.of("5001|5004"), engine.query("select count(b), sum(a) from t"));
  }

  @Test
  void shouldCommitAPreparedTransactionsColumnsAfterARestart() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "alter table t add column undone int default 5");
    engine.rollback(transaction);
    EngineTransaction prepared = engine.begin(Isolation.READ_COMMITTED);
    engine.run(prepared, "alter table t add column a int default 1, drop column name");
    engine.run(prepared, "update t set a = 2 where id = 1");
    engine.run(prepared, "insert into t values (5001, 3)");
    awaitEnd(done -> engine.session.prepare(prepared, "columns", done));
    restart();
    awaitEnd(done ->
        engine.session.commitPrepared("columns", EngineTransaction.CommitResponse.STORED, done));
    for (int opened = 0; opened < 2; opened++) {
      assertEquals(
          List.of("1|2", "2|1", "5001|3"),
          engine.query("select * from t where id in (1, 2, 5001) order by id"));
      assertEquals(List.of("5001|5004"), engine.query("select count(*), sum(a) from t"));
      restart();
    }
  }

  @Test
  void shouldCopyATableOfAnOlderDirectoryOnce() throws IOException {
    engine.run("create index named on t (name)");
    String number = number();
    engine.close();
    assertEquals(1, OlderFormat.rewrite(directory));
    engine = new TestEngine(directory);
    assertEquals(
        List.of("5000|n1|n999"), engine.query("select count(*), min(name), max(name) from t"));
    engine.run("update t set name = 'one' where id = 1");
    engine.run("alter table t add column a int default 1");
    assertNotEquals(number, number());
    number = number();
    engine.run("alter table t add column b text default 'b', drop column a");
    assertEquals(number, number());
    assertEquals(
        List.of("1|one|b", "4711|n4711|b"),
        engine.query("select * from t where name in ('one', 'n4711') order by id"));
  }

  @Test
  void shouldKeepTheStatisticsOfTheOtherColumns() {
    engine.run("alter table t add column a text default 'a'");
    engine.run("analyze t");
    engine.run("alter table t drop column name");
    engine.run("alter table t add column b text");
    assertEquals(
        List.of("a|0", "id|0"),
        engine.query(
            "select column_name, null_fraction from kakehashi_catalog.column_statistics"
                + " where table_name = 't' and column_name <> 'b' order by 1"));
    engine.run("analyze t");
    assertEquals(
        List.of("a|0", "b|1", "id|0"),
        engine.query(
            "select column_name, null_fraction from kakehashi_catalog.column_statistics where table_name = 't' order by 1"));
  }

  @Test
  void shouldFindTheColumnsOfDeferredForeignKeysWhereTheyLie() {
    engine.run("create table p (gone text, id int primary key)");
    engine.run("create table c (gone text, pid int references p deferrable initially deferred)");
    engine.run("insert into p values ('x', 7)");
    engine.run("insert into c values ('y', 7)");
    engine.run("alter table p drop column gone");
    engine.run("alter table c drop column gone");
    EngineTransaction orphan = engine.begin(Isolation.READ_COMMITTED);
    engine.run(orphan, "delete from p where id = 7");
    TestEngine.assertState("23503", () -> engine.commit(orphan));
    EngineTransaction whole = engine.begin(Isolation.READ_COMMITTED);
    engine.run(whole, "delete from p where id = 7");
    engine.run(whole, "insert into p values (7)");
    engine.run(whole, "update c set pid = 8 where pid = 7");
    engine.run(whole, "insert into p values (8)");
    engine.commit(whole);
    assertEquals(List.of("7", "8"), engine.query("select id from p order by id"));
    assertEquals(List.of("8"), engine.query("select pid from c"));
  }
}
