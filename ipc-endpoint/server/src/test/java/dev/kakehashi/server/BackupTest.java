package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.requests.TransactionTokens;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Backup of an endpoint under load, restore, and what both refuse.
@SuppressWarnings("NullAway.Init") // set before each test
class BackupTest {
  private static final int ACCOUNTS = 50;
  private static final long BALANCE = 1000;
  private static final int CLIENTS = 3;
  private static final long WIDE_ROWS = 600;
  private static final long WIDE_COLUMNS = 3;

  private final AtomicLong nextTransfer = new AtomicLong(1);
  private final Set<Long> stored = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;
  private EndpointProcess endpoint;
  @TempDir private Path home;

  @BeforeEach
  void start() throws IOException {
    endpoint = EndpointProcess.open();
    try (Session session = endpoint.attach()) {
      session.execute("create table account (id int8 primary key, balance int8 not null)");
      session.execute("create table transfer (id int8 primary key, amount int8 not null)");
      StringBuilder rows = new StringBuilder();
      for (int id = 0; id < ACCOUNTS; id++) {
        rows.append(id == 0 ? "" : ", ").append("(%d, %d)".formatted(id, BALANCE));
      }
      session.execute("insert into account values " + rows);
    }
  }

  @AfterEach
  void stop() throws IOException {
    endpoint.close();
  }

  private Command backup(Path target) {
    return Command.run(
        "backup",
        target.toString(),
        "-D",
        endpoint.dataDirectory().toString(),
        "-R",
        endpoint.runtimeDirectory().toString());
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

  /// Moves money until told to stop; each transfer that was stored is noted.
  private Void transfer(long seed) {
    Random random = new Random(seed);
    try (Session session = endpoint.attach();
        PreparedStatement move =
            session.prepare("update account set balance = balance + $1 where id = $2");
        PreparedStatement note = session.prepare("insert into transfer values ($1, $2)")) {
      while (!stopping) {
        long id = nextTransfer.getAndIncrement();
        long amount = random.nextInt(100);
        Transaction transaction = session.begin();
        try {
          transaction.update(
              move, move.parameters().addRow(-amount, (long) random.nextInt(ACCOUNTS)));
          transaction.update(
              move, move.parameters().addRow(amount, (long) random.nextInt(ACCOUNTS)));
          transaction.update(note, note.parameters().addRow(id, amount));
          transaction.commit();
          stored.add(id);
        } catch (EndpointException e) {
          assertTrue(Set.of("40001", "40P01").contains(e.sqlstate()), e.toString());
          transaction.rollback();
        }
      }
    }
    return null;
  }

  @Test
  void shouldSaveEveryCommitStoredBeforeWhileTransfersGoOn() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("BackupTest seed " + seed);
    Set<Long> before = new HashSet<>();
    Path first = home.resolve("first");
    Path second = home.resolve("second");
    try (Session session = endpoint.attach()) {
      session.execute("alter system set lock_timeout = '77s'");
    }
    try (ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<Void>> running = new ArrayList<>();
      for (int c = 0; c < CLIENTS; c++) {
        long own = seed + c;
        running.add(clients.submit(() -> transfer(own)));
      }
      try {
        Await.until("transfers", () -> stored.size() > 100);
        backup(first).expect(0, "backup of");
        int between = stored.size();
        Await.until("transfers after the first backup", () -> stored.size() > between + 100);
        before.addAll(stored);
        backup(second).expect(0, "file", "log/");
        int after = stored.size();
        Await.until("transfers after the second backup", () -> stored.size() > after + 10);
      } finally {
        stopping = true;
      }
      for (Future<Void> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
    Command.run("check", first.toString()).expect(0, "no problems");
    Command.run("check", second.toString()).expect(0, "no problems");
    endpoint.kill();
    Path settings = endpoint.dataDirectory().resolve(AutoSettings.FILE);
    byte[] settingsBefore = Files.readAllBytes(settings);
    Path keys = endpoint.dataDirectory().resolve(TransactionTokens.FILE);
    byte[] keysBefore = Files.readAllBytes(keys);
    Directories.delete(endpoint.dataDirectory());
    Command.run("restore", second.toString(), endpoint.dataDirectory().toString())
        .expect(0, "restored the backup of");
    Command.run("check", endpoint.dataDirectory().toString()).expect(0, "no problems");
    assertArrayEquals(keysBefore, Files.readAllBytes(keys), "tokens of transactions hold");
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(keys)));
    assertArrayEquals(settingsBefore, Files.readAllBytes(settings), "what ALTER SYSTEM has set");
    endpoint.start();
    try (Session session = endpoint.attach()) {
      assertEquals(
          List.of(ACCOUNTS * BALANCE), numbers(session, "select sum(balance)::int8 from account"));
      Set<Long> restored = new HashSet<>(numbers(session, "select id from transfer"));
      before.removeAll(restored);
      assertEquals(Set.of(), before, "stored before the backup, and not in it");
      assertTrue(restored.size() < nextTransfer.get());
      session.execute("insert into transfer values (0, 0)");
    }
  }

  /// Step i adds a column, gives every third row a value of its own, drops an older column and adds a row.
  private Void alter() {
    try (Session session = endpoint.attach()) {
      for (long i = 0; !stopping; i++) {
        Transaction transaction = session.begin();
        List<String> statements = new ArrayList<>();
        statements.add("alter table wide add column c%d int8 default %d".formatted(i, i));
        statements.add("update wide set c%d = %d + id where id %% 3 = 0".formatted(i, 1000 * i));
        if (i >= WIDE_COLUMNS) {
          statements.add("alter table wide drop column c" + (i - WIDE_COLUMNS));
        }
        statements.add("insert into wide (id) values (%d)".formatted(WIDE_ROWS + i));
        statements.add("insert into transfer values (%d, 0)".formatted(-1 - i));
        for (String sql : statements) {
          try (PreparedStatement statement = session.prepare(sql)) {
            transaction.update(statement);
          }
        }
        transaction.commit();
        stored.add(-1 - i);
      }
    }
    return null;
  }

  /// Rows after so many steps, as one number each.
  private static List<Long> altered(long steps) {
    List<Long> expected = new ArrayList<>();
    for (long id = 0; id < WIDE_ROWS + steps; id++) {
      long sum = 0;
      for (long c = Math.max(0, steps - WIDE_COLUMNS); c < steps; c++) {
        boolean own = id % 3 == 0 && id < WIDE_ROWS + c;
        sum = sum * 31 + (own ? 1000 * c + id : c);
      }
      expected.add(sum);
    }
    return expected;
  }

  @Test
  void shouldSaveRowsOfAllWidthsWhileColumnsComeAndGo() throws Exception {
    try (Session session = endpoint.attach()) {
      session.execute("create table wide (id int8 primary key)");
      session.execute(
          "insert into wide values "
              + LongStream.range(0, WIDE_ROWS)
                  .mapToObj(id -> "(" + id + ")")
                  .collect(Collectors.joining(", ")));
    }
    Path target = home.resolve("backup");
    Set<Long> before = new HashSet<>();
    try (ExecutorService clients = Executors.newSingleThreadExecutor()) {
      Future<Void> running = clients.submit(this::alter);
      try {
        Await.until("columns", () -> stored.size() > 12 || running.isDone());
        before.addAll(stored);
        backup(target).expect(0, "backup of");
        int after = stored.size();
        Await.until(
            "columns after the backup", () -> stored.size() > after + 3 || running.isDone());
      } finally {
        stopping = true;
      }
      running.get(60, TimeUnit.SECONDS);
    }
    Command.run("check", target.toString()).expect(0, "no problems");
    endpoint.kill();
    Command.run("check", endpoint.dataDirectory().toString()).expect(0, "no problems");
    // First what the kill has left, then the backup.
    compareWide(stored);
    endpoint.kill();
    Directories.delete(endpoint.dataDirectory());
    Command.run("restore", target.toString(), endpoint.dataDirectory().toString())
        .expect(0, "restored the backup of");
    Command.run("check", endpoint.dataDirectory().toString()).expect(0, "no problems");
    compareWide(before);
  }

  private void compareWide(Set<Long> atLeast) throws IOException {
    endpoint.start();
    try (Session session = endpoint.attach()) {
      List<Long> notes = numbers(session, "select id from transfer where id < 0");
      assertTrue(notes.containsAll(atLeast), "stored, and not there");
      long steps = notes.size();
      StringBuilder sum = new StringBuilder("0::int8");
      for (long c = Math.max(0, steps - WIDE_COLUMNS); c < steps; c++) {
        sum.insert(0, '(').append(") * 31 + c").append(c);
      }
      assertEquals(altered(steps), numbers(session, "select " + sum + " from wide order by id"));
    }
  }

  /// As a kill leaves it: an endpoint that took it for a new directory would have no rows.
  @Test
  @Timeout(60)
  void shouldRefuseWhatARestoreThatWasKilledHasLeft() throws Exception {
    Path target = home.resolve("backup");
    backup(target).expect(0);
    Path data = home.resolve("data");
    Files.createDirectories(data.resolve("restore.tmp").resolve("store"));
    for (List<String> command :
        List.of(
            List.of("start", "-D", data.toString(), "-R", home.resolve("run").toString()),
            List.of("check", data.toString()),
            List.of("restore", target.toString(), data.toString()))) {
      Command.run(command.toArray(String[]::new)).expect(1, "restore that was not finished");
    }
    assertFalse(Files.exists(data.resolve("store")));
    Directories.delete(data);
    Command.run("restore", target.toString(), data.toString()).expect(0);
    Command.run("check", data.toString()).expect(0, "no problems");
  }

  @Test
  void shouldRefuseADamagedBackupAndDirectoriesInUse() throws Exception {
    Path target = home.resolve("backup");
    backup(target).expect(0);
    backup(target).expect(1, "is not empty");
    Command.run("restore", target.toString(), endpoint.dataDirectory().toString())
        .expect(1, "an endpoint runs on");
    Path data = home.resolve("data");
    Files.createDirectories(data);
    Files.writeString(data.resolve("other"), "content");
    Command.run("restore", target.toString(), data.toString()).expect(1, "is not empty");
    Files.delete(data.resolve("other"));
    Path log = target.resolve("store/log/0000000000000000.log");
    try (RandomAccessFile bytes = new RandomAccessFile(log.toFile(), "rw")) {
      bytes.seek(5000);
      bytes.write(0x5A);
    }
    Command.run("check", target.toString()).expect(1, log.toString());
    Command.run("restore", target.toString(), data.toString())
        .expect(1, log.toString(), "checksum does not hold");
    assertTrue(Directories.isEmpty(data));
    Files.delete(target.resolve("BACKUP"));
    Command.run("restore", target.toString(), data.toString()).expect(1, "is no backup");
    endpoint.kill();
    backup(home.resolve("late")).expect(1, "no endpoint runs on");
    assertFalse(Files.exists(home.resolve("late")));
    // Nothing of the first one is left beside the store.
    assertFalse(Files.exists(endpoint.dataDirectory().resolve("store/backup.tmp")));
  }
}
