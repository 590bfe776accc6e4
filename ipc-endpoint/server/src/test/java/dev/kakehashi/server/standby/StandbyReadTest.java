package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.IsolationLevel;
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
import java.util.Random;
import java.util.concurrent.Callable;
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

/// Readers of a standby: they see states that the primary has had, in its order.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(300)
class StandbyReadTest {
  private static final int ACCOUNTS = 40;
  private static final long TOTAL = ACCOUNTS * 100L;

  /// Rows of a table in which each transfer adds one and removes the oldest: their places are used again and again.
  private static final int WINDOW = 20;

  private static final int READERS = 3;
  private static final int STOPS = 3;

  /// Transfers, and the table that definitions meet.
  private static final String STATE =
      "select (select n from tick), (select sum(balance)::int8 from account), count(*), min(id), max(id), sum(length(v))::int8 from churn";

  private EndpointProcess primary;
  private EndpointProcess standby;
  private volatile boolean stopping;

  /// Number of the newest transfer that any reader has seen.
  private final AtomicLong seen = new AtomicLong();

  private final AtomicLong committed = new AtomicLong();
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong conflicts = new AtomicLong();
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    int port = FreePorts.next();
    primary = EndpointProcess.open("http_port=" + port);
    try (Session session = primary.attach()) {
      session.execute("create table account (id int8 primary key, balance int8)");
      session.execute(
          "insert into account select i, 100 from generate_series(1, %d) i".formatted(ACCOUNTS));
      session.execute("create table tick (n int8)");
      session.execute("insert into tick values (%d)".formatted(WINDOW));
      session.execute("create table churn (id int8 primary key, v text)");
      session.execute(
          "insert into churn select i, repeat('x', 50) from generate_series(1, %d) i"
              .formatted(WINDOW));
      session.execute("create table moving (id int8 primary key, v int8)");
      session.execute("create sequence numbers");
      session.execute("create queue jobs");
      session.execute("create role replica login password 'secret'");
      session.execute("grant kakehashi_replication to replica");
    }
    Path backup = home.resolve("backup");
    Command.run(
            "backup",
            backup.toString(),
            "-q",
            "-D",
            primary.dataDirectory().toString(),
            "-R",
            primary.runtimeDirectory().toString())
        .expect(0);
    Path password = home.resolve("password");
    Files.writeString(password, "secret\n");
    standby =
        EndpointProcess.prepare(
            "primary=http://127.0.0.1:" + port,
            "primary_user=replica",
            "primary_password_file=" + password,
            "standby_name=second",
            "standby_conflict_delay=200ms");
    Command.run("restore", "--standby", backup.toString(), standby.dataDirectory().toString())
        .expect(0);
    standby.start();
  }

  @AfterEach
  void stop() throws IOException {
    standby.close();
    primary.close();
  }

  private static List<Long> row(Transaction transaction, PreparedStatement query) {
    List<Long> found = new ArrayList<>();
    try (Rows rows = transaction.query(query)) {
      while (rows.next()) {
        for (int c = 0; c < 6; c++) {
          found.add(rows.getLong(c));
        }
      }
    }
    return found;
  }

  private static long count(Transaction transaction, PreparedStatement query) {
    try (Rows rows = transaction.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  private static long number(Session session, String sql) {
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  /// Moves money between random accounts, and the window of rows on, until it is told to stop. One at a time, so that the number of the
  /// last transfer says what everything else is.
  private Void transfer(long seed) throws InterruptedException {
    Random random = new Random(seed);
    while (!stopping) {
      try (Session session = primary.attach()) {
        while (!stopping) {
          long n = number(session, "select n from tick") + 1;
          int amount = random.nextInt(100);
          try (Transaction transaction = session.begin()) {
            for (String sql :
                List.of(
                    "update account set balance = balance - %d where id = %d"
                        .formatted(amount, 1 + random.nextInt(ACCOUNTS)),
                    "update account set balance = balance + %d where id = %d"
                        .formatted(amount, 1 + random.nextInt(ACCOUNTS)),
                    "delete from churn where id = %d".formatted(n - WINDOW),
                    "insert into churn values (%d, repeat('x', 50))".formatted(n),
                    "update tick set n = %d".formatted(n))) {
              try (PreparedStatement statement = session.prepare(sql)) {
                transaction.update(statement);
              }
            }
            transaction.commit();
          }
          committed.set(n);
        }
      } catch (EndpointException | TransportException e) {
        // Killed, and not up again.
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
    return null;
  }

  /// Changes the form of a table, empties it, drops it.
  private Void define(long seed) throws InterruptedException {
    Random random = new Random(seed);
    int columns = 0;
    while (!stopping) {
      try (Session session = primary.attach()) {
        while (!stopping) {
          switch (random.nextInt(6)) {
            case 0 -> session.execute("truncate moving");
            case 1 ->
                session.execute(
                    "alter table moving add column c%d int8 default 7".formatted(columns++));
            case 2 -> session.execute("create index on moving (v)");
            case 3 -> {
              session.execute("drop table moving");
              session.execute("create table moving (id int8 primary key, v int8)");
            }
            case 4 -> session.execute("alter table moving alter column v type int4");
            default -> session.execute("alter table moving alter column v type int8");
          }
          session.execute(
              "insert into moving (id, v) select i, 1 from generate_series(%1$d, %1$d + 99) i"
                  .formatted(1 + number(session, "select coalesce(max(id), 0) from moving")));
        }
      } catch (EndpointException | TransportException e) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
    return null;
  }

  private Void read(long seed) throws InterruptedException {
    Random random = new Random(seed);
    TransactionOptions options =
        TransactionOptions.DEFAULT.withIsolation(IsolationLevel.REPEATABLE_READ);
    while (!stopping) {
      try (Session session = standby.attach();
          PreparedStatement state = session.prepare(STATE)) {
        while (!stopping) {
          long before = seen.get();
          try (Transaction transaction = session.begin(options)) {
            List<Long> first = row(transaction, state);
            check(before, first);
            if (random.nextInt(4) == 0) {
              TimeUnit.MILLISECONDS.sleep(random.nextInt(100));
            }
            assertEquals(first, row(transaction, state), "one snapshot");
            lookAtMoving(session, transaction);
            transaction.commit();
          }
          reads.incrementAndGet();
        }
      } catch (EndpointException e) {
        conflict(e);
      } catch (TransportException e) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
    return null;
  }

  private void check(long before, List<Long> state) {
    long n = state.get(0);
    assertTrue(n >= before, "%d was seen before %d".formatted(before, n));
    seen.accumulateAndGet(n, Math::max);
    assertEquals(
        List.of(n, TOTAL, (long) WINDOW, n - WINDOW + 1, n, WINDOW * 50L),
        state,
        "a state of the primary");
  }

  /// Its rows come by hundreds.
  private void lookAtMoving(Session session, Transaction transaction) {
    try (PreparedStatement query =
            session.prepare(
                "select count(*), count(*), sum(v)::int8, 0::int8, 0::int8, 0::int8 from moving");
        Rows rows = transaction.query(query)) {
      assertTrue(rows.next());
      assertEquals(0, rows.getLong(0) % 100, "rows of " + rows.getLong(0));
    }
  }

  private void conflict(EndpointException e) throws InterruptedException {
    String code = e.sqlstate();
    boolean isStopped = code.startsWith("08");
    boolean isKnown =
        isStopped
            || List.of(
                    ErrorCode.SERIALIZATION_FAILURE,
                    ErrorCode.UNDEFINED_TABLE,
                    ErrorCode.SHUTTING_DOWN,
                    ErrorCode.QUERY_CANCELED,
                    ErrorCode.TRANSACTION_ABORTED)
                .stream()
                .anyMatch(known -> known.sqlstate().equals(code));
    assertTrue(isKnown || stopping, () -> "unexpected: " + code + " " + e);
    if (code.equals(ErrorCode.SERIALIZATION_FAILURE.sqlstate())) {
      conflicts.incrementAndGet();
    }
    TimeUnit.MILLISECONDS.sleep(5);
  }

  @Test
  void shouldShowStatesOfThePrimaryInItsOrderWithStopsOfBothAndDefinitions() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("kakehashi.seed=" + seed);
    Random random = new Random(seed);
    try (ExecutorService clients = Executors.newFixedThreadPool(READERS + 2)) {
      List<Future<Void>> running = new ArrayList<>();
      List<Callable<Void>> all = new ArrayList<>();
      all.add(() -> transfer(random.nextLong()));
      all.add(() -> define(random.nextLong()));
      for (int i = 0; i < READERS; i++) {
        all.add(() -> read(random.nextLong()));
      }
      all.forEach(each -> running.add(clients.submit(each)));
      try {
        for (int stop = 0; stop < STOPS; stop++) {
          awaitReads(running, 60);
          EndpointProcess stopped = random.nextBoolean() ? primary : standby;
          if (random.nextBoolean()) {
            stopped.kill();
          } else {
            stopped.stop();
          }
          stopped.start();
        }
        awaitReads(running, 60);
        stopping = true;
      } finally {
        stopping = true;
      }
      for (Future<Void> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
    System.out.println(
        "%d reads of %d transfers, %d conflicts"
            .formatted(reads.get(), committed.get(), conflicts.get()));
    try (Session here = primary.attach();
        Session there = standby.attach()) {
      long n = number(here, "select n from tick");
      Await.until("the last transfer", () -> number(there, "select n from tick") == n);
      for (String sum :
          List.of(
              "select sum(id * balance)::int8 from account",
              "select sum(id * length(v))::int8 from churn",
              "select coalesce(sum(id * v), 0)::int8 + count(*) from moving")) {
        Await.until(sum, () -> number(here, sum) == number(there, sum));
      }
    }
  }

  private void awaitReads(List<Future<Void>> running, int count) {
    long before = reads.get();
    long seenBefore = seen.get();
    Await.until(
        "reads",
        () ->
            running.stream().anyMatch(Future::isDone)
                || (reads.get() >= before + count && seen.get() > seenBefore));
    assertTrue(running.stream().noneMatch(Future::isDone), () -> failure(running));
  }

  private static String failure(List<Future<Void>> running) {
    return running.stream()
        .filter(Future::isDone)
        .map(each -> String.valueOf(each.exceptionNow()))
        .toList()
        .toString();
  }

  @Test
  void shouldRefuseWhatChangesSomethingAndSayThatItIsAStandby() {
    try (Session session = standby.attach()) {
      for (String sql :
          List.of(
              "insert into account values (0, 0)",
              "update account set balance = 0",
              "delete from account",
              "truncate account",
              "create table other (id int8)",
              "select nextval('numbers')",
              "select * from account for update",
              "create role someone",
              "begin isolation level serializable")) {
        if (sql.startsWith("begin")) {
          EndpointException refused =
              assertThrows(
                  EndpointException.class,
                  () ->
                      session.begin(
                          TransactionOptions.DEFAULT.withIsolation(IsolationLevel.SERIALIZABLE)));
          assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED.sqlstate(), refused.sqlstate());
          continue;
        }
        EndpointException refused =
            assertThrows(EndpointException.class, () -> session.execute(sql), sql);
        assertEquals(ErrorCode.READ_ONLY_TRANSACTION.sqlstate(), refused.sqlstate(), sql);
        assertTrue(refused.toString().contains("on a standby"), sql + ": " + refused);
      }
      assertEquals(TOTAL, number(session, "select sum(balance)::int8 from account"));
    }
  }

  @Test
  void shouldEndAReaderWhoKeepsATableThatIsDroppedAndNoOther() {
    TransactionOptions repeatable =
        TransactionOptions.DEFAULT.withIsolation(IsolationLevel.REPEATABLE_READ);
    try (Session here = primary.attach();
        Session one = standby.attach();
        Session two = standby.attach();
        Transaction keeps = one.begin(repeatable);
        Transaction other = two.begin(repeatable)) {
      String all = "select count(*) from %s";
      try (PreparedStatement moving = one.prepare(all.formatted("moving"));
          PreparedStatement account = two.prepare(all.formatted("account"));
          PreparedStatement emptied = two.prepare(all.formatted("churn"))) {
        assertEquals(0, count(keeps, moving));
        assertEquals(ACCOUNTS, count(other, account));
        here.execute("drop table moving");
        here.execute("truncate churn");
        here.execute("update tick set n = -1");
        try (Session third = standby.attach()) {
          Await.until("the drop", () -> number(third, "select n from tick") == -1);
        }
        EndpointException refused =
            assertThrows(EndpointException.class, () -> count(keeps, moving));
        assertEquals(ErrorCode.SERIALIZATION_FAILURE.sqlstate(), refused.sqlstate());
        assertTrue(refused.toString().contains("conflict with recovery"), refused.toString());
        assertEquals(ACCOUNTS, count(other, account));
        EndpointException empty =
            assertThrows(EndpointException.class, () -> count(other, emptied));
        assertEquals(ErrorCode.SERIALIZATION_FAILURE.sqlstate(), empty.sqlstate());
      }
    }
  }
}
