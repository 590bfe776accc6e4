package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Statements of WITH that change rows, as parts of transactions. Their effect by themselves is compared with PostgreSQL by the script
/// `with-changes`.
final class WithChangesTest {
  private static final String MOVE =
      "with gone as (delete from t where v < 3 returning id, v) insert into log select id, v from gone returning v";

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, v int)");
    engine.run("create table log (id int, v int check (v <> 7))");
    engine.run("insert into t values (1, 1), (2, 2), (3, 3)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldRunItsPartsForEachRowOfParameters() {
    EngineTransaction transaction = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    TestEngine.Result result =
        engine.execute(
            transaction,
            engine.prepare(
                "with u as (update t set v = v + $1 where id = $2 returning id, v) insert into log select id, v from u returning id, v",
                23,
                23),
            new Object[][] {{10, 1}, {100, 1}, {1000, 3}, {5, 9}});
    assertEquals(3, result.count());
    assertEquals(List.of("1|11", "1|111", "3|1003"), result.rows());
    engine.commit(transaction);
    assertEquals(List.of("1|111", "2|2", "3|1003"), engine.query("select * from t order by id"));
  }

  @Test
  void shouldUndoItsPartsWhenTheStatementFails() {
    EngineTransaction transaction = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    engine.run(transaction, "insert into t values (7, 7)");
    TestEngine.assertState(
        "23514",
        () ->
            engine.run(
                transaction,
                "with gone as (delete from t returning id, v) insert into log select id, v from gone"));
    assertEquals(List.of("4"), engine.run(transaction, "select count(*) from t").rows());
    assertEquals(List.of("0"), engine.run(transaction, "select count(*) from log").rows());
    engine.rollback(transaction);
  }

  @Test
  void shouldBeginAgainWithAllItsPartsAfterAConflict() {
    EngineTransaction other = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    engine.run(other, "update t set v = 30 where id = 2");
    EngineTransaction mine = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(mine, engine.prepare(MOVE), new Object[][] {{}}, 1, 0);
    engine.commit(other);
    assertEquals(List.of("1"), running.await().rows());
    engine.commit(mine);
    assertEquals(List.of("2|30", "3|3"), engine.query("select * from t order by id"));
    assertEquals(List.of("1|1"), engine.query("select * from log"));
  }

  @Test
  void shouldRefuseChangesInAReadOnlyTransaction() {
    EngineTransaction transaction =
        engine.engine.begin(
            new BeginOptions(
                BeginOptions.Kind.RTX, BeginOptions.Isolation.REPEATABLE_READ, "reader"));
    TestEngine.assertState(
        "25006",
        () ->
            engine.run(
                transaction, "with gone as (delete from t returning id) select * from gone"));
    engine.rollback(transaction);
  }

  @Test
  void shouldExplainItsParts() {
    String plan = String.join("\n", engine.query("explain analyze " + MOVE));
    assertTrue(plan.startsWith("Insert on public.log (actual"), plan);
    assertTrue(plan.contains("CTE gone: Delete on public.t"), plan);
    assertTrue(plan.contains("Work Table 0"), plan);
    assertEquals(List.of("2"), engine.query("select count(*) from log"));
  }

  @Test
  void shouldTakeMergeAsAPart() {
    assertEquals(
        List.of("INSERT|9", "UPDATE|1"),
        engine.query(
            "with m as (merge into t using (values (1), (9)) s(id) on t.id = s.id when matched then update set v = 0"
                + " when not matched then insert values (s.id, 9) returning merge_action() as action, t.id)"
                + " select action, id from m order by action"));
  }
}
