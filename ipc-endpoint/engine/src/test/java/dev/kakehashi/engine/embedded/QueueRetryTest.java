package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A statement that meets a conflict after it has enqueued is run anew, or fails: what it has enqueued before is undone.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
final class QueueRetryTest {
  private static final String CHANGE =
      "update t set v = v + 1 where enqueue('q', to_jsonb(id)) > 0 and id <= 2";

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = TestEngine.withQueues(directory, ListQueues::new);
    engine.query("create queue q");
    engine.query("create table t (id int primary key, v int)");
    engine.query("insert into t values (1, 0), (2, 0)");
    engine.awaitDurable();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private List<String> payloads() {
    engine.awaitDurable();
    ListQueues queues = (ListQueues) Objects.requireNonNull(engine.engine.queues());
    return queues.payloads(queues.definitions().getFirst().queueId()).stream().sorted().toList();
  }

  /// Lets a change wait for another transaction's, which commits then.
  private TestEngine.Running startInto(EngineTransaction transaction) {
    EngineTransaction other = engine.begin(Isolation.READ_COMMITTED);
    engine.run(other, "update t set v = 10 where id = 2");
    TestEngine.Running change = engine.start(transaction, CHANGE, ExecuteOptions.DEFAULT);
    Await.until(
        "the change waits", () -> !engine.query("select 1 from kakehashi_catalog.waits").isEmpty());
    engine.commit(other);
    return change;
  }

  @Test
  void shouldEnqueueOnceInAStatementThatIsRunAnew() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    assertEquals(2, startInto(transaction).await().count());
    engine.commit(transaction);
    assertEquals(List.of("1", "2"), payloads());
    assertEquals(List.of("1", "11"), engine.query("select v from t order by id"));
  }

  @Test
  void shouldEnqueueNothingInAStatementThatFailsForItsSnapshot() {
    EngineTransaction transaction = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(transaction, "select enqueue('q', '\"before\"')");
    TestEngine.Running change = startInto(transaction);
    TestEngine.assertState("40001", change::await);
    engine.commit(transaction);
    assertEquals(List.of("\"before\""), payloads());
  }
}
