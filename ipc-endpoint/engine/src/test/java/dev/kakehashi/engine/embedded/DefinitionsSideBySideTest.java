package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static dev.kakehashi.engine.embedded.TestEngine.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Transactions that define different things go on side by side and commit in any order; those that would define the same wait for each
/// other, and the later one finds what the earlier one has left.
@SuppressWarnings("NullAway.Init") // set before each test
final class DefinitionsSideBySideTest {
  private static final @Nullable Object[][] NO_PARAMETERS = new @Nullable Object[][] {{}};

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = TestEngine.withQueues(directory, ListQueues::new);
    engine.run("create table t (id int primary key, name text)");
    engine.run("create table u (id int primary key, name text)");
    engine.run("create sequence s");
    engine.run("create sequence s2");
    engine.run("create schema other");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void restart() {
    engine.close();
    engine = TestEngine.withQueues(directory, ListQueues::new);
  }

  private EngineTransaction begin() {
    return engine.begin(Isolation.READ_COMMITTED);
  }

  private Running start(EngineTransaction transaction, String sql) {
    return engine.start(transaction, engine.other().prepare(sql), NO_PARAMETERS, 100, 0);
  }

  private void awaitWaiter() {
    Await.until(
        "somebody waits", () -> !engine.query("select 1 from kakehashi_catalog.waits").isEmpty());
  }

  private List<String> names() {
    return engine.query(
        "select table_name from information_schema.tables where table_schema in ('public', 'other') order by 1");
  }

  @Test
  void shouldLetTransactionsDefineDifferentThings() {
    List<List<String>> definitions =
        List.of(
            List.of("create table a (id int primary key, name text)", "insert into a values (1)"),
            List.of("create view v as select name from t", "comment on view v is 'names'"),
            List.of("create index on u (name)", "alter sequence s2 increment 2"),
            List.of("create schema mine", "create table mine.a (id serial)"),
            List.of("create queue q", "grant select on t to public"),
            List.of("create table other.a as select * from t", "create sequence other.s"),
            List.of("create table k (id int default nextval('s'))"));
    List<EngineTransaction> open = new ArrayList<>();
    for (List<String> statements : definitions) {
      EngineTransaction transaction = begin();
      TestEngine.Other client = engine.other();
      statements.forEach(sql -> client.run(transaction, sql));
      open.add(transaction);
    }
    assertEquals(List.of("t", "u"), names());
    for (EngineTransaction transaction : open.reversed()) {
      engine.commit(transaction);
    }
    for (int i = 0; i < 2; i++) {
      assertEquals(List.of("a", "a", "k", "t", "u", "v"), names());
      assertEquals(List.of("1"), engine.query("select id from a"));
      assertEquals(
          List.of("u_name_idx"),
          engine.query(
              "select index_name from kakehashi_catalog.indexes where index_name like 'u_n%'"));
      engine.run("insert into mine.a values (default)");
      engine.run("insert into k values (default)");
      restart();
    }
  }

  @Test
  void shouldSeeWhatOthersHaveCommittedBesideItsOwn() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "create table mine (a int)");
    TestEngine.Other other = engine.other();
    other.run("create table others (a int)");
    other.run("insert into others values (7)");
    engine.run(transaction, "insert into mine select a from others");
    engine.run(
        transaction, "create view both_of as select a from mine union all select a from others");
    awaitEnd(done -> transaction.savepoint(1, done));
    engine.run(transaction, "create table undone (a int)");
    other.run("create table third (a int)");
    awaitEnd(done -> transaction.rollbackToSavepoint(1, done));
    engine.run(transaction, "insert into third select * from both_of");
    engine.commit(transaction);
    assertEquals(List.of("7", "7"), engine.query("select a from third"));
    assertEquals(List.of("both_of", "mine", "others", "t", "third", "u"), names());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        // first | second, which waits | state after the commit of the first | after its rollback
        "create table x (a int) | create table x (b int) | 42P07 | -",
        "create table x (a int) | create view x as select 1 as one | 42P07 | -",
        "create table x (a int) | create sequence x | 42P07 | -",
        "create index x on t (name) | create table x (a int) | 42P07 | -",
        "create table x (a int) | alter table u rename to x | 42P07 | -",
        "create table x (a int) | create table if not exists x (b int) | - | -",
        "drop table t | create or replace view v as select * from t | 42P01 | -",
        "create schema x | create schema x | 42P06 | -",
        "create queue x | create table x (a int) | 42P07 | -",
        "create view x as select name from t | drop table t | 2BP01 | -",
        "create view x as select name from t | alter table t drop column name | 2BP01 | -",
        "drop table t | create view x as select name from t | 42P01 | -",
        "alter table t drop column name | create view x as select name from t | 42703 | -",
        "create table x (a int references t) | drop table t | 2BP01 | -",
        "drop table t | create table x (a int references t) | 42P01 | -",
        "create table x (a int default nextval('s')) | drop sequence s | 2BP01 | -",
        "drop sequence s | create table x (a int default nextval('s')) | 42P01 | -",
        "create table other.x (a int) | drop schema other | 2BP01 | -",
        "drop schema other | create table other.x (a int) | 3F000 | -",
        "create schema x | create schema if not exists x | - | -",
        "comment on table t is 'one' | grant select on t to public | - | -",
        "alter table t add column more int | alter table t add column more int | 42701 | -",
        "create table x (a int) | create role x | - | -",
        "create queue x with (max_attempts = 1) | create queue x | 42P07 | -",
        "truncate t | drop table t | - | -",
      })
  void shouldWaitForWhoDefinesTheSame(
      String first, String second, @Nullable String afterCommit, @Nullable String afterRollback) {
    for (boolean commits : new boolean[] {false, true}) {
      EngineTransaction one = begin();
      engine.run(one, first);
      EngineTransaction two = begin();
      Running waiting = start(two, second);
      awaitWaiter();
      assertFalse(waiting.done.isDone());
      assertEquals(
          List.of(one.id() + "|" + two.id()),
          engine.query(
              "select blocking_transaction_id, transaction_id from kakehashi_catalog.waits"));
      if (commits) {
        engine.commit(one);
      } else {
        engine.rollback(one);
      }
      String refusal = commits ? afterCommit : afterRollback;
      if (refusal == null) {
        waiting.await();
      } else {
        assertState(refusal, waiting::await);
      }
      if (commits && refusal == null) {
        engine.commit(two);
      } else {
        engine.rollback(two);
      }
    }
    restart();
    assertSound();
  }

  @Test
  void shouldShowNamesThatAreLocked() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "create table other.x (a int)");
    engine.run(transaction, "comment on sequence s is 'numbers'");
    assertEquals(
        List.of(
            "other|x|EXCLUSIVE",
            "other|NULL|SHARED",
            "public|s|BUILD",
            "public|NULL|SHARED",
            "NULL|NULL|SHARED"),
        engine.query(
            "select table_schema, table_name, mode from kakehashi_catalog.locks where transaction_id = "
                + transaction.id()
                + " order by 1, 2"));
    engine.rollback(transaction);
    assertEquals(List.of(), engine.query("select * from kakehashi_catalog.locks where granted"));
  }

  @Test
  void shouldGiveEachNumberOnce() {
    EngineTransaction late = begin();
    engine.run(late, "create table late (a int)");
    EngineTransaction many = begin();
    for (int i = 0; i < 100; i++) {
      engine.run(many, "create table many" + i + " (a int)");
    }
    EngineTransaction prepared = begin();
    engine.run(prepared, "create table prepared (a int)");
    awaitEnd(done -> engine.session.prepare(prepared, "p", done));
    engine.commit(many);
    engine.commit(late);
    restart();
    awaitEnd(
        done -> engine.session.commitPrepared("p", EngineTransaction.CommitResponse.STORED, done));
    engine.run("create table last (a int primary key)");
    restart();
    assertEquals(
        List.of("105"),
        engine.query(
            "select count(*) from kakehashi_catalog.tables where table_schema = 'public'"));
    assertSound();
  }

  @Test
  void shouldKeepWhatAPreparedViewReadsAlsoAfterARestart() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "create view v as select name from t");
    engine.run(transaction, "create table x (a int default nextval('s'), b int references u)");
    awaitEnd(done -> engine.session.prepare(transaction, "p", done));
    for (int i = 0; i < 2; i++) {
      engine.run("create table beside (a int)");
      engine.run("drop table beside");
      for (String sql :
          List.of(
              "drop table t",
              "drop sequence s",
              "drop table u",
              "create view v as select 1 as one",
              "create role r")) {
        EngineTransaction other = begin();
        Running waiting = start(other, sql);
        awaitWaiter();
        Objects.requireNonNull(waiting.execution).cancel();
        assertState("57014", waiting::await);
        engine.rollback(other);
      }
      restart();
    }
    awaitEnd(
        done -> engine.session.commitPrepared("p", EngineTransaction.CommitResponse.STORED, done));
    assertState("2BP01", () -> engine.run("drop table t"));
    assertState("2BP01", () -> engine.run("drop sequence s"));
    assertState("2BP01", () -> engine.run("drop table u"));
  }

  /// Names, tables and views are few, so that definitions meet often.
  @Test
  void shouldHoldTogetherWhateverSessionsDefine() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of DefinitionsSideBySideTest: " + seed);
    List<Throwable> failures = new ArrayList<>();
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Random random = new Random(seed + i);
      TestEngine.Other client = engine.other();
      running.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int round = 0; round < 150; round++) {
                    define(client, random);
                  }
                } catch (Throwable failed) {
                  synchronized (failures) {
                    failures.add(failed);
                  }
                }
              }));
    }
    for (Thread thread : running) {
      thread.join(TimeUnit.MINUTES.toMillis(5));
      assertFalse(thread.isAlive(), "seed " + seed);
    }
    for (Throwable failure : failures) {
      throw new AssertionError("seed " + seed, failure);
    }
    List<String> before = catalogue();
    for (String view :
        engine.query(
            "select table_name from kakehashi_catalog.views where table_schema = 'public'")) {
      engine.query("select * from " + view);
    }
    restart();
    assertEquals(before, catalogue(), "seed " + seed);
    assertSound();
  }

  private List<String> catalogue() {
    List<String> all =
        new ArrayList<>(
            engine.query(
                "select table_name, column_name, data_type, column_default from information_schema.columns where table_schema in ('public', 'other') order by 1, ordinal_position"));
    all.addAll(engine.query("select index_name from kakehashi_catalog.indexes order by 1"));
    all.addAll(engine.query("select sequence_name from kakehashi_catalog.sequences order by 1"));
    return all;
  }

  private static final Set<String> EXPECTED =
      Set.of(
          "42P07", "42P01", "2BP01", "40P01", "42701", "42703", "42809", "42704", "42830", "0A000",
          "42P17", "42710", "23503", "55000", "23505");

  private void define(TestEngine.Other client, Random random) {
    EngineTransaction transaction = begin();
    try {
      for (int i = random.nextInt(3); i >= 0; i--) {
        client.run(transaction, definition(random));
      }
      if (random.nextInt(4) > 0) {
        engine.commit(transaction);
      } else {
        engine.rollback(transaction);
      }
    } catch (EngineException refused) {
      engine.rollback(transaction);
      if (!EXPECTED.contains(refused.code().sqlstate())) {
        throw refused;
      }
    }
  }

  private static String definition(Random random) {
    String table = "n" + random.nextInt(4);
    String other = "n" + random.nextInt(4);
    String name = "n" + random.nextInt(6);
    return switch (random.nextInt(13)) {
      case 0, 1 -> "create table " + table + " (a int primary key, b int)";
      case 2 -> "create table " + name + " (a int primary key, b int references " + other + ")";
      case 3 -> "create view " + name + " as select a, b from " + table;
      case 4 -> "drop table " + table + (random.nextBoolean() ? " cascade" : "");
      case 5 -> "drop view " + name;
      case 6 -> "create index on " + table + " (b)";
      case 7 -> "alter table " + table + " rename to " + name;
      case 8 -> "alter table " + table + " add column c int default 1";
      case 9 -> "alter table " + table + " drop column c";
      case 10 -> "comment on table " + table + " is 'a table'";
      case 11 -> "create table " + name + " (a serial primary key, b int)";
      default -> "insert into " + table + " (a, b) values (" + random.nextInt(1000) + ", null)";
    };
  }

  private void assertSound() {
    engine.close();
    List<String> problems = new ArrayList<>();
    EngineCheck.run(
        new StoreConfig(directory, 256L << 20),
        new CheckListener() {
          @Override
          public void checked(String what) {}

          @Override
          public void problem(String what) {
            problems.add(what);
          }
        });
    assertEquals(List.of(), problems);
    engine = TestEngine.withQueues(directory, ListQueues::new);
  }
}
