package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// SELECT ... FOR UPDATE between transactions.
final class RowLockTest {
  private static final @Nullable Object[][] NO_PARAMETERS = {{}};

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table q (id int primary key, state text)");
    engine.run("insert into q values (1,'new'),(2,'new'),(3,'new')");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldRefuseLockedRowsWithNowaitAndLeaveThemOutWithSkipLocked() {
    EngineTransaction first = engine.begin(Isolation.READ_COMMITTED);
    assertEquals(
        List.of("1"), engine.run(first, "select id from q order by id limit 1 for update").rows());
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> engine.run("select id from q where id = 1 for update nowait"));
    assertEquals("55P03", refused.code().sqlstate());
    assertEquals(
        List.of("2"), engine.query("select id from q order by id limit 1 for update skip locked"));
    assertEquals(List.of("1", "2", "3"), engine.query("select id from q order by id"));
    engine.rollback(first);
    assertEquals(List.of("1"), engine.query("select id from q where id = 1 for update nowait"));
  }

  @Test
  void shouldWaitForALockAndSeeTheRowAsItsHolderLeftIt() {
    EngineTransaction first = engine.begin(Isolation.READ_COMMITTED);
    engine.run(first, "select id from q where id = 1 for update");
    EngineTransaction second = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running waiting =
        engine.start(
            second,
            engine.prepare("select state from q where id = 1 for update"),
            NO_PARAMETERS,
            Integer.MAX_VALUE,
            0);
    engine.run(first, "update q set state = 'done' where id = 1");
    assertFalse(waiting.done.isDone());
    engine.commit(first);
    assertEquals(List.of("done"), waiting.await().rows());
    engine.commit(second);
  }

  @Test
  void shouldFailInRepeatableReadWhenTheRowHasChanged() {
    EngineTransaction reader = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(reader, "select * from q");
    engine.run("update q set state = 'done' where id = 1");
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> engine.run(reader, "select * from q where id = 1 for update"));
    assertEquals("40001", refused.code().sqlstate());
    engine.rollback(reader);
  }

  @Test
  void shouldRefuseLocksInReadOnlyTransaction() {
    EngineTransaction reader =
        engine.engine.begin(new BeginOptions(Kind.RTX, Isolation.REPEATABLE_READ, "reader"));
    EngineException refused =
        assertThrows(EngineException.class, () -> engine.run(reader, "select * from q for update"));
    assertEquals("25006", refused.code().sqlstate());
    engine.rollback(reader);
  }

  @Test
  void shouldGiveEachRowOfAQueueToOneWorkerOnly() throws InterruptedException {
    int rows = 60;
    for (int i = 4; i <= rows; i++) {
      engine.run("insert into q values (" + i + ", 'new')");
    }
    AtomicInteger taken = new AtomicInteger();
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      workers.add(
          Thread.startVirtualThread(() -> {
            while (true) {
              List<String> got =
                  engine.query(
                      "delete from q where id in (select id from q order by id limit 1"
                          + " for update skip locked) returning id");
              taken.addAndGet(got.size());
              // Nothing left, or every row locked by the others just now.
              if (got.isEmpty() && engine.query("select 1 from q limit 1").isEmpty()) {
                return;
              }
            }
          }));
    }
    for (Thread worker : workers) {
      worker.join();
    }
    assertEquals(rows, taken.get());
  }
}
