package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.QueueTask;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tasks and rows of the same transactions, through kills of the endpoint, backup and restore, and two phases.
///
/// Each producer's transaction inserts an item and enqueues a task with its number; each consumer's inserts the item's effect and completes
/// the task.
@Timeout(300)
@SuppressWarnings("NullAway.Init") // set before each test
class QueueCrashTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 1);
  private static final int PRODUCERS = 2;
  private static final int CONSUMERS = 2;
  private static final long TRANSACTIONS_OF_ROUND = 40;

  private final Set<Long> enqueued = ConcurrentHashMap.newKeySet();
  private final Set<Long> completed = ConcurrentHashMap.newKeySet();
  private final AtomicLong nextItem = new AtomicLong(1);
  private volatile boolean stopping;
  private EndpointProcess endpoint;
  @TempDir private Path home;

  @BeforeEach
  void start() throws IOException {
    endpoint = EndpointProcess.open();
    try (Session session = endpoint.attach()) {
      session.execute("create table item (id int8 primary key)");
      session.execute("create table effect (id int8 primary key)");
      session.execute("create queue work with (min_backoff = '1ms', max_attempts = 0)");
    }
  }

  @AfterEach
  void stop() throws IOException {
    endpoint.close();
  }

  private static List<Long> numbers(Session session, String sql) {
    List<Long> found = new ArrayList<>();
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      while (rows.next()) {
        found.add(rows.getLong(0));
      }
    }
    return found;
  }

  private static void produce(
      Session session, TaskQueue queue, long id, @Nullable String prepareAs) {
    try (PreparedStatement insert = session.prepare("insert into item values ($1)")) {
      Transaction transaction = session.begin();
      transaction.update(insert, insert.parameters().addRow(id));
      queue.enqueue(transaction, TaskDraft.ofJson(String.valueOf(id)));
      if (prepareAs == null) {
        transaction.commit();
      } else {
        transaction.prepare(prepareAs);
      }
    }
  }

  private Void produceUntilTheEnd() {
    try (Session session = endpoint.attach()) {
      TaskQueue queue = session.queue("work");
      while (!stopping) {
        long id = nextItem.getAndIncrement();
        produce(session, queue, id, null);
        enqueued.add(id);
      }
    } catch (EndpointException e) {
      assertTrue(stopping, e::toString);
    }
    return null;
  }

  private static long consume(Session session, QueueTask task, @Nullable String prepareAs) {
    long id = Long.parseLong(task.json());
    try (PreparedStatement insert = session.prepare("insert into effect values ($1)")) {
      Transaction transaction = session.begin();
      transaction.update(insert, insert.parameters().addRow(id));
      task.complete(transaction);
      if (prepareAs == null) {
        transaction.commit();
      } else {
        transaction.prepare(prepareAs);
      }
    }
    return id;
  }

  private Void consumeUntilTheEnd() {
    try (Session session = endpoint.attach()) {
      TaskQueue queue = session.queue("work");
      while (!stopping) {
        Optional<QueueTask> task = queue.receive(Duration.ofMillis(100));
        if (task.isPresent()) {
          completed.add(consume(session, task.get(), null));
        }
      }
    } catch (EndpointException e) {
      assertTrue(stopping, e::toString);
    }
    return null;
  }

  private interface Interruption {
    void run() throws Exception;
  }

  /// Lets producers and consumers run until some have committed, and does something to them.
  private void underLoad(Interruption what) throws Exception {
    stopping = false;
    long until = completed.size() + TRANSACTIONS_OF_ROUND;
    try (ExecutorService clients = Executors.newFixedThreadPool(PRODUCERS + CONSUMERS)) {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < PRODUCERS; i++) {
        running.add(clients.submit(this::produceUntilTheEnd));
      }
      for (int i = 0; i < CONSUMERS; i++) {
        running.add(clients.submit(this::consumeUntilTheEnd));
      }
      try {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (completed.size() < until) {
          assertTrue(System.nanoTime() < deadline, "nothing goes on");
          assertTrue(running.stream().noneMatch(Future::isDone), "somebody has given up");
          TimeUnit.MILLISECONDS.sleep(1);
        }
        what.run();
      } finally {
        stopping = true;
      }
      for (Future<Void> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
  }

  /// Every item has its effect, or its task; what was acknowledged is there.
  private static void assertWhole(Session session, Set<Long> items, Set<Long> effects) {
    List<Long> stored = numbers(session, "select id from item order by id");
    List<Long> done = numbers(session, "select id from effect order by id");
    List<Long> tasks = new ArrayList<>();
    TaskQueue queue = session.queue("work");
    Optional<QueueTask> task = queue.receive(Duration.ZERO);
    List<QueueTask> held = new ArrayList<>();
    while (task.isPresent()) {
      held.add(task.get());
      tasks.add(Long.parseLong(task.get().json()));
      task = queue.receive(Duration.ZERO);
    }
    held.forEach(QueueTask::release);
    assertEquals(tasks.size(), new HashSet<>(tasks).size(), "tasks are there twice");
    Set<Long> either = new HashSet<>(done);
    either.addAll(tasks);
    assertEquals(new HashSet<>(stored), either);
    assertEquals(stored.size(), done.size() + tasks.size());
    assertTrue(stored.containsAll(items), "an item is lost");
    assertTrue(done.containsAll(effects), "an effect is lost");
    assertEquals(
        List.of(0L),
        numbers(
            session,
            "select enqueued - ready - delayed - leased - done - dead - canceled"
                + " from kakehashi_catalog.queues"));
  }

  @Test
  void shouldHaveEachEffectOnceThroughKills() throws Exception {
    for (int kill = 0; kill < KILLS; kill++) {
      underLoad(() -> {
        stopping = true;
        endpoint.kill();
      });
      if (kill == KILLS - 1) {
        Command.run("check", endpoint.dataDirectory().toString())
            .expect(0, "queues: 1, ", "no problems");
      }
      endpoint.start();
      try (Session session = endpoint.attach()) {
        assertWhole(session, enqueued, completed);
      }
    }
    endpoint.stop();
    Command.run("check", endpoint.dataDirectory().toString()).expect(0, "no problems");
  }

  @Test
  void shouldBackUpAndRestoreTasksWithTheirRows() throws Exception {
    Path target = home.resolve("backup");
    Set<Long> before = new HashSet<>();
    Set<Long> effects = new HashSet<>();
    underLoad(() -> {
      before.addAll(enqueued);
      effects.addAll(completed);
      Command.run(
              "backup",
              target.toString(),
              "-D",
              endpoint.dataDirectory().toString(),
              "-R",
              endpoint.runtimeDirectory().toString())
          .expect(0);
    });
    Command.run("check", target.toString()).expect(0, "queues: 1, ", "no problems");
    endpoint.kill();
    Directories.deleteContent(endpoint.dataDirectory());
    Command.run("restore", target.toString(), endpoint.dataDirectory().toString()).expect(0);
    endpoint.start();
    try (Session session = endpoint.attach()) {
      assertWhole(session, before, effects);
    }
  }

  @Test
  void shouldUndoTasksAndKeepPreparedOnesThroughAKill() throws Exception {
    try (Session session = endpoint.attach()) {
      TaskQueue queue = session.queue("work");
      undo(session, queue);
      consume(session, queue.receive(Duration.ofSeconds(20)).orElseThrow(), null);
      produce(session, queue, 1, null);
      produce(session, queue, 2, "two");
      produce(session, queue, 3, "three");
      consume(session, queue.receive(Duration.ofSeconds(20)).orElseThrow(), "effect of one");
      assertTrue(queue.receive(Duration.ZERO).isEmpty());
    }
    endpoint.kill();
    endpoint.start();
    try (Session session = endpoint.attach()) {
      TaskQueue queue = session.queue("work");
      assertTrue(queue.receive(Duration.ZERO).isEmpty(), "nothing is decided");
      session.rollbackPrepared("two");
      session.commitPrepared("three");
      QueueTask third = queue.receive(Duration.ofSeconds(20)).orElseThrow();
      assertEquals("3", third.json());
      assertTrue(queue.receive(Duration.ZERO).isEmpty());
      session.rollbackPrepared("effect of one");
      QueueTask first = queue.receive(Duration.ofSeconds(20)).orElseThrow();
      assertEquals("1", first.json());
      assertEquals(2, first.attempt());
      consume(session, first, null);
      consume(session, third, null);
      assertWhole(session, Set.of(1L, 3L), Set.of(1L, 3L));
    }
  }

  /// Statements and savepoints that are undone leave no task.
  private static void undo(Session session, TaskQueue queue) {
    try (PreparedStatement insert =
            session.prepare(
                "insert into item select 100 / (3 - g) from generate_series(1, 3) g"
                    + " where enqueue('work', '1'::jsonb) > 0");
        PreparedStatement one = session.prepare("insert into item values (7)")) {
      Transaction transaction = session.begin();
      transaction.update(one);
      queue.enqueue(transaction, TaskDraft.ofJson("7"));
      int level = transaction.savepoint();
      queue.enqueue(transaction, TaskDraft.ofJson("8"));
      transaction.rollbackToSavepoint(level);
      assertThrows(EndpointException.class, () -> transaction.update(insert));
      transaction.rollbackToSavepoint(level);
      transaction.commit();
    }
    assertWhole(session, Set.of(7L), Set.of());
    // Nor does a select that fails after it has enqueued, whatever becomes of its transaction.
    try (PreparedStatement select =
        session.prepare(
            "select enqueue('work', '1'::jsonb), 1 / (2 - g) from generate_series(1, 2) g")) {
      Transaction transaction = session.begin();
      int level = transaction.savepoint();
      assertThrows(
          EndpointException.class,
          () -> {
            try (Rows rows = transaction.query(select)) {
              while (rows.next()) {
                assertTrue(rows.getLong(0) > 0);
              }
            }
          });
      transaction.rollbackToSavepoint(level);
      transaction.commit();
    }
    assertWhole(session, Set.of(7L), Set.of());
  }
}
