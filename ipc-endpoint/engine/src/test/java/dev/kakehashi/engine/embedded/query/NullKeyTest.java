package dev.kakehashi.engine.embedded.query;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static dev.kakehashi.engine.embedded.TestEngine.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.EngineCheck;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.store.CheckReport;
import dev.kakehashi.engine.store.api.StoreConfig;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// UNIQUE NULLS NOT DISTINCT beside other transactions, and after restarts. Its effect alone is compared with PostgreSQL in null-keys.sql.
final class NullKeyTest {
  @TempDir Path directory;

  private static TestEngine.Running start(TestEngine engine, EngineTransaction by, String sql) {
    return engine.start(by, engine.prepare(sql), new Object[][] {{}}, Integer.MAX_VALUE, 0);
  }

  @Test
  void shouldWaitForTheOtherTransactionThatHasTheNull() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (a int, b text, unique nulls not distinct (a, b))");
      for (String insert :
          List.of(
              "insert into t values (null, 'x')",
              "insert into t values (null, 'x') on conflict (a, b) do nothing")) {
        EngineTransaction one = engine.begin(Isolation.READ_COMMITTED);
        engine.run(one, "insert into t values (null, 'x')");
        EngineTransaction two = engine.begin(Isolation.READ_COMMITTED);
        TestEngine.Running waiting = start(engine, two, insert);
        engine.rollback(one);
        assertEquals(1, waiting.await().count());
        engine.rollback(two);
      }
      EngineTransaction one = engine.begin(Isolation.READ_COMMITTED);
      engine.run(one, "insert into t values (null, 'x')");
      EngineTransaction two = engine.begin(Isolation.READ_COMMITTED);
      TestEngine.Running waiting =
          start(
              engine,
              two,
              "insert into t values (null, 'x') on conflict (a, b) do update set b = 'y'");
      engine.commit(one);
      assertEquals(1, waiting.await().count());
      engine.commit(two);
      assertEquals(List.of("NULL|y"), engine.query("select * from t"));
    }
  }

  @Test
  void shouldReportSerializationFailureForNullThatWasLookedFor() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (a int unique nulls not distinct)");
      EngineTransaction transaction = engine.begin(Isolation.SERIALIZABLE);
      engine.run(transaction, "select * from t where a is null");
      engine.run("insert into t values (null)");
      assertState("40001", () -> engine.run(transaction, "insert into t values (null)"));
      engine.rollback(transaction);
    }
  }

  @Test
  void shouldKeepWhatNullsMeanThroughRestartsAndPreparedTransactions() {
    List<String> definitions;
    String read = "select definition from kakehashi_catalog.definitions order by ordinal_position";
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (a int, b int unique nulls not distinct)");
      engine.run("insert into t values (null, null), (1, 1), (2, 2)");
      engine.run("alter table t add constraint big check (a > 1) not valid");
      EngineTransaction prepared = engine.begin(Isolation.READ_COMMITTED);
      engine.run(
          prepared, "create unique index t_a on t (a nulls first, b desc) nulls not distinct");
      engine.run(prepared, "insert into t values (null, 3)");
      awaitEnd(done -> engine.session.prepare(prepared, "later", done));
    }
    try (TestEngine engine = new TestEngine(directory)) {
      awaitEnd(done ->
          engine.session.commitPrepared("later", EngineTransaction.CommitResponse.STORED, done));
      refuses(engine);
      definitions = engine.query(read);
    }
    try (TestEngine engine = new TestEngine(directory)) {
      refuses(engine);
      assertEquals(definitions, engine.query(read));
      assertEquals(
          List.of("t_b_key|UNIQUE|NO", "big|CHECK|NULL"),
          engine.query(
              "select constraint_name, constraint_type, nulls_distinct from information_schema.table_constraints"
                  + " where table_name = 't' order by 1 desc"));
    }
    CheckReport found = new CheckReport();
    EngineCheck.run(new StoreConfig(directory, 1L << 28), found);
    assertEquals(List.of(), found.problems);
  }

  private static void refuses(TestEngine engine) {
    assertState("23505", () -> engine.run("insert into t values (5, null)"));
    assertState("23505", () -> engine.run("insert into t values (null, 3)"));
    assertState("23514", () -> engine.run("insert into t values (0, 9)"));
    EngineException refused =
        assertThrows(EngineException.class, () -> engine.run("insert into t values (5, null)"));
    assertEquals("Key (b)=(null) already exists.", refused.detail());
  }
}
