package dev.kakehashi.server.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.DiskFaultTest;
import dev.kakehashi.server.EndpointProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The endpoint dies after any byte that it has written for a load or dump: a transaction is in or not, batches go on, files are whole or
/// have no name.
@SuppressWarnings("NullAway.Init") // set before each test
class BulkKillTest {
  /// `-Dkakehashi.kills=200` and a `-Dkakehashi.seed=` repeat more.
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 4);

  private static final long SEED = Long.getLong("kakehashi.seed", System.nanoTime());
  private static final int ROWS = Integer.getInteger("kakehashi.bulkRows", 20_000);
  private static final int BATCH_ROWS = 700;
  private static final long LEAST_BYTES = 4096;

  /// Part of the paths of all that the endpoint writes: its own directories have it, too.
  private static final String PART = "kakehashi-test-";

  private static final List<String> FORMATS = List.of("csv", "parquet", "arrow");

  private final Random random = new Random(SEED);
  private Path control;
  private Path files;
  private EndpointProcess endpoint;

  /// Bytes that a statement of each kind writes, as far as is known from those before: so about half of the kills hit it.
  private final Map<String, Long> bytes = new HashMap<>();

  private int hits;
  private int dumpsBefore;

  @BeforeEach
  void start(@TempDir Path directory) throws IOException, InterruptedException {
    control = directory.resolve("control");
    Files.write(control, new byte[16]);
    allow();
    files = Files.createDirectories(directory.resolve(PART + "files"));
    endpoint =
        EndpointProcess.open(
            Map.of(
                "LD_PRELOAD", DiskFaultTest.library(directory).toString(),
                "KAKEHASHI_FAULT_CONTROL", control.toString(),
                "KAKEHASHI_FAULT_PATH", PART),
            "bulk_locations=files:" + files + ":readwrite");
  }

  @AfterEach
  void stop() throws IOException {
    endpoint.close();
  }

  private void allow() throws IOException {
    writeControl('0', 0);
  }

  /// The endpoint dies when it has written so many bytes from its start or the last call on.
  private void killAfter(long bytes) throws IOException {
    writeControl('k', bytes);
  }

  /// The bytes are changed in place: the endpoint has the file mapped.
  private void writeControl(char kind, long bytes) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(control.toFile(), "rw")) {
      file.seek(Long.BYTES);
      file.writeLong(Long.reverseBytes(bytes));
      file.seek(0);
      file.write(kind);
    }
  }

  private static long number(Session session, String sql) {
    try (Rows rows = session.query(session.prepare(sql))) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  private long number(String sql) {
    try (Session session = endpoint.attach()) {
      return number(session, sql);
    }
  }

  private void execute(String sql) {
    try (Session session = endpoint.attach()) {
      session.execute(sql);
    }
  }

  /// Runs a statement in which the endpoint is killed, and starts the endpoint again.
  ///
  /// @param kind statements that write about the same
  /// @return whether the statement was answered
  private boolean survives(String kind, String sql) throws IOException {
    boolean answered = false;
    Session session = endpoint.attach();
    long most = bytes.getOrDefault(kind, ROWS * 60L);
    killAfter(1 + random.nextLong(most));
    try (session) {
      session.execute(sql);
      answered = true;
      bytes.put(kind, Math.max(LEAST_BYTES, most / 2));
    } catch (EndpointException e) {
      assertTrue(e.isFatal(), e::toString);
      hits++;
      bytes.put(kind, most + most / 2);
    }
    endpoint.kill();
    allow();
    endpoint.start();
    return answered;
  }

  @Test
  void shouldLeaveNothingHalfWhereverItDies() throws IOException {
    System.out.println("seed " + SEED + ", kills " + KILLS + ", bulkRows " + ROWS);
    execute("create table t (id int8 primary key, note text)");
    execute("create table loaded (id int8 primary key, note text)");
    execute(
        "insert into t select i, 'note, ' || i || repeat('x', 40) from generate_series(1, "
            + ROWS
            + ") i");
    for (String format : FORMATS) {
      execute("copy t to 'files:in." + format + "' (format " + format + ")");
    }
    for (int i = 0; i < KILLS; i++) {
      String format = FORMATS.get(random.nextInt(FORMATS.size()));
      String what = "kill " + i + " with " + format;
      switch (i % 4) {
        case 0 -> load(what, format);
        case 1 -> loadInBatches(what, "csv", i);
        case 2 -> dump(what, format, false);
        default -> dump(what, format, true);
      }
    }
    System.out.println(hits + " statements were hit");
    assertTrue(hits > 0);
  }

  private void load(String what, String format) throws IOException {
    boolean answered =
        survives(
            "load " + format, "copy loaded from 'files:in." + format + "' (format " + format + ")");
    long rows = number("select count(*) from loaded");
    assertTrue(rows == ROWS || (rows == 0 && !answered), what + ": " + rows + " rows");
    execute("delete from loaded");
  }

  private void loadInBatches(String what, String format, int number) throws IOException {
    String sql =
        "copy loaded from 'files:in.%s' (format %s, batch_rows %d, load_id 'load %d')"
            .formatted(format, format, BATCH_ROWS, number);
    survives("batches", sql);
    long before = number("select count(*) from loaded");
    execute(sql);
    assertEquals(
        ROWS, number("select count(*) from loaded"), what + ": " + before + " were in before");
    assertEquals(
        0,
        number(
            "select count(*) from t left join loaded l on l.id = t.id where l.note is distinct from t.note"),
        what);
    execute("delete from loaded");
  }

  private void dump(String what, String format, boolean replaces) throws IOException {
    String options = "format " + format + ", file_size '256kB', row_group_rows 1024";
    if (format.equals("csv")) {
      options = "format csv, file_size '256kB'";
    }
    String directory = "d" + dumpsBefore;
    if (replaces) {
      execute("copy t to 'files:" + directory + "/' (" + options + ")");
      options += ", overwrite";
    }
    boolean answered =
        survives("dump " + format, "copy t to 'files:" + directory + "/' (" + options + ")");
    List<String> names = names(directory);
    assertTrue(names.stream().noneMatch(name -> name.contains("/.")), what + ": " + names);
    if (names.isEmpty()) {
      assertTrue(!answered && !replaces, what + ": its files are gone");
    } else {
      execute("copy loaded from 'files:" + directory + "/*' (format " + format + ")");
      assertEquals(ROWS, number("select count(*) from loaded"), what + ": " + names);
      execute("delete from loaded");
    }
    dumpsBefore++;
    if (Files.exists(files.resolve(directory))) { // else it died before it made it
      Directories.deleteContent(files.resolve(directory));
    }
  }

  private List<String> names(String directory) throws IOException {
    Path dumped = files.resolve(directory);
    if (!Files.exists(dumped)) {
      return List.of();
    }
    try (Stream<Path> found = Files.walk(dumped)) {
      return found
          .filter(Files::isRegularFile)
          .map(each -> files.relativize(each).toString())
          .sorted()
          .toList();
    }
  }
}
