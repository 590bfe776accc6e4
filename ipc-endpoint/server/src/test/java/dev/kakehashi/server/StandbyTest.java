package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.FreePorts;
import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A standby that follows the log of a primary; both are killed.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(300)
class StandbyTest {
  private static final int CLIENTS = 3;
  private static final int KILLS = 3;
  private static final Pattern POSITION = Pattern.compile("\n  log: ([0-9a-f/]+)");

  /// Rows of one transaction whose changes are longer than a record of the log.
  private static final int MANY_ROWS = 700_000;

  private final AtomicLong nextId = new AtomicLong(1);
  private final ConcurrentSkipListSet<Long> acknowledged = new ConcurrentSkipListSet<>();
  private volatile boolean stopping;
  private EndpointProcess primary;
  private EndpointProcess standby;
  private int standbyPort;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    int port = FreePorts.next();
    standbyPort = FreePorts.next();
    primary = EndpointProcess.open("http_port=" + port);
    try (Session session = primary.attach()) {
      session.execute("create table entry (id int8 primary key, v text)");
      session.execute("create queue jobs");
      session.execute("create role replica login password 'secret'");
      session.execute("create role other login password 'secret'");
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
            "standby_name=second",
            "http_port=" + standbyPort);
    Command.run("restore", "--standby", backup.toString(), standby.dataDirectory().toString())
        .expect(0, "restored the backup of");
    standby.start();
  }

  @AfterEach
  void stop() throws IOException {
    standby.close();
    primary.close();
  }

  /// Commits rows, each with a task, until it is told to stop.
  private Void commit(long seed) {
    Random random = new Random(seed);
    try (Session session = primary.attach();
        PreparedStatement insert =
            session.prepare(
                "with added as (insert into entry values ($1, $2) returning id) select enqueue('jobs', id::text::bytea) from added")) {
      while (!stopping) {
        long id = nextId.getAndIncrement();
        try (Rows rows =
            session.query(
                insert, insert.parameters().addRow(id, "x".repeat(random.nextInt(3000))))) {
          while (rows.next()) {
            assertTrue(rows.getLong(0) > 0);
          }
        }
        acknowledged.add(id);
      }
    } catch (EndpointException | TransportException e) {
      assertTrue(stopping, "only a kill ends it: " + e);
    }
    return null;
  }

  private interface Step {
    void run() throws Exception;
  }

  /// Lets clients commit while something is done.
  private void whileCommitting(Step step) throws Exception {
    stopping = false;
    try (ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        long seed = i;
        running.add(clients.submit(() -> commit(seed)));
      }
      try {
        step.run();
      } finally {
        stopping = true;
      }
      for (Future<Void> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
  }

  private void awaitCommits(int count) {
    int before = acknowledged.size();
    Await.until("commits", () -> acknowledged.size() >= before + count);
  }

  private static String position(EndpointProcess endpoint) {
    String said = endpoint.ask("status").output();
    Matcher position = POSITION.matcher(said);
    assertTrue(position.find(), said);
    return position.group(1);
  }

  private void awaitStandby() {
    try {
      Await.until("the standby", () -> position(standby).equals(position(primary)));
    } catch (AssertionError e) {
      throw new AssertionError(
          "%s\nprimary: %s\nstandby: %s"
              .formatted(
                  e.getMessage(), primary.ask("status").output(), standby.ask("status").output()),
          e);
    }
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

  /// The endpoint that the standby has become.
  private interface Look {
    void at(Session session);
  }

  private void lookAtPromoted(Look look) {
    try (Session session = standby.attach()) {
      look.at(session);
    }
  }

  @Test
  void shouldTakeOverWithAllCommitsAfterKillsOfBoth() throws Exception {
    for (int kill = 0; kill < KILLS; kill++) {
      boolean isPrimary = kill == 1;
      whileCommitting(() -> {
        awaitCommits(200);
        if (isPrimary) {
          stopping = true;
          primary.kill();
        } else {
          standby.kill();
          awaitCommits(50);
        }
      });
      if (isPrimary) {
        primary.start();
      } else {
        Command.run("check", standby.dataDirectory().toString()).expect(0, "no problems");
        standby.start();
      }
    }
    whileCommitting(() -> awaitCommits(200));
    awaitStandby();
    standby
        .ask("status")
        .expect(0, "standby of http://127.0.0.1:", "readers see 1/", "behind: 0 bytes, 0.000 s");
    primary.ask("status").expect(0, "standby second: has 1/");
    primary.kill();
    standby.ask("promote").expect(0, "promoted; the log goes on at 2/");
    lookAtPromoted(session -> {
      TreeSet<Long> there = new TreeSet<>(numbers(session, "select id from entry"));
      TreeSet<Long> lost = new TreeSet<>(acknowledged);
      lost.removeAll(there);
      assertEquals(List.of(), List.copyOf(lost), "acknowledged, and not there");
      assertTrue(there.last() < nextId.get(), "committed by nobody");
      assertEquals(
          List.of((long) there.size()),
          numbers(session, "select ready from kakehashi_catalog.queues"),
          "a task for each row");
      session.execute("insert into entry values (-1, 'of the new primary')");
    });
    standby.stop();
    Command.run("check", standby.dataDirectory().toString()).expect(0, "no problems");
  }

  @Test
  void shouldCatchUpWithLongTransactionsAndDefinitionsAlsoOverAStartOfThePrimary()
      throws Exception {
    awaitStandby();
    standby.kill();
    try (Session session = primary.attach()) {
      session.execute(
          "insert into entry select i, repeat('x', 100) from generate_series(1, %d) i"
              .formatted(MANY_ROWS));
      session.execute("alter table entry add column w int8 default 7");
      session.execute("delete from entry where id % 2 = 0");
      session.execute("create table later (id int8 primary key)");
    }
    // Its base image has everything then, and the log would not need its segments.
    primary.stop();
    primary.start();
    standby.start();
    awaitStandby();
    primary.kill();
    standby.ask("promote").expect(0, "promoted");
    lookAtPromoted(session -> {
      assertEquals(List.of(MANY_ROWS / 2 * 7L), numbers(session, "select sum(w)::int8 from entry"));
      assertEquals(List.of(0L), numbers(session, "select count(*) from later"));
    });
  }

  @Test
  void shouldRefuseWhatWouldGiveALogTwoHistories() throws Exception {
    awaitStandby();
    standby.kill();
    Path data = standby.dataDirectory();
    Command.run("start", "-D", data.toString(), "-R", home.resolve("run").toString())
        .expect(1, "is a standby's");
    Command.run("promote", "-D", primary.dataDirectory().toString()).expect(1, "is no standby's");
    Command.run(
            "start",
            "-D",
            home.resolve("empty").toString(),
            "-R",
            home.resolve("run").toString(),
            "-s",
            "primary=http://127.0.0.1:1")
        .expect(1, "is no standby's");
    // The primary's own history goes on, and a standby that was promoted has another one.
    standby.ask("promote").expect(0, "promoted");
    Files.writeString(data.resolve("standby"), "set by hand");
    standby.start();
    Await.until(
        "the refusal",
        () -> standby.ask("status").output().contains("of timeline 1 of another history"));
    assertEquals(LongStream.of(0).boxed().toList(), numbersOfPrimary("select count(*) from entry"));
  }

  @Test
  void shouldRefuseToServeWhenTheOtherEndpointHasTakenOver() throws Exception {
    awaitStandby();
    primary.kill();
    standby.ask("promote").expect(0, "promoted; the log goes on at 2/");
    String[] start = {
      "start",
      "-D",
      primary.dataDirectory().toString(),
      "-R",
      home.resolve("run").toString(),
      "-s",
      "primary=http://127.0.0.1:" + standbyPort,
      "-s",
      "primary_user=replica",
      "-s",
      "primary_password_file=" + home.resolve("password")
    };
    Command.run(start).expect(1, "has taken over: its timeline 2 has left the log of");
  }

  private List<Long> numbersOfPrimary(String sql) {
    try (Session session = primary.attach()) {
      return numbers(session, sql);
    }
  }
}
