package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Deferrable unique keys of several clients. The cases of one client are in `deferred-unique.sql`.
final class DeferredUniqueTest {
  /// SQLSTATEs with which a transaction may end; any other one is a fault.
  private static final Set<String> EXPECTED = Set.of("40001", "40P01", "23505");

  @TempDir Path directory;

  @Test
  void shouldLetOneOfTwoHaveAKey() throws Exception {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int unique deferrable initially deferred)");
      EngineTransaction one = engine.begin(Isolation.READ_COMMITTED);
      EngineTransaction two = engine.begin(Isolation.READ_COMMITTED);
      engine.run(one, "insert into t values (1)");
      engine.run(two, "insert into t values (1)");
      CompletableFuture<Boolean> first = engine.startCommit(one);
      CompletableFuture<Boolean> second = engine.startCommit(two);
      int ended = 0;
      for (CompletableFuture<Boolean> each : List.of(first, second)) {
        try {
          assertTrue(each.get(60, TimeUnit.SECONDS));
          ended++;
        } catch (ExecutionException refused) {
          EngineException cause =
              assertInstanceOf(EngineException.class, refused.getCause(), "the refusal");
          String state = cause.code().sqlstate();
          assertTrue(EXPECTED.contains(state), state);
        }
      }
      assertEquals(1, ended);
      assertEquals(List.of("1"), engine.query("select k from t"));
    }
  }

  @Test
  void shouldWaitForWhoHasTheKeyAtTheEndOfItsStatement() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int unique deferrable)");
      EngineTransaction one = engine.begin(Isolation.READ_COMMITTED);
      engine.run(one, "insert into t values (1)");
      EngineTransaction two = engine.begin(Isolation.READ_COMMITTED);
      TestEngine.Running waiting =
          engine.start(
              two,
              engine.prepare("insert into t values (1)"),
              new Object[][] {{}},
              Integer.MAX_VALUE,
              0);
      engine.rollback(one);
      assertEquals(1, waiting.await().count());
      engine.commit(two);
      assertState("23505", () -> engine.run("insert into t values (1)"));
    }
  }

  /// There is no block that it could hold in: PostgreSQL warns.
  @Test
  void shouldRefuseSetConstraintsOutsideOfABlock() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int primary key deferrable)");
      engine.run("insert into t values (1), (2)");
      assertState("25P01", () -> engine.run("set constraints all immediate"));
      assertState("25P01", () -> engine.run("set constraints t_pkey deferred"));
      EngineTransaction block = engine.begin(Isolation.READ_COMMITTED);
      engine.run(block, "set constraints all deferred");
      engine.run(block, "update t set k = 2 where k = 1");
      assertState("23505", () -> engine.run(block, "set constraints all immediate"));
      engine.rollback(block);
      assertEquals(List.of("1", "2"), engine.query("select k from t order by k"));
    }
  }

  @Test
  void shouldKeepTheConstraintThroughARestart() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int primary key deferrable initially deferred, v int)");
      engine.run("insert into t select g, g from generate_series(1, 1000) g");
      engine.run("update t set k = k + 1");
    }
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("update t set k = 2003 - k");
      assertState("23505", () -> engine.run("update t set k = 5 where v < 3"));
      assertState("23505", () -> engine.run("insert into t values (1005, 0)"));
      assertEquals(List.of("1000|1000"), engine.query("select count(*), count(distinct k) from t"));
    }
  }
}
