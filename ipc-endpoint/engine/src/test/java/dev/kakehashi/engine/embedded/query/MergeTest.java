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

/// Features of MERGE from PostgreSQL 17, and its behaviour beside other transactions. The rest is compared with PostgreSQL by the script
/// `merge`.
final class MergeTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, v text)");
    engine.run("create table s (id int, v text)");
    engine.run("insert into t values (1, 'one'), (2, 'two'), (3, 'three')");
    engine.run("insert into s values (2, 'zwei'), (3, 'drei'), (4, 'vier')");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldReturnActionTargetAndSource() {
    TestEngine.Result result =
        engine.run(
            "merge into t using s on t.id = s.id when matched and s.id = 3 then delete"
                + " when matched then update set v = s.v || t.v when not matched then insert values (s.id, s.v)"
                + " returning merge_action(), t.*, s.v as sv, length(t.v)");
    assertEquals(3, result.count());
    assertEquals(
        List.of("DELETE|3|three|drei|5", "INSERT|4|vier|vier|4", "UPDATE|2|zweitwo|zwei|7"),
        result.rows().stream().sorted().toList());
    assertEquals("merge_action", result.columns().getFirst().name());
    assertEquals(
        List.of("1|one", "2|zweitwo", "4|vier"), engine.query("select * from t order by id"));
  }

  @Test
  void shouldActOnRowsThatTheSourceDoesNotHave() {
    TestEngine.Result result =
        engine.run(
            "merge into t using s on t.id = s.id when matched then do nothing"
                + " when not matched by target then insert values (s.id, s.v)"
                + " when not matched by source and t.v = 'one' then update set v = t.v || '!'"
                + " returning merge_action(), t.id, s.id");
    assertEquals(List.of("INSERT|4|4", "UPDATE|1|NULL"), result.rows().stream().sorted().toList());
    assertEquals(
        1,
        engine
            .run("merge into t using s on t.id = s.id when not matched by source then delete")
            .count());
    assertEquals(List.of("2", "3", "4"), engine.query("select id from t order by id"));
    TestEngine.assertState(
        "42P01",
        () ->
            engine.run(
                "merge into t using s on t.id = s.id when not matched by source then update set v = s.v"));
  }

  @Test
  void shouldKnowItsActionInReturningOnly() {
    TestEngine.assertState("42601", () -> engine.query("select merge_action()"));
    TestEngine.assertState(
        "42601", () -> engine.run("update t set v = 'x' returning merge_action()"));
  }

  @Test
  void shouldMergeAgainWithWhatAnotherTransactionHasCommitted() {
    EngineTransaction other = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    engine.run(other, "update t set v = 'held' where id = 2");
    EngineTransaction mine = engine.begin(BeginOptions.Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(
            mine,
            engine.prepare(
                "merge into t using s on t.id = s.id when matched then update set v = t.v || s.v"),
            new Object[][] {{}},
            1,
            0);
    engine.commit(other);
    assertEquals(2, running.await().count());
    engine.commit(mine);
    assertEquals(
        List.of("1|one", "2|heldzwei", "3|threedrei"), engine.query("select * from t order by id"));
  }

  @Test
  void shouldTakeParametersAndExplainItself() {
    assertEquals(
        List.of("UPDATE|uno"),
        engine.query(
            "merge into t using (select $1::int as id) s on t.id = s.id when matched then update set v = $2"
                + " when not matched then insert values (s.id, $2) returning merge_action(), v",
            1,
            "uno"));
    String plan =
        String.join(
            "\n",
            engine.query(
                "explain analyze merge into t using s on t.id = s.id when matched then update set v = s.v"));
    assertTrue(plan.startsWith("Merge on public.t"), plan);
    assertTrue(plan.contains("Join"), plan);
    assertEquals(List.of("zwei"), engine.query("select v from t where id = 2"));
  }
}
