package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Deferred foreign keys between transactions, at the ends of transactions, and with many rows. Their effects in statements are in
/// `deferred-keys.sql`.
final class DeferredKeyTest {
  private static final int MANY = 40_000;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 2, 1L << 30, 1L << 20, 0);
    engine.run("create table p (id int primary key)");
    engine.run(
        "create table c (id int primary key, pid int references p deferrable initially deferred)");
    engine.run("insert into p values (1), (2), (3)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private List<String> children() {
    return engine.query("select id, pid from c order by id");
  }

  @Test
  void shouldSayAtCommitWhatPostgresSaysAndLeaveNothing() {
    EngineTransaction child = engine.begin(Isolation.READ_COMMITTED);
    engine.run(child, "insert into p values (4)");
    engine.run(child, "insert into c values (1, 9)");
    EngineException missing = assertThrows(EngineException.class, () -> engine.commit(child));
    assertEquals(
        "insert or update on table \"c\" violates foreign key constraint \"c_pid_fkey\"",
        missing.getMessage());
    assertEquals("Key (pid)=(9) is not present in table \"p\".", missing.detail());
    assertEquals(EngineTransaction.State.ABORTED, child.state());
    assertEquals(List.of("3"), engine.query("select count(*) from p"));
    engine.run("insert into c values (1, 1)");
    EngineTransaction parent = engine.begin(Isolation.READ_COMMITTED);
    engine.run(parent, "delete from p where id = 1");
    EngineException referenced = assertThrows(EngineException.class, () -> engine.commit(parent));
    assertEquals("Key (id)=(1) is still referenced from table \"c\".", referenced.detail());
    // Its end has let go of everything.
    engine.run("insert into c values (2, 1)");
  }

  @ParameterizedTest
  @EnumSource(
      value = Isolation.class,
      names = {"READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE"})
  void shouldWaitAtCommitForWhoDeletesTheKey(Isolation isolation) {
    EngineTransaction parent = engine.begin(isolation);
    EngineTransaction child = engine.begin(isolation);
    engine.run(child, "insert into c values (1, 1)");
    engine.run(parent, "delete from p where id = 1");
    CompletableFuture<Boolean> commit = engine.startCommit(child);
    assertFalse(commit.isDone());
    engine.commit(parent);
    assertState(
        isolation == Isolation.READ_COMMITTED ? "23503" : "40001", () -> TestEngine.await(commit));
    assertEquals(List.of(), children());
    EngineTransaction undone = engine.begin(isolation);
    EngineTransaction other = engine.begin(isolation);
    engine.run(other, "insert into c values (2, 2)");
    engine.run(undone, "delete from p where id = 2");
    CompletableFuture<Boolean> second = engine.startCommit(other);
    assertFalse(second.isDone());
    engine.rollback(undone);
    TestEngine.await(second);
    assertEquals(List.of("2|2"), children());
  }

  @Test
  void shouldSeeAtCommitWhatOthersHaveReferencedSinceTheSnapshot() {
    EngineTransaction parent = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(parent, "select * from c");
    engine.run("insert into c values (1, 1)");
    engine.run(parent, "delete from p where id = 1");
    assertState("23503", () -> engine.commit(parent));
    assertEquals(List.of("1|1"), children());
  }

  @Test
  void shouldFindADeadlockOfTwoCommits() {
    EngineTransaction one = engine.begin(Isolation.READ_COMMITTED);
    EngineTransaction two = engine.begin(Isolation.READ_COMMITTED);
    engine.run(one, "delete from p where id = 1");
    engine.run(two, "delete from p where id = 2");
    engine.run(one, "insert into c values (1, 2)");
    engine.run(two, "insert into c values (2, 1)");
    CompletableFuture<Boolean> first = engine.startCommit(one);
    CompletableFuture<Boolean> second = engine.startCommit(two);
    // Which of the two closes the circle, and gives way, is a matter of time.
    boolean firstHolds = holds(first);
    boolean secondHolds = holds(second);
    assertTrue(firstHolds != secondHolds);
    assertEquals(List.of(firstHolds ? "1|2" : "2|1"), children());
  }

  /// Whether a commit has held, as opposed to one that gave way to a deadlock.
  private static boolean holds(CompletableFuture<Boolean> commit) {
    try {
      return TestEngine.await(commit);
    } catch (EngineException e) {
      assertEquals("40P01", e.code().sqlstate());
      return false;
    }
  }

  @Test
  void shouldRefuseAPreparationOrPrepareWhatHolds() {
    EngineTransaction wrong = engine.begin(Isolation.READ_COMMITTED);
    engine.run(wrong, "insert into c values (1, 9)");
    assertState(
        "23503", () -> TestEngine.awaitEnd(done -> engine.session.prepare(wrong, "wrong", done)));
    assertEquals(EngineTransaction.State.ABORTED, wrong.state());
    assertEquals(List.of(), engine.engine.preparedTransactions());
    EngineTransaction right = engine.begin(Isolation.READ_COMMITTED);
    engine.run(right, "insert into c values (1, 9)");
    engine.run(right, "insert into p values (9)");
    TestEngine.awaitEnd(done -> engine.session.prepare(right, "right", done));
    close();
    engine = new TestEngine(directory);
    TestEngine.awaitEnd(done ->
        engine.session.commitPrepared("right", EngineTransaction.CommitResponse.STORED, done));
    assertEquals(List.of("1|9"), children());
    assertState("23503", () -> engine.run("delete from p where id = 9"));
  }

  @Test
  void shouldEndACommitThatWaitsWhenTheTimeOfItsTransactionIsOver() {
    EngineTransaction parent = engine.begin(Isolation.READ_COMMITTED);
    engine.run(parent, "delete from p where id = 1");
    EngineTransaction child =
        engine.engine.begin(
            new BeginOptions(
                BeginOptions.Kind.OCC,
                Isolation.READ_COMMITTED,
                "short",
                0,
                TimeUnit.SECONDS.toNanos(2),
                BeginOptions.Areas.NONE));
    engine.run(child, "insert into c values (1, 1)");
    assertState("25P04", () -> engine.commit(child));
    engine.rollback(parent);
    assertEquals(List.of(), children());
  }

  @Test
  void shouldRollBackACommitThatWaitsWhenItIsAskedTo() {
    EngineTransaction parent = engine.begin(Isolation.READ_COMMITTED);
    engine.run(parent, "delete from p where id = 1");
    EngineTransaction child = engine.begin(Isolation.READ_COMMITTED);
    engine.run(child, "insert into c values (1, 1)");
    CompletableFuture<Boolean> commit = engine.startCommit(child);
    engine.rollback(child);
    assertState("25P02", () -> TestEngine.await(commit));
    engine.commit(parent);
    assertEquals(List.of(), children());
  }

  @Test
  void shouldNeedLittleMemoryForManyRows() {
    String rows = "with recursive s(i) as (values (10) union all select i + 1 from s where i < ";
    EngineTransaction both = engine.begin(Isolation.READ_COMMITTED);
    engine.run(both, rows + MANY + ") insert into c select i, i from s");
    engine.run(both, rows + MANY + ") insert into p select i from s");
    engine.commit(both);
    // More than a portion of keys, without an index on what references, and with one.
    EngineTransaction parents = engine.begin(Isolation.READ_COMMITTED);
    engine.run(parents, "delete from p where id >= 10 and id < " + MANY);
    engine.run(parents, "delete from c where id < " + (MANY - 1));
    assertState("23503", () -> engine.commit(parents));
    engine.run("create index on c (pid)");
    EngineTransaction all = engine.begin(Isolation.READ_COMMITTED);
    engine.run(all, "delete from p where id >= 10");
    engine.run(all, "delete from c");
    engine.commit(all);
    assertEquals(List.of("3|0"), engine.query("select count(*), (select count(*) from c) from p"));
  }

  @Test
  void shouldKeepTheirTimingAcrossARestart() {
    List<String> before = engine.query("select * from kakehashi_catalog.foreign_keys");
    assertEquals(
        List.of("public|c|c_pid_fkey|pid|1|public|p|id|NO ACTION|NO ACTION|NONE|t|t|t"), before);
    close();
    engine = new TestEngine(directory);
    assertEquals(before, engine.query("select * from kakehashi_catalog.foreign_keys"));
  }

  @Test
  void shouldTakeEachStatementOfTheSameTransactionIntoAccount() {
    // The commit arrives while the last statement is being executed.
    List<CompletableFuture<Boolean>> commits = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      EngineTransaction child = engine.begin(Isolation.READ_COMMITTED);
      engine.start(
          child,
          engine.prepare("insert into c values (" + i + ", " + (i % 2 == 0 ? 1 : 9) + ")"),
          new Object[][] {{}},
          Integer.MAX_VALUE,
          0);
      commits.add(engine.startCommit(child));
    }
    for (int i = 0; i < commits.size(); i++) {
      CompletableFuture<Boolean> commit = commits.get(i);
      if (i % 2 == 0) {
        TestEngine.await(commit);
      } else {
        assertState("23503", () -> TestEngine.await(commit));
      }
    }
    assertEquals(List.of("25"), engine.query("select count(*) from c"));
  }
}
