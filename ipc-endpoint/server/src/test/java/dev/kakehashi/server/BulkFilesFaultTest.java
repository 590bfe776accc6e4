package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `COPY` of the real endpoint while writes of its files fail, or it is killed: there is a whole file under its name, or none.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before the tests
class BulkFilesFaultTest {
  private static final int ROWS = 20_000;

  private Path directory;
  private Path out;
  private EndpointProcess endpoint;

  private void fault(char kind) throws IOException {
    // The byte is changed in place: the endpoint has the file mapped.
    try (RandomAccessFile file =
        new RandomAccessFile(directory.resolve("control").toFile(), "rw")) {
      file.write(kind);
    }
  }

  @BeforeAll
  void start(@TempDir Path made) throws IOException, InterruptedException {
    directory = made;
    Files.writeString(directory.resolve("control"), "0", StandardCharsets.US_ASCII);
    out = Files.createDirectories(directory.resolve("written-here"));
    endpoint =
        EndpointProcess.open(
            Map.of(
                "LD_PRELOAD", DiskFaultTest.library(directory).toString(),
                "KAKEHASHI_FAULT_CONTROL", directory.resolve("control").toString(),
                "KAKEHASHI_FAULT_PATH", "/written-here/"),
            "bulk_locations=files:" + out + ":readwrite");
    try (Session session = endpoint.attach()) {
      fill(session);
    }
  }

  @AfterAll
  void stop() throws IOException {
    endpoint.close();
  }

  /// So that each test begins with an empty directory.
  @AfterEach
  void removeFiles() throws IOException {
    Directories.deleteContent(out);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> found = Files.walk(out)) {
      return found
          .filter(Files::isRegularFile)
          .map(each -> out.relativize(each).toString())
          .sorted()
          .toList();
    }
  }

  private static long count(Session session, String table) {
    try (Rows rows = session.query(session.prepare("select count(*) from " + table))) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  private static void fill(Session session) {
    session.execute("create table t (id int8 primary key, note text)");
    session.execute("create table loaded (id int8 primary key, note text)");
    session.execute(
        "insert into t with recursive s(i) as (select 1::int8 union all select i + 1 from s where i < "
            + ROWS
            + ") select i, 'note, ' || i || repeat('x', 80) from s");
  }

  @Test
  @Timeout(120)
  void shouldHaveWholeFilesOrNoneWhenTheDiskFails() throws Exception {
    try (Session session = endpoint.attach()) {
      for (char kind : new char[] {'n', 'e', 's'}) {
        fault(kind);
        for (String copy :
            List.of(
                "copy t to 'files:x.csv' (format csv)",
                "copy t to 'files:x.parquet' (format parquet)",
                "copy t to 'files:d/' (format arrow, file_size '64kB')")) {
          EndpointException e =
              assertThrows(EndpointException.class, () -> session.execute(copy), copy);
          assertEquals(kind == 'n' ? "53100" : "58030", e.sqlstate(), copy);
          assertEquals(List.of(), names(), copy);
        }
        fault('0');
      }
      session.execute("copy t to 'files:x.csv' (format csv)");
      Files.writeString(out.resolve("bad.csv"), "1,one\nx,two\n");
      String load =
          "copy loaded from 'files:*.csv' (format csv, on_error ignore, reject_file 'files:r.csv')";
      session.execute("delete from t where id = 1");
      fault('n');
      EndpointException e = assertThrows(EndpointException.class, () -> session.execute(load));
      assertEquals("53100", e.sqlstate());
      assertEquals(List.of("bad.csv", "x.csv"), names());
      assertEquals(0, count(session, "loaded"));
      fault('0');
      session.execute(load);
      assertEquals(List.of("bad.csv", "r.csv", "x.csv"), names());
      assertEquals(ROWS, count(session, "loaded"));
      String rejected = Files.readString(out.resolve("r.csv"));
      // The first row of the id stays, the second one comes from the next file.
      assertEquals(3, rejected.lines().count(), rejected);
      assertTrue(rejected.contains("\"files:bad.csv\",2,6,\"id\",22P02,"), rejected);
      assertTrue(rejected.contains("\"files:x.csv\",1,0,,23505,"), rejected);
    }
  }

  @Test
  @Timeout(120)
  void shouldRemoveFilesOfADumpThatItWasKilledIn() throws Exception {
    fault('w');
    Thread dump =
        Thread.ofPlatform()
            .start(() -> {
              try (Session session = endpoint.attach()) {
                assertThrows(
                    EndpointException.class,
                    () -> session.execute("copy t to 'files:d/' (format csv)"));
              } catch (EndpointException e) {
                // It is gone: that is what is waited for.
                assertTrue(e.isFatal());
              }
            });
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (names().size() < 2) {
      assertTrue(System.nanoTime() < deadline, "no file was begun");
      Thread.onSpinWait();
    }
    endpoint.kill();
    dump.join();
    assertTrue(names().stream().allMatch(each -> each.contains(".kakehashi-")));
    fault('0');
    endpoint.start();
    assertEquals(List.of(), names());
    try (Session session = endpoint.attach()) {
      session.execute("copy t to 'files:d/' (format csv, workers 1)");
      assertEquals(List.of("d/data_0.csv"), names());
    }
  }
}
