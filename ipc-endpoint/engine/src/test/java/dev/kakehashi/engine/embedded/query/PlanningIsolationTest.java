package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Statements that are long to plan stop nobody else: there are two workers, and more of these than any user may have planned at once.
final class PlanningIsolationTest {
  private static final int HOSTILE = 6;

  /// As many tables as a statement may read: no machine plans their joins while the test runs.
  private static final String ENDLESS = PlanningCases.doubling(12);

  @TempDir Path directory;

  private record Preparing(CompletableFuture<Statement> done, Planning planning) {}

  private static List<Preparing> prepareEndless(TestEngine engine) {
    List<Preparing> all = new ArrayList<>();
    for (int i = 0; i < HOSTILE; i++) {
      EngineSession session = engine.engine.openSession("hostile");
      CompletableFuture<Statement> done = new CompletableFuture<>();
      Planning planning =
          session.prepare(
              ENDLESS + " -- " + i,
              new int[0],
              (statement, failure) -> {
                if (failure == null) {
                  done.complete(statement);
                } else {
                  done.completeExceptionally(failure);
                }
              });
      all.add(new Preparing(done, planning));
    }
    return all;
  }

  private static void assertCanceled(List<Preparing> all) {
    all.forEach(each -> each.planning.cancel());
    for (Preparing each : all) {
      EngineException refused =
          assertThrows(EngineException.class, () -> TestEngine.await(each.done));
      assertEquals(ErrorCode.QUERY_CANCELED, refused.code());
    }
  }

  @Test
  void shouldPlanAndRunStatementsOfOthersWhileAllPlanForAUser() {
    try (TestEngine engine = new TestEngine(directory)) {
      List<Preparing> endless = prepareEndless(engine);
      // Each is a text that has to be planned; each would wait for ever behind the others.
      for (int i = 0; i < 5; i++) {
        assertEquals(List.of("" + i), engine.query("select " + i));
      }
      endless.forEach(each -> assertTrue(!each.done.isDone()));
      assertCanceled(endless);
    }
  }

  /// A statement that is planned anew when it is executed.
  @Test
  void shouldRunWhatIsPlannedAnewWhileOthersPlan() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table x (a int4)");
      Statement insert = engine.prepare("insert into x values (1)");
      engine.run("alter table x add b int4");
      List<Preparing> endless = prepareEndless(engine);
      EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
      engine
          .start(transaction, insert, new @Nullable Object[][] {{}}, Integer.MAX_VALUE, 0)
          .await();
      engine.commit(transaction);
      assertEquals(List.of("1|NULL"), engine.query("select * from x"));
      assertCanceled(endless);
    }
  }

  /// A definition holds the catalogue while its query is planned, and no worker.
  @Test
  void shouldRunStatementsWhileDefinitionsArePlanned() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table x as select 1 as a");
      List<Preparing> endless = prepareEndless(engine);
      Statement view = engine.prepare("create view v as " + ENDLESS);
      Statement table = engine.prepare("create table c as " + ENDLESS);
      EngineTransaction first = engine.engine.begin(BeginOptions.DEFAULT);
      EngineTransaction second = engine.engine.begin(BeginOptions.DEFAULT);
      @Nullable Object[][] none = {{}};
      TestEngine.Running makesView = engine.start(first, view, none, Integer.MAX_VALUE, 0);
      TestEngine.Running makesTable = engine.start(second, table, none, Integer.MAX_VALUE, 0);
      assertEquals(List.of("1"), engine.query("select a from x"));
      for (TestEngine.Running running : List.of(makesTable, makesView)) {
        Objects.requireNonNull(running.execution).cancel();
        EngineException canceled = assertThrows(EngineException.class, running::await);
        assertEquals(ErrorCode.QUERY_CANCELED, canceled.code());
      }
      engine.rollback(first);
      engine.rollback(second);
      assertCanceled(endless);
      engine.run("create view v as select a from x");
    }
  }

  @Test
  void shouldEndWhatWaitsForItsTurnWhenTheEngineCloses() {
    List<Preparing> endless;
    try (TestEngine engine = new TestEngine(directory)) {
      endless = prepareEndless(engine);
    }
    for (Preparing each : endless) {
      EngineException refused =
          assertThrows(EngineException.class, () -> TestEngine.await(each.done));
      assertEquals(ErrorCode.SHUTTING_DOWN, refused.code());
    }
  }

  @Test
  void shouldCancelWhatWaitsForItsTurnSoon() {
    try (TestEngine engine = new TestEngine(directory)) {
      List<Preparing> endless = prepareEndless(engine);
      // The others go on, so that no turn ever comes to it.
      Preparing last = endless.removeLast();
      assertCanceled(List.of(last));
      endless.forEach(each -> assertTrue(!each.done.isDone()));
      assertCanceled(endless);
      assertEquals(List.of("1"), engine.query("select 1"));
    }
  }
}
