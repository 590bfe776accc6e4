package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.queue.ListQueues;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// CREATE, ALTER and DROP QUEUE and their relatives: objects of the catalogue.
final class QueueStatementTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = TestEngine.withQueues(directory, ListQueues::new);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private ListQueues queues() {
    engine.awaitDurable();
    return (ListQueues) java.util.Objects.requireNonNull(engine.engine.queues());
  }

  private QueueOptions options(String name) {
    return queues().definitions().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow()
        .options();
  }

  private void assertRefused(String sqlstate, String message, String sql) {
    EngineException refused = assertThrows(EngineException.class, () -> engine.query(sql), sql);
    assertEquals(sqlstate, refused.code().sqlstate(), () -> sql + ": " + refused.getMessage());
    assertTrue(
        String.valueOf(refused.getMessage()).contains(message),
        () -> sql + ": " + refused.getMessage());
  }

  @Test
  void shouldTellTheQueuesWhatAStatementSays() {
    engine.query("create queue dead");
    engine.query(
        "create queue mail with (lease = '2min', max_attempts = 8, min_backoff = '250ms',"
            + " max_backoff = '10min', max_doublings = 5, age_limit = '2d', dead_letter = 'dead',"
            + " rate = '90/min', bucket_size = 7, max_concurrent = 50, key_rate = '0.5/s',"
            + " key_bucket_size = 2, key_max_concurrent = 1, order = 'key', aging = none,"
            + " push_deadline = '5s', jitter = 0.25)");
    QueueOptions is = options("mail");
    long dead =
        queues().definitions().stream()
            .filter(each -> each.name().equals("dead"))
            .findFirst()
            .orElseThrow()
            .queueId();
    assertEquals(
        new QueueOptions(
            120_000,
            new QueueOptions.Retry(8, 250, 600_000, 5, 0.25, 172_800_000, dead),
            new QueueOptions.StartLimits(1.5, 7, 50),
            new QueueOptions.StartLimits(0.5, 2, 1),
            true,
            0,
            false,
            new QueueOptions.Push(null, 5_000)),
        is);
    engine.query("alter queue mail set (rate = 0, lease = '1s')");
    assertEquals(0, options("mail").limits().rate());
    assertEquals(1000, options("mail").push().deadlineMillis());
    engine.query("alter queue mail reset (rate, aging)");
    assertEquals(-1, options("mail").limits().rate());
    assertEquals(60_000, options("mail").agingMillis());
    engine.query("alter queue mail pause");
    assertTrue(options("mail").paused());
    engine.query("alter queue mail resume");
    assertFalse(options("mail").paused());
    engine.query("alter queue mail push to 'http://localhost:8080/mail'");
    assertEquals("http://localhost:8080/mail", options("mail").push().target());
    engine.query("alter queue mail push to none");
    assertEquals(null, options("mail").push().target());
  }

  @Test
  void shouldRefuseOptionsThatMakeNoSense() {
    assertRefused("22023", "no option \"leese\"", "create queue q with (leese = '1s')");
    assertEquals(
        "Perhaps you meant \"lease\".",
        assertThrows(
                EngineException.class, () -> engine.query("create queue q with (leese = '1s')"))
            .hint());
    assertRefused("42601", "redundant", "create queue q with (lease = '1s', lease = '2s')");
    assertRefused("22023", "months", "create queue q with (lease = '1 month')");
    assertRefused("22023", "lease must be between", "create queue q with (lease = '99ms')");
    assertRefused("22023", "negative", "create queue q with (min_backoff = '-1s')");
    assertRefused("22007", "interval", "create queue q with (lease = 'soon')");
    assertRefused(
        "22023", "min_backoff", "create queue q with (min_backoff = '2s', max_backoff = '1s')");
    assertRefused("22023", "rate", "create queue q with (rate = '5/fortnight')");
    assertRefused("22023", "rate", "create queue q with (rate = 'NaN')");
    assertRefused("22023", "bucket_size", "create queue q with (bucket_size = 0)");
    assertRefused("22023", "max_attempts", "create queue q with (max_attempts = 1.5)");
    assertRefused("22023", "order", "create queue q with (order = 'fifo')");
    assertRefused(
        "22023", "push_deadline", "create queue q with (lease = '1s', push_deadline = '2s')");
    assertRefused("42704", "does not exist", "create queue q with (dead_letter = 'none_such')");
    engine.query("create queue q");
    assertRefused("22023", "target", "alter queue q push to 'file:///etc/passwd'");
    assertRefused("22023", "target", "alter queue q push to 'http://user@host/'");
    assertRefused("22023", "weight", "alter queue q set weight 'a' to 0");
    assertRefused("22023", "cron", "alter queue q add schedule s cron '* * *' payload '1'");
    assertRefused("22023", "cron", "alter queue q add schedule s cron '60 * * * *' payload '1'");
    assertRefused("22P02", "json", "alter queue q add schedule s cron '* * * * *' payload '{'");
    assertEquals(1, queues().definitions().size());
  }

  @Test
  void shouldRefuseDeadLettersThatComeBack() {
    engine.query("create queue a");
    engine.query("create queue b with (dead_letter = 'a')");
    engine.query("create queue c with (dead_letter = 'b')");
    assertRefused("22023", "own dead letter", "alter queue a set (dead_letter = 'a')");
    assertRefused("22023", "come back", "alter queue a set (dead_letter = 'c')");
    assertRefused("2BP01", "depend", "drop queue b");
    engine.query("drop queue b cascade");
    assertEquals(0, options("c").retry().deadLetter());
    engine.query("drop queue a, c");
    assertTrue(queues().queueIds().isEmpty());
  }

  @Test
  void shouldShareTheNamesOfASchemaWithRelations() {
    engine.query("create table t (id int primary key)");
    engine.query("create queue q");
    assertRefused("42P07", "already exists", "create queue t");
    assertRefused("42P07", "already exists", "create table q (id int)");
    assertRefused("42P07", "already exists", "create sequence q");
    assertRefused("42809", "not a queue", "drop queue t");
    assertRefused("42809", "not a table", "drop table q");
    assertRefused("42704", "does not exist", "drop queue none_such");
    engine.query("drop queue if exists none_such");
    engine.query("create queue if not exists q");
    engine.query("create schema s");
    engine.query("alter queue q rename to r");
    engine.query("alter queue r set schema s");
    engine.query("alter schema s rename to n");
    assertRefused("2BP01", "depend", "drop schema n");
    assertEquals(
        List.of("n|r"),
        engine.query("select queue_schema, queue_name from kakehashi_catalog.queues"));
    engine.query("drop schema n cascade");
    assertTrue(queues().definitions().isEmpty());
    assertTrue(queues().queueIds().isEmpty());
  }

  @Test
  void shouldUndoDefinitionsWithTheirTransaction() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "create queue q");
    engine.rollback(transaction);
    assertTrue(queues().definitions().isEmpty());
    assertRefused("42704", "does not exist", "select enqueue('q', '1')");
    engine.query("create queue q");
    transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "drop queue q");
    engine.rollback(transaction);
    assertEquals(1, queues().definitions().size());
    assertEquals(1, queues().queueIds().size());
  }

  @Test
  void shouldKeepWeightsAndSchedules() {
    engine.query("create queue q");
    engine.query("alter queue q set weight 'tenant 7' to 2.5");
    engine.query(
        "alter queue q add schedule hourly cron '0 * * * *' zone 'Europe/Berlin' payload '{ \"a\":1}'");
    assertRefused(
        "42710", "hourly", "alter queue q add schedule hourly cron '0 * * * *' payload '1'");
    engine.query("comment on queue q is 'the queue'");
    List<String> definitions = new ArrayList<>(engine.engine.definitions());
    engine.close();
    engine = TestEngine.withQueues(directory, ListQueues::new);
    assertEquals(definitions, engine.engine.definitions());
    assertTrue(
        definitions.contains("COMMENT ON QUEUE public.q IS 'the queue'"), definitions::toString);
    TestEngine copy = TestEngine.withQueues(directory.resolve("copy"), ListQueues::new);
    try {
      definitions.forEach(copy::query);
      assertEquals(definitions, copy.engine.definitions());
    } finally {
      copy.close();
    }
    engine.query("alter queue q drop schedule hourly");
    assertRefused("42704", "hourly", "alter queue q drop schedule hourly");
  }

  @Test
  void shouldMakeQueuesAgainFromTheirDefinitions() {
    engine.query("create queue q");
    engine.query("create queue dead");
    engine.query(
        "alter queue q set (dead_letter = dead, rate = '10/min', age_limit = '36h', order = key, lease = '1500ms')");
    engine.query("alter queue q pause");
    engine.query("alter queue q push to 'https://example.org/x'");
    QueueOptions before = options("q");
    List<String> definitions = engine.engine.definitions();
    engine.query("drop queue q, dead");
    definitions.forEach(engine::query);
    QueueOptions after = options("q");
    assertEquals(before.limits().rate(), after.limits().rate());
    assertEquals(definitions, engine.engine.definitions());
    assertTrue(after.paused() && after.orderByKey() && after.retry().deadLetter() != 0);
  }
}
