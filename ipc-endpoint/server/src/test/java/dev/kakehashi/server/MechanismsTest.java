package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.socket.RuntimeLocation;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/// Each mechanism of the scheduler that the endpoint lives on, at work in a running one with the embedded engine: by what its
/// status and its log say.
@Timeout(180)
@SuppressWarnings("NullAway.Init") // set before each test
class MechanismsTest {
  private static final long LIMIT_SECONDS = 60;
  private static final String HEAVY =
      "select count(*) from generate_series(1, 3000) a, generate_series(1, 1000) b";

  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private Path root;
  private EndpointServer server;
  private Session session;

  @BeforeEach
  void start() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    log.start();
    schedulersLog().addAppender(log);
    server =
        EndpointServer.start(
            Settings.defaults()
                .set("data_directory", root.resolve("data").toString())
                .set("runtime_directory", root.resolve("run").toString())
                .set("worker_threads", "2")
                // A task that is asked to yield after the default 10 ms has been reported by then.
                .set("scheduler_hang_after", "1ms"),
            new EmbeddedEngineFactory());
    session = attach();
    session.execute("create table t (id int8 primary key, v int8)");
    session.execute("insert into t select i, i from generate_series(1, 1000) i");
  }

  @AfterEach
  void stop() throws IOException {
    session.close();
    server.close();
    schedulersLog().detachAppender(log);
    Directories.delete(root);
  }

  private static Logger schedulersLog() {
    return (Logger) LoggerFactory.getLogger(SchedulerSettings.class);
  }

  private Session attach() {
    return Session.attach(AttachOptions.of(root.resolve("run")));
  }

  private long metric(String name) {
    try {
      String json = StatusSocket.ask(new RuntimeLocation(root.resolve("run"), "")).metrics();
      assertTrue(json.contains("\"" + name + "\":"), json);
      return Long.parseLong(json.replaceFirst(".*?\"" + name + "\":(\\d+).*", "$1"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void awaitMore(String name, long than) {
    Await.until(name + " is more than " + than, () -> metric(name) > than);
  }

  private long number(String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  /// Statements are jobs: those of one key run on the thread that receives them, those of many rows on the workers.
  @Test
  void shouldRunLightStatementsWhereTheyArriveAndOthersOnWorkers() {
    long jobs = metric("jobs.done");
    long onCaller = metric("jobs.onCaller");
    for (int i = 1; i <= 50; i++) {
      assertEquals(i, number("select v from t where id = " + i));
    }
    // A job is counted after its answer has been given.
    awaitMore("jobs.done", jobs + 49);
    assertTrue(metric("jobs.onCaller") > onCaller);
    awaitMore("latency.jobWall.count", 0);

    jobs = metric("jobs.done");
    onCaller = metric("jobs.onCaller");
    long taken = metric("inbox.taken");
    assertEquals(3_000_000, number(HEAVY));
    awaitMore("jobs.done", jobs);
    assertEquals(onCaller, metric("jobs.onCaller"));
    assertTrue(metric("inbox.taken") > taken);
  }

  /// Flow control: a statement whose reader is slow waits as a condition, which the reader's progress signals.
  @Test
  void shouldWaitForASlowReaderAsACondition() {
    long waits = metric("condition.waits");
    long fired = metric("condition.fired");
    try (PreparedStatement statement =
            session.prepare("select i from generate_series(1, 1000000) i");
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      awaitMore("condition.waits", waits);
      long sum = rows.getLong(0);
      while (rows.next()) {
        sum += rows.getLong(0);
      }
      assertEquals(500_000_500_000L, sum);
    }
    assertTrue(metric("condition.fired") > fired);
  }

  /// So does one that finds a row locked; the end of the owner signals it.
  @Test
  void shouldWaitForALockedRowAsACondition() throws Exception {
    try (Session other = attach()) {
      assertWaitsForChange(() -> other.execute("update t set v = v + 10 where id = 1"));
    }
    assertEquals(12, number("select v from t where id = 1"));
  }

  /// And one of a long transaction, until those have ended that changed its tables before its epoch.
  @Test
  void shouldWaitForTheEpochOfALongTransactionAsACondition() throws Exception {
    try (Session other = attach();
        PreparedStatement update = other.prepare("update t set v = v + 10 where id = 2")) {
      assertWaitsForChange(() -> {
        try (Transaction transaction = other.begin(TransactionOptions.writing("t"))) {
          assertEquals(1, transaction.update(update));
          transaction.commit();
        }
      });
    }
    assertEquals(2 + 12, number("select sum(v)::int8 from t where id <= 2"));
  }

  /// That `other` waits as a condition while a transaction that has changed a row goes on, and then not any more.
  private void assertWaitsForChange(Runnable other) throws Exception {
    try (PreparedStatement update = session.prepare("update t set v = v + 1 where id = 1");
        Transaction owner = session.begin(TransactionOptions.DEFAULT)) {
      assertEquals(1, owner.update(update));
      long waits = metric("condition.waits");
      long fired = metric("condition.fired");
      CompletableFuture<Void> waiting = CompletableFuture.runAsync(other);
      awaitMore("condition.waits", waits);
      owner.commit();
      waiting.get(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertTrue(metric("condition.fired") > fired);
    }
  }

  /// The watchdog: tasks of a long statement are asked to yield and do; who runs long is in the log, with its statement.
  @Test
  void shouldAskLongStatementsToYieldAndLogThem() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (metric("preempt.honoured") == 0 || !isLogged("count(*)")) {
      assertTrue(System.nanoTime() < deadline, "neither asked to yield nor reported");
      assertEquals(3_000_000, number(HEAVY));
    }
    assertTrue(metric("hang.detected") > 0);
  }

  private boolean isLogged(String text) {
    synchronized (log) { // as its writers do
      return log.list.stream()
          .map(ILoggingEvent::getFormattedMessage)
          .anyMatch(line -> line.contains("has been running for") && line.contains(text));
    }
  }
}
