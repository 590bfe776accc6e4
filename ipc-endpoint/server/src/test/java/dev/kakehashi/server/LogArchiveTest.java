package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// An endpoint whose log goes to an archive: killed again and again, and restored to moments that its client knew.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(300)
class LogArchiveTest {
  private static final int KILLS = 4;
  private static final int MOMENTS = Integer.getInteger("kakehashi.moments", 5);

  /// Bytes of a value: some hundred commits fill a segment of the log.
  private static final int VALUE_BYTES = 20_000;

  /// An acknowledged commit, and a time after it and before the next one.
  private record Acknowledged(long id, Instant after) {}

  private final List<Acknowledged> acknowledged = new CopyOnWriteArrayList<>();
  private volatile boolean stopping;
  private EndpointProcess endpoint;
  @TempDir private Path home;

  @BeforeEach
  void start() throws IOException {
    Files.createDirectory(archive());
    endpoint =
        EndpointProcess.open(
            "archive_location=" + archive(), "archive_interval=100ms", "archive_backlog=16MB");
    try (Session session = endpoint.attach()) {
      session.execute("create table entry (id int8 primary key, v text not null)");
      session.execute("create queue jobs");
    }
  }

  @AfterEach
  void stop() throws IOException {
    endpoint.close();
  }

  private Path archive() {
    return home.resolve("archive");
  }

  private Command ask(String... command) {
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(
        List.of(
            "-D",
            endpoint.dataDirectory().toString(),
            "-R",
            endpoint.runtimeDirectory().toString()));
    return Command.run(words.toArray(String[]::new));
  }

  /// Commits rows one after another, each with a task, until it is told to stop or the endpoint is killed.
  private Void commit(long from) {
    String value = "x".repeat(VALUE_BYTES);
    long id = from;
    try (Session session = endpoint.attach();
        PreparedStatement insert =
            session.prepare(
                "with added as (insert into entry values ($1, $2) returning id) select enqueue('jobs', id::text::bytea) from added")) {
      while (!stopping) {
        long next = id;
        try (Rows rows = session.query(insert, insert.parameters().addRow(next, value))) {
          while (rows.next()) {
            assertTrue(rows.getLong(0) > 0);
          }
        }
        Instant after = Instant.now().truncatedTo(ChronoUnit.MICROS);
        acknowledged.add(new Acknowledged(next, after));
        while (!Instant.now().truncatedTo(ChronoUnit.MICROS).isAfter(after)) {
          Thread.onSpinWait();
        }
        id++;
      }
    } catch (EndpointException | TransportException e) {
      assertTrue(stopping, "only a kill ends it: " + e);
    }
    return null;
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

  private long lastId() {
    try (Session session = endpoint.attach()) {
      return numbers(session, "select coalesce(max(id), 0) from entry").getFirst();
    }
  }

  private void run(long from, int commits, boolean isKilled) throws Exception {
    stopping = false;
    try (ExecutorService client = Executors.newSingleThreadExecutor()) {
      int before = acknowledged.size();
      Future<Void> running = client.submit(() -> commit(from));
      Await.until("commits", () -> acknowledged.size() >= before + commits || running.isDone());
      stopping = true;
      if (isKilled) {
        endpoint.kill();
      }
      running.get(60, TimeUnit.SECONDS);
    }
  }

  private List<Path> files(String suffix) throws IOException {
    try (Stream<Path> files = Files.list(archive())) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }

  private boolean hasFileBehindTwoSegments() {
    try {
      List<Path> segments = files(".log");
      List<Path> parts = files(".part");
      return segments.size() > 2
          || (segments.size() == 2
              && !parts.isEmpty()
              && parts.getLast().compareTo(segments.get(1)) > 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Command restore(Path backup, String... options) throws IOException {
    Directories.delete(endpoint.dataDirectory());
    List<String> words =
        new ArrayList<>(
            List.of(
                "restore",
                backup.toString(),
                endpoint.dataDirectory().toString(),
                "--from-archive",
                archive().toString()));
    words.addAll(List.of(options));
    return Command.run(words.toArray(String[]::new));
  }

  private void assertHas(long last) {
    endpoint.start();
    List<Long> expected = LongStream.rangeClosed(1, last).boxed().toList();
    try (Session session = endpoint.attach()) {
      assertEquals(expected, numbers(session, "select id from entry order by id"));
      assertEquals(List.of(last), numbers(session, "select ready from kakehashi_catalog.queues"));
    }
    endpoint.kill();
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS) // of the largest size
  void shouldRestoreWhatClientsKnewAtAMomentAlsoAfterKillsAmidArchiving() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("LogArchiveTest seed " + seed);
    Random random = new Random(seed);
    Path backup = home.resolve("backup");
    run(1, 20, false);
    ask("backup", backup.toString(), "-q").expect(0);
    int first = acknowledged.size();
    for (int kill = 0; kill < KILLS; kill++) {
      run(lastId() + 1, 100 + random.nextInt(200), true);
      endpoint.start();
    }
    long last = lastId();
    ask("status").expect(0, "\n  log: 1/", "archive: " + archive() + ", up to 1/");
    endpoint.stop();
    Command.run("archive", "verify", archive().toString()).expect(0, "no problems");
    Command.run("archive", "list", archive().toString())
        .expect(0, "00000001-0000000000000000.log", ".part");
    for (int i = 0; i < MOMENTS; i++) {
      Acknowledged moment =
          acknowledged.get(first + random.nextInt(acknowledged.size() - first - 1));
      restore(backup, "--to-time", moment.after().toString())
          .expect(
              0, "restored the backup of", " of the archive, up to 1/", "the log goes on at 2/");
      Command.run("check", endpoint.dataDirectory().toString()).expect(0, "no problems");
      assertHas(moment.id());
      // The history that was tried belongs to nobody.
      for (Path file : files("")) {
        if (!Objects.toString(file.getFileName()).startsWith("00000001")) {
          Files.delete(file);
        }
      }
    }
    restore(backup).expect(0, "the log goes on at 2/");
    assertHas(last);
  }

  @Test
  void shouldNameDamageAndRefuseWhatCannotBe() throws Exception {
    Path backup = home.resolve("backup");
    ask("backup", backup.toString(), "-q").expect(0);
    Instant early = Instant.now().minusSeconds(3600);
    run(1, 700, false);
    // Without a file behind it nobody could know that the second one is missing.
    Await.until("a file behind two segments", this::hasFileBehindTwoSegments);
    endpoint.kill();
    List<Path> segments = files(".log");
    Path second = segments.get(1);
    Path aside = home.resolve("aside");
    Files.move(second, aside);
    restore(backup).expect(1, second.toString(), "is missing");
    assertTrue(Directories.isEmpty(endpoint.dataDirectory()), "nothing is left");
    byte[] bytes = Files.readAllBytes(aside);
    bytes[bytes.length - 100] ^= 1;
    Files.write(second, bytes);
    restore(backup).expect(1, second.toString(), "is damaged");
    Command.run("archive", "verify", archive().toString()).expect(1, second.toString());
    Files.move(aside, second, StandardCopyOption.REPLACE_EXISTING);
    restore(backup, "--to-time", early.toString()).expect(1, "which is later than the moment");
    restore(backup, "--to-time", "2999-01-01").expect(1, "ends before the moment");
    restore(backup, "--to-time", "soon").expect(1, "invalid input syntax");
    restore(backup, "--to-position", "1-2-3").expect(1, "is no position of a log");
    Command.run("restore", backup.toString(), "x", "--to-time", "2030-01-01")
        .expect(1, "need --from-archive");
    restore(backup).expect(0);
    Command.run("check", endpoint.dataDirectory().toString()).expect(0, "no problems");
    Command.run("archive", "remove", "--keep", "1d", archive().toString())
        .expect(0, "0 files removed");
    Command.run("archive", "remove", "--keep", "0s", archive().toString())
        .expect(0, String.valueOf(second.getFileName()), "files removed");
    restore(backup).expect(1, "is missing");
  }

  @Test
  void shouldGoOnWithoutItsArchiveAndSaySo() throws Exception {
    Path away = home.resolve("away");
    Files.move(archive(), away);
    run(1, 50, false);
    Await.until("the failure", () -> problem().contains("is not there"));
    ask("status").expect(0, "archive \"%s\" is not there".formatted(archive()), "bytes wait");
    Files.move(away, archive());
    Await.until("the archive", () -> problem().isEmpty());
    Await.until("the rest", () -> !ask("status").output().contains("bytes wait"));
  }

  private String problem() {
    try (Session session = endpoint.attach();
        PreparedStatement query =
            session.prepare("select coalesce(archive_problem, '') from kakehashi_catalog.log");
        Rows rows = session.query(query)) {
      assertTrue(rows.next());
      return rows.getString(0);
    }
  }

  @Test
  void shouldRefuseLocationsThatCannotBeArchives() {
    for (String location : List.of("nowhere", endpoint.dataDirectory().resolve("x").toString())) {
      Command.run(
              "start",
              "-D",
              endpoint.dataDirectory().toString() + "2",
              "-R",
              endpoint.runtimeDirectory() + "2",
              "-s",
              "archive_location=" + location.replace("/data/", "/data2/"))
          .expect(1, "archive_location");
    }
  }
}
