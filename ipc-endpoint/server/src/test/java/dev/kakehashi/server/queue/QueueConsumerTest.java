package dev.kakehashi.server.queue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Consumer;
import dev.kakehashi.client.ConsumerOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.QueueTask;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.server.HttpEndpoint;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// Consumers of the Java client.
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before each test
class QueueConsumerTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private HttpEndpoint endpoint;
  private Session session;
  private TaskQueue queue;
  private int queues;

  @BeforeAll
  void start() throws IOException {
    endpoint = HttpEndpoint.start();
  }

  @AfterAll
  void stop() throws Exception {
    endpoint.close();
  }

  @BeforeEach
  void makeQueue() {
    session = endpoint.attach("alice");
    queue = queue("max_attempts = 5, min_backoff = '1ms', max_backoff = '5ms'");
  }

  @AfterEach
  void detach() {
    session.close();
  }

  private TaskQueue queue(String options) {
    String name = "c" + ++queues;
    session.execute("CREATE QUEUE " + name + " WITH (" + options + ")");
    return session.queue(name);
  }

  private long count(String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      long count = rows.getLong(0);
      assertFalse(rows.next());
      return count;
    }
  }

  @Test
  void shouldTakeEachEffectOnceThoughAttemptsFail() {
    int tasks = 200;
    session.execute("CREATE TABLE effects (id int8 PRIMARY KEY)");
    List<TaskDraft> drafts = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      drafts.add(TaskDraft.ofJson(Integer.toString(i)));
    }
    assertEquals(tasks, queue.enqueue(null, drafts).stream().distinct().count());
    AtomicInteger told = new AtomicInteger();
    ConsumerOptions options =
        ConsumerOptions.DEFAULT
            .withConcurrency(4)
            .withPrefetch(8)
            .onFailure((task, failure) -> told.incrementAndGet());
    try (Consumer consumer =
        queue
            .consumer(options)
            .start((task, transaction) -> {
              long id = Long.parseLong(task.json());
              try (PreparedStatement insert =
                  transaction.session().prepare("INSERT INTO effects VALUES ($1)")) {
                transaction.update(insert, insert.parameters().addRow(id));
              }
              if (id % 10 == 0 && task.attempt() == 1) {
                throw new IOException("the first time fails");
              }
              if (id % 10 == 0) {
                assertEquals(
                    "java.io.IOException: the first time fails", String.valueOf(task.lastError()));
              }
            })) {
      Await.until("all tasks to be done", () -> consumer.completed() == tasks);
      assertEquals(tasks / 10, consumer.failed());
      assertEquals(tasks / 10, told.get());
      assertEquals(0, consumer.lost());
    }
    assertEquals(tasks, count("SELECT count(*) FROM effects"));
    assertTrue(queue.receive(Duration.ZERO).isEmpty());
  }

  @Test
  void shouldKeepTheLeaseOfATaskThatTakesLonger() {
    // Long enough for a machine that is busy to extend it in time.
    TaskQueue shortly = queue("lease = '4s'");
    shortly.enqueue("1");
    CountDownLatch never = new CountDownLatch(1);
    try (Consumer consumer =
        shortly
            .consumer(ConsumerOptions.DEFAULT)
            .start((task, transaction) -> {
              assertFalse(never.await(6, TimeUnit.SECONDS));
              assertFalse(task.lost());
              assertEquals(1, task.attempt());
            })) {
      Await.until("the task to be done", () -> consumer.completed() == 1);
      assertEquals(0, consumer.failed());
    }
  }

  @Test
  void shouldTellWhoHasLostALease() {
    queue.enqueue("1");
    QueueTask task = queue.receive(SOON).orElseThrow();
    assertFalse(task.lost());
    task.extend(Duration.ofMillis(1));
    QueueTask again = queue.receive(SOON).orElseThrow();
    assertTrue(task.lost());
    assertEquals(2, again.attempt());
    assertEquals("55K01", assertThrows(EndpointException.class, task::complete).sqlstate());
    assertEquals(
        "55K01", assertThrows(EndpointException.class, () -> task.extend(null)).sqlstate());
    again.extend(SOON);
    again.complete();
  }

  @Test
  void shouldDrainAndGiveBackTheRestWhenItIsClosed() throws InterruptedException {
    List<TaskDraft> drafts = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      drafts.add(TaskDraft.ofJson(Integer.toString(i)));
    }
    queue.enqueue(null, drafts);
    CountDownLatch working = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Consumer consumer =
        queue
            .consumer(ConsumerOptions.DEFAULT.withPrefetch(10))
            .start((task, transaction) -> {
              working.countDown();
              goOn.await();
            });
    working.await();
    Thread closer = Thread.ofPlatform().start(consumer::close);
    // The rest comes back while the first one is still worked on.
    for (int i = 1; i < 5; i++) {
      QueueTask task = queue.receive(SOON).orElseThrow();
      assertEquals(Integer.toString(i), task.json());
      assertEquals(1, task.attempt());
      task.complete();
    }
    assertEquals(0, consumer.completed());
    goOn.countDown();
    closer.join();
    assertEquals(1, consumer.completed());
    assertTrue(queue.receive(Duration.ZERO).isEmpty());
  }

  @Test
  void shouldInterruptAHandlerThatDoesNotEndAndFailItsTask() {
    queue.enqueue("1");
    CountDownLatch working = new CountDownLatch(1);
    Consumer consumer =
        queue
            .consumer(ConsumerOptions.DEFAULT.withDrain(Duration.ofMillis(50)))
            .start((task, transaction) -> {
              working.countDown();
              new CountDownLatch(1).await();
            });
    assertTrue(awaits(working));
    consumer.close();
    QueueTask task = queue.receive(SOON).orElseThrow();
    assertEquals(2, task.attempt());
    task.complete();
  }

  private static boolean awaits(CountDownLatch latch) {
    try {
      return latch.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Test
  void shouldCarryPayloadsThatAreLongerThanARequest() {
    byte[] longest = new byte[1 << 20];
    longest[longest.length - 1] = 7;
    queue.enqueue(null, TaskDraft.ofBytes(longest));
    List<TaskDraft> drafts = List.of(TaskDraft.ofJson("1"), TaskDraft.ofBytes(longest));
    assertEquals(2, queue.enqueue(null, drafts).size());
    assertArrayEquals(longest, queue.receive(SOON).orElseThrow().bytes());
    assertEquals("1", queue.receive(SOON).orElseThrow().json());
    assertArrayEquals(longest, queue.receive(SOON).orElseThrow().bytes());
    assertEquals(
        "54000",
        assertThrows(
                EndpointException.class,
                () -> queue.enqueue(null, TaskDraft.ofBytes(new byte[(1 << 20) + 1])))
            .sqlstate());
  }

  @Test
  void shouldBeThereForTasksThatComeLater() {
    AtomicInteger done = new AtomicInteger();
    try (Consumer consumer =
        queue
            .consumer(ConsumerOptions.DEFAULT)
            .start((task, transaction) -> done.incrementAndGet())) {
      for (int i = 1; i <= 3; i++) {
        queue.enqueue(Integer.toString(i));
        int expected = i;
        Await.until("the task", () -> consumer.completed() == expected);
      }
      assertEquals(3, done.get());
    }
  }
}
