package dev.kakehashi.engine.embedded.query;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.embedded.EngineCheck;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.store.CheckReport;
import dev.kakehashi.engine.store.api.StoreConfig;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Indexes over expressions: which queries use them, what is shown of them, and what is left of them after a restart. Cases of one client
/// are in `expression-indexes.sql`.
final class ExpressionIndexTest {
  @TempDir Path directory;

  private static void assertUsed(boolean used, TestEngine engine, String query) {
    String plan = String.join("\n", engine.query("explain " + query));
    assertEquals(used, plan.contains("t_lower"), plan);
  }

  private static void fill(TestEngine engine) {
    engine.run("create table t (k int, email varchar(40), more text)");
    engine.run("insert into t select g, 'User' || g, 'm' from generate_series(1, 500) g");
    engine.run("create unique index t_lower on t (lower(email))");
  }

  @Test
  void shouldBeUsedWhereTheExpressionIs() {
    try (TestEngine engine = new TestEngine(directory)) {
      fill(engine);
      assertUsed(true, engine, "select k from t where lower(email) = 'user7'");
      assertUsed(true, engine, "select k from t where lower(email) in ('user7', 'user8', 'user9')");
      assertUsed(true, engine, "select k from t where lower(email) >= 'a' and lower(email) < 'b'");
      assertUsed(true, engine, "select lower(email) from t order by lower(email) limit 3");
      assertUsed(true, engine, "select k from t order by lower(email) desc limit 3");
      assertUsed(
          true, engine, "select * from (values ('user3')) v (e) join t on lower(t.email) = v.e");
      assertUsed(
          true, engine, "select k, (select u.k from t u where lower(u.email) = 'user1') from t");
      assertUsed(true, engine, "update t set k = 0 where lower(email) = 'user7'");
      assertUsed(true, engine, "delete from t where lower(email) = 'user7'");
      assertUsed(false, engine, "select k from t where upper(email) = 'USER7'");
      assertUsed(false, engine, "select k from t where lower(more) = 'user7'");
      assertUsed(false, engine, "select k from t where email = 'User7'");
      assertUsed(false, engine, "select k from t order by lower(email) nulls first limit 3");
    }
  }

  @Test
  void shouldBeShownByTheExpressionAndAddNoColumn() {
    try (TestEngine engine = new TestEngine(directory)) {
      fill(engine);
      assertEquals(
          List.of("t_lower|lower(email)|1"),
          engine.query(
              "select index_name, column_name, key_position from kakehashi_catalog.indexes where table_name = 't'"));
      assertEquals(
          List.of("k|1", "email|2", "more|3"),
          engine.query(
              "select column_name, ordinal_position from kakehashi_catalog.columns where table_name = 't' order by 2"));
      assertEquals(
          List.of("3"),
          engine.query("select count(*) from information_schema.columns where table_name = 't'"));
      assertEquals(List.of("1|User1|m"), engine.query("select * from t where k = 1"));
    }
  }

  @Test
  void shouldBeTheSameAfterARestart() {
    try (TestEngine engine = new TestEngine(directory)) {
      fill(engine);
      engine.run("create index t_sum on t ((k * 2), more) where k > 10");
      engine.run("delete from t where k > 400");
      engine.run("update t set email = 'moved' || k where k < 10");
      engine.run("alter table t add column later int default 3");
      engine.run("alter table t drop column later");
    }
    CheckReport report = new CheckReport();
    EngineCheck.run(new StoreConfig(directory, 1L << 28), report);
    assertEquals(List.of(), report.problems);
    try (TestEngine engine = new TestEngine(directory)) {
      assertUsed(true, engine, "select k from t where lower(email) = 'moved7'");
      assertEquals(List.of("7"), engine.query("select k from t where lower(email) = 'moved7'"));
      assertEquals(List.of("20"), engine.query("select k from t where k * 2 = 40 and k > 10"));
      assertState("23505", () -> engine.run("insert into t values (1000, 'MOVED7')"));
      engine.run("drop index t_lower");
      engine.run("insert into t values (1000, 'MOVED7')");
      assertUsed(false, engine, "select k from t where lower(email) = 'moved7'");
      assertTrue(
          engine.query("select * from t where k = 1000").getFirst().startsWith("1000|MOVED7|"));
    }
  }
}
