package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.embedded.query.PlanningCases.Case;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.valuetext.time.Zone;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Planning ends soon after a cancel, a deadline or the end of its transaction.
final class PlanningCancelTest {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /// Sizes of the statements, against those of the build.
  private static final int SIZE = Integer.getInteger("kakehashi.size", 1);

  /// Limit of the processor time of the planning thread; five times the goal, because much is still interpreted.
  private static final double LIMIT_MILLIS =
      Double.parseDouble(System.getProperty("kakehashi.limit", "50"));

  /// As many tables as a statement may read: no machine plans their joins while the test runs.
  private static final String ENDLESS = PlanningCases.doubling(12);

  private final long seed = Long.getLong("kakehashi.seed", System.nanoTime());

  @TempDir Path directory;

  private int texts;

  /// Plans a statement on the calling thread, whatever the cache has.
  private void plan(TestEngine engine, String sql, Interrupts.Source source) {
    String text = sql + " -- " + texts++;
    Interrupts.during(
        source,
        () ->
            engine
                .engine
                .plans()
                .plan(
                    text,
                    new int[0],
                    engine.engine.catalogSnapshot(),
                    Zone.UTC,
                    RoleSet.SUPERUSER));
  }

  /// Says stop at one of its looks, and at all after it.
  private static final class Stop implements Interrupts.Source {
    private final long at;
    private long looks;

    Stop(long at) {
      this.at = at;
    }

    @Override
    public void checkCanceled() {
      if (++looks >= at) {
        throw new EngineException(ErrorCode.QUERY_CANCELED, "look " + looks);
      }
    }
  }

  /// Measures how much its thread works between two looks.
  private static final class Gaps implements Interrupts.Source {
    private long looks;
    private final long began = THREADS.getCurrentThreadCpuTime();
    private long latest = began;
    private long largest;
    private String behind = "";

    @Override
    public void checkCanceled() {
      looks++;
      long now = THREADS.getCurrentThreadCpuTime();
      if (now - latest > largest) {
        largest = now - latest;
        StackTraceElement place = new Throwable().getStackTrace()[2];
        behind = place.getFileName() + ":" + place.getLineNumber();
      }
      latest = THREADS.getCurrentThreadCpuTime();
    }
  }

  @Test
  void shouldEndAtWhateverLookOfThePlannerItIsCanceled() {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(directory)) {
      PlanningCases.load(engine);
      for (Case each : PlanningCases.all(1)) {
        Stop never = new Stop(Long.MAX_VALUE);
        plan(engine, each.sql(), never);
        long[] sampled = random.longs(4, 1, never.looks + 1).toArray();
        for (long at : sampled) {
          Stop stop = new Stop(at);
          EngineException refused =
              assertThrows(
                  EngineException.class, () -> plan(engine, each.sql(), stop), each.kind());
          assertEquals(ErrorCode.QUERY_CANCELED, refused.code(), each.kind() + " at " + at);
          // One who keeps failures for later looks once more.
          assertTrue(stop.looks <= at + 2, each.kind() + " at " + at + " until " + stop.looks);
        }
      }
    }
  }

  private Gaps measured(TestEngine engine, Case each) {
    Gaps gaps = new Gaps();
    plan(engine, each.sql(), gaps);
    gaps.checkCanceled();
    return gaps;
  }

  @Test
  void shouldLookWithinLittleWork() {
    List<String> late = new ArrayList<>();
    System.out.println(
        "| large is | planned in, ms of work | looks | without a look at most, ms | until |");
    System.out.println("|---|---:|---:|---:|---|");
    try (TestEngine engine = new TestEngine(directory)) {
      PlanningCases.load(engine);
      // Loading classes is work, too, of the first statements.
      PlanningCases.all(1).forEach(each -> plan(engine, each.sql(), () -> {}));
      for (Case each : PlanningCases.all(SIZE)) {
        Gaps gaps = measured(engine, each);
        // Now and then a thread has to work for the JVM; what the planner does it does again.
        for (int again = 0; gaps.largest / 1e6 > LIMIT_MILLIS && again < 3; again++) {
          gaps = measured(engine, each);
        }
        double millis = (gaps.latest - gaps.began) / 1e6;
        double most = gaps.largest / 1e6;
        System.out.printf(
            "| %s | %.1f | %d | %.1f | %s |%n", each.kind(), millis, gaps.looks, most, gaps.behind);
        if (most > LIMIT_MILLIS) {
          late.add("%s: %.1f ms until %s".formatted(each.kind(), most, gaps.behind));
        }
      }
    }
    assertEquals(List.of(), late);
  }

  /// A statement that is being prepared.
  private static final class Preparing {
    final CompletableFuture<Statement> done = new CompletableFuture<>();
    final Planning planning;

    Preparing(TestEngine engine, String sql) {
      planning =
          engine.session.prepare(
              sql,
              new int[0],
              (statement, failure) -> {
                if (failure == null) {
                  done.complete(statement);
                } else {
                  done.completeExceptionally(failure);
                }
              });
    }
  }

  private static boolean hasJob(TestEngine engine, String sql) {
    return engine.scheduler.jobs().stream().anyMatch(job -> job.name().equals(sql));
  }

  @Test
  void shouldEndThePreparationThatIsCanceled() {
    try (TestEngine engine = new TestEngine(directory)) {
      Preparing preparing = new Preparing(engine, ENDLESS);
      Await.until("the job is there", () -> hasJob(engine, ENDLESS));
      preparing.planning.cancel();
      EngineException refused =
          assertThrows(EngineException.class, () -> TestEngine.await(preparing.done));
      assertEquals(ErrorCode.QUERY_CANCELED, refused.code());
      assertEquals("canceling statement due to user request", refused.getMessage());
      Await.until("the job is gone", () -> !hasJob(engine, ENDLESS));
      preparing.planning.cancel(); // as often as one likes
      assertEquals(List.of("1"), engine.query("select 1"));
    }
  }

  @Test
  void shouldEndThePreparationOfAnEngineThatCloses() {
    Preparing preparing;
    try (TestEngine engine = new TestEngine(directory)) {
      preparing = new Preparing(engine, ENDLESS);
      Await.until("the job is there", () -> hasJob(engine, ENDLESS));
    }
    EngineException refused =
        assertThrows(EngineException.class, () -> TestEngine.await(preparing.done));
    assertEquals(ErrorCode.SHUTTING_DOWN, refused.code());
  }

  @Test
  void shouldEndThePlanningOfADefinitionAtItsDeadlineAndLeaveTheTransactionUsable() {
    String definition = "create table x as " + ENDLESS;
    try (TestEngine engine = new TestEngine(directory)) {
      EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
      engine.run(transaction, "create table y (a int4)");
      TestEngine.Running running =
          engine.start(
              transaction,
              engine.prepare(definition),
              new @Nullable Object[][] {{}},
              Integer.MAX_VALUE,
              50_000_000L);
      EngineException refused = assertThrows(EngineException.class, running::await);
      assertEquals(ErrorCode.QUERY_CANCELED, refused.code());
      assertEquals("canceling statement due to statement timeout", refused.getMessage());
      Await.until("the job is gone", () -> !hasJob(engine, definition));
      engine.run(transaction, "insert into y values (1)");
      engine.commit(transaction);
      assertEquals(List.of("1"), engine.query("select a from y"));
    }
  }

  /// Planned anew, as a statement is whose plan is of another version of the catalogue, it is in the middle of a transaction.
  @Test
  void shouldEndThePlanningOfAStatementWhoseTransactionIsRolledBack() {
    String sql = PlanningCases.doubling(9);
    try (TestEngine engine = new TestEngine(directory)) {
      Statement statement = engine.prepare(sql);
      engine.run("create table y (a int4)");
      EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
      TestEngine.Running running =
          engine.start(transaction, statement, new @Nullable Object[][] {{}}, Integer.MAX_VALUE, 0);
      Await.until("the job is there", () -> hasJob(engine, sql));
      engine.rollback(transaction);
      EngineException refused = assertThrows(EngineException.class, running::await);
      assertEquals(ErrorCode.TRANSACTION_ABORTED, refused.code());
      assertEquals(EngineTransaction.State.ABORTED, transaction.state());
    }
  }

  @Test
  void shouldCancelAStatementThatIsPlannedWithinItsTransactionAndCommitAfterwards() {
    String sql = PlanningCases.doubling(9);
    try (TestEngine engine = new TestEngine(directory)) {
      Statement statement = engine.prepare(sql);
      engine.run("create table y (a int4)");
      EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
      engine.run(transaction, "insert into y values (1)");
      TestEngine.Running running =
          engine.start(transaction, statement, new @Nullable Object[][] {{}}, Integer.MAX_VALUE, 0);
      Await.until("the job is there", () -> hasJob(engine, sql));
      CompletableFuture<Boolean> committed = engine.startCommit(transaction);
      java.util.Objects.requireNonNull(running.execution).cancel();
      EngineException refused = assertThrows(EngineException.class, running::await);
      assertEquals(ErrorCode.QUERY_CANCELED, refused.code());
      assertTrue(TestEngine.await(committed));
      assertEquals(List.of("1"), engine.query("select a from y"));
    }
  }
}
