package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.FreePorts;
import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Commits that wait for a standby.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(300)
class SynchronousStandbyTest {
  private static final int CLIENTS = 4;

  /// Status of a process that did not come to the end of its stop.
  private static final int STOP_LIMIT_STATUS = 70;

  private EndpointProcess primary;
  private EndpointProcess standby;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    int port = FreePorts.next();
    primary = EndpointProcess.open("http_port=" + port, "synchronous_patience=500ms");
    try (Session session = primary.attach()) {
      session.execute("create table entry (id int8 primary key)");
      session.execute("create role replica login password 'secret'");
      session.execute("grant kakehashi_replication to replica");
    }
    Path backup = home.resolve("backup");
    primary.ask("backup", backup.toString(), "-q").expect(0);
    Path password = home.resolve("password");
    Files.writeString(password, "secret\n");
    standby =
        EndpointProcess.prepare(
            "primary=http://127.0.0.1:" + port,
            "primary_user=replica",
            "primary_password_file=" + password,
            "standby_name=second");
    Command.run("restore", "--standby", backup.toString(), standby.dataDirectory().toString())
        .expect(0);
    standby.start();
    set("synchronous_standby", "second");
  }

  @AfterEach
  void stop() throws IOException {
    standby.close();
    primary.close();
  }

  private void set(String setting, String value) {
    try (Session session = primary.attach()) {
      session.execute("alter system set %s = '%s'".formatted(setting, value));
    }
    primary.ask("reload").expect(0);
  }

  private static long count(Session session, String sql) {
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  private Void commit(AtomicLong next, ConcurrentSkipListSet<Long> acknowledged) {
    try (Session session = primary.attach()) {
      while (true) {
        long id = next.getAndIncrement();
        session.execute("insert into entry values (%d)".formatted(id));
        acknowledged.add(id);
      }
    } catch (EndpointException | TransportException e) {
      return null; // killed
    }
  }

  @Test
  void shouldHaveEachAcknowledgedCommitWhenThePrimaryIsKilled() throws Exception {
    AtomicLong next = new AtomicLong(1);
    ConcurrentSkipListSet<Long> acknowledged = new ConcurrentSkipListSet<>();
    try (ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        running.add(clients.submit(() -> commit(next, acknowledged)));
      }
      Await.until("commits", () -> acknowledged.size() >= 200);
      primary.kill();
      long killed = System.nanoTime();
      standby.ask("promote").expect(0, "promoted; the log goes on at 2/");
      try (Session session = standby.attach()) {
        session.execute("insert into entry values (-1)");
        System.out.println(
            "takeover: %d ms".formatted(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed)));
        TreeSet<Long> lost = new TreeSet<>(acknowledged);
        try (PreparedStatement query = session.prepare("select id from entry");
            Rows rows = session.query(query)) {
          while (rows.next()) {
            lost.remove(rows.getLong(0));
          }
        }
        assertEquals(List.of(), List.copyOf(lost), "acknowledged, and not there");
      }
      for (Future<Void> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void shouldWaitForAStandbyThatIsAwayOrGoOnAloneAsItIsSet() throws Exception {
    try (Session session = primary.attach();
        ExecutorService client = Executors.newSingleThreadExecutor()) {
      session.execute("insert into entry values (1)");
      standby.kill();
      Future<?> waiting = client.submit(() -> session.execute("insert into entry values (2)"));
      Await.until(
          "the wait",
          () ->
              primary
                  .ask("status")
                  .output()
                  .contains("commits are kept waiting by standby second (stored)"));
      assertFalse(waiting.isDone(), "told before the standby has it");
      standby.start();
      waiting.get(100, TimeUnit.SECONDS);

      set("synchronous_away", "alone");
      standby.kill();
      session.execute("insert into entry values (3)");
      primary.ask("status").expect(0, "commits go on without standby second (stored)");
      standby.start();
      Await.until(
          "the standby",
          () -> primary.ask("status").output().contains("commits wait for standby second"));
    }
  }

  /// Nobody may be told that the standby has it, and the stop may not wait for that.
  @Test
  void shouldStopWhileACommitWaits() throws Exception {
    standby.kill();
    try (ExecutorService client = Executors.newSingleThreadExecutor()) {
      Future<?> waiting =
          client.submit(() -> {
            try (Session session = primary.attach()) {
              session.execute("insert into entry values (7)");
            }
          });
      Await.until(
          "the wait",
          () -> primary.ask("status").output().contains("commits are kept waiting by standby"));
      primary.stop();
      ExecutionException told =
          assertThrows(ExecutionException.class, () -> waiting.get(60, TimeUnit.SECONDS));
      assertTrue(
          told.getCause() instanceof TransportException
              || told.getCause() instanceof EndpointException,
          told::toString);
    }
    assertNotEquals(STOP_LIMIT_STATUS, primary.awaitEnd());
    primary.start();
    standby.start();
    try (Session session = standby.attach()) {
      Await.untilEquals("the commit", 1L, () -> count(session, "select count(*) from entry"));
    }
  }

  @Test
  void shouldShowCommitsToReadersOfTheStandbyAtLevelApplied() {
    set("synchronous_level", "applied");
    try (Session session = primary.attach();
        Session reader = standby.attach()) {
      for (int i = 1; i <= 50; i++) {
        session.execute("insert into entry values (%d)".formatted(i));
        assertEquals(i, count(reader, "select count(*) from entry"));
      }
    }
  }
}
