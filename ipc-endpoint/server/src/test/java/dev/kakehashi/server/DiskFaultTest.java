package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.testsupport.PreloadedLibrary;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Writes of the store fail: the client is told, and nothing that was reported as stored is lost.
///
/// The faults are made by a library that is preloaded into the endpoint, see `src/test/c/disk_faults.c`.
public class DiskFaultTest {
  private static final long LIMIT_NANOS = 120_000_000_000L;
  private static final int SORTED_ROWS = 30_000;

  @TempDir Path directory;

  /// Client's view: values that were reported as stored, and those that were refused.
  private final Set<Long> stored = new HashSet<>();

  private final Set<Long> refused = new HashSet<>();

  /// Refused values that the client was told are rolled back; the others are in doubt.
  private final Set<Long> rolledBack = new HashSet<>();

  private long last;

  private Path library() throws IOException {
    return library(directory);
  }

  /// The library that makes faults, built in a directory. Without a C compiler the test is skipped.
  public static Path library(Path directory) throws IOException {
    return PreloadedLibrary.compile(Path.of("src/test/c/disk_faults.c"), directory);
  }

  private void fault(char kind) throws IOException {
    // The byte is changed in place: the endpoint has the file mapped.
    try (var file = new java.io.RandomAccessFile(control().toFile(), "rw")) {
      file.write(kind);
    }
  }

  private Path control() {
    return directory.resolve("control");
  }

  @ParameterizedTest
  @ValueSource(chars = {'n', 'e', 's'})
  @Timeout(300)
  void shouldTellTheClientAndLoseNothing(char kind) throws Exception {
    run(kind, true);
  }

  /// A short write is no failure: the rest is written.
  @Test
  @Timeout(300)
  void shouldGoOnAfterShortWrites() throws Exception {
    run('h', false);
  }

  /// A sort that has no room for its files fails, and everything else goes on.
  @Test
  @Timeout(300)
  void shouldRefuseAStatementThatFindsNoRoomForItsTemporaryFiles() throws Exception {
    Files.writeString(control(), "0", StandardCharsets.US_ASCII);
    Map<String, String> faults =
        Map.of(
            "LD_PRELOAD", library().toString(),
            "KAKEHASHI_FAULT_CONTROL", control().toString(),
            "KAKEHASHI_FAULT_PATH", "/data/store/temp/");
    // Sorted runs, values of aggregates, rows that a recursion has seen.
    List<String> queries =
        List.of(
            "select id, note from t order by note desc, id",
            "select length(string_agg(note, ',')) + g from (select id % 40 as g, note from t) s group by g order by g",
            "with recursive r(i, s) as (select id, note from t union select i + 1, s from r where i % 3 = 0) select count(*) from r");
    try (EndpointProcess endpoint = EndpointProcess.open(faults, "statement_memory=1MB");
        Session session = endpoint.attach();
        Session other = endpoint.attach()) {
      session.execute("create table t (id int8 primary key, note text)");
      session.execute(
          "insert into t with recursive s(i) as (select 1::int8 union all select i + 1 from s where i < "
              + SORTED_ROWS
              + ") select i, 'note ' || (i * 7919 % 10007) || repeat('x', 80) from s");
      assertEquals(SORTED_ROWS, ids(session, queries.getFirst()).size());
      for (String sql : queries) {
        refuse(endpoint, session, other, sql);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(chars = {'n', 'e', 's'})
  @Timeout(300)
  void shouldSayWhichFileOfABackupCouldNotBeWrittenAndLeaveNothing(char kind) throws Exception {
    Files.writeString(control(), "0", StandardCharsets.US_ASCII);
    Path target = directory.resolve("backup-target");
    Map<String, String> faults =
        Map.of(
            "LD_PRELOAD", library().toString(),
            "KAKEHASHI_FAULT_CONTROL", control().toString(),
            "KAKEHASHI_FAULT_PATH", "/backup-target/");
    try (EndpointProcess endpoint = EndpointProcess.open(faults);
        Session session = endpoint.attach()) {
      session.execute("create table t (id int8 primary key, other int8 not null unique)");
      insert(session, 5, kind);
      String[] backup = {
        "backup", target.toString(),
        "-D", endpoint.dataDirectory().toString(),
        "-R", endpoint.runtimeDirectory().toString()
      };
      fault(kind);
      Command.run(backup)
          .expect(
              1,
              "could not back up: could not write \"" + target,
              kind == 'n' ? "No space left on device" : "Input/output error");
      assertTrue(Files.notExists(target), "something is left of it");
      // It is the backup's disk that fails.
      insert(session, 5, kind);
      assertEquals(Set.of(), refused);
      fault('0');
      Command.run(backup).expect(0, "backup of");
      Command.run("check", target.toString()).expect(0, "no problems");
    }
  }

  private void refuse(EndpointProcess endpoint, Session session, Session other, String sql)
      throws Exception {
    List<Long> expected = ids(session, sql);
    for (char kind : new char[] {'n', 'e'}) {
      fault(kind);
      EndpointException refused = assertThrows(EndpointException.class, () -> ids(session, sql));
      assertEquals(sqlstate(kind), refused.sqlstate(), refused.toString());
      Path directory = endpoint.dataDirectory().resolve("store").resolve("temp");
      assertTrue(
          String.valueOf(refused.getMessage()).contains(directory.toString()), refused.toString());
      try (Stream<Path> left = Files.list(directory)) {
        assertEquals(List.of(), left.toList());
      }
      long deadline = System.nanoTime() + LIMIT_NANOS;
      while (endpoint.deletedFiles(directory) > 0) {
        assertTrue(System.nanoTime() < deadline, "files without a name stay open");
        Thread.onSpinWait();
      }
      // Work that needs no files goes on, here and in other sessions.
      assertEquals(List.of(7L), ids(session, "select id from t where id = 7"));
      other.execute("update t set note = note where id = 8");
      fault('0');
      assertEquals(expected, ids(session, sql));
    }
  }

  private void run(char kind, boolean mustRefuse) throws Exception {
    Files.writeString(control(), "0", StandardCharsets.US_ASCII);
    Map<String, String> faults =
        Map.of(
            "LD_PRELOAD", library().toString(),
            "KAKEHASHI_FAULT_CONTROL", control().toString(),
            "KAKEHASHI_FAULT_PATH", "/data/store/");
    try (EndpointProcess endpoint = EndpointProcess.open(faults)) {
      try (Session session = endpoint.attach()) {
        session.execute("create table t (id int8 primary key, other int8 not null unique)");
        insert(session, 50, kind);
        assertEquals(Set.of(), refused);
        fault(kind);
        insert(session, 5, kind);
        assertEquals(mustRefuse, !refused.isEmpty(), "refused " + refused);
        readWhileCommitsFail(session, kind, mustRefuse);
        fault('0');
        if (kind == 'n') {
          // Once there is room again, so do changes.
          int before = stored.size();
          long deadline = System.nanoTime() + LIMIT_NANOS;
          while (stored.size() == before) {
            assertTrue(System.nanoTime() < deadline, "nothing can be stored any more");
            insert(session, 1, kind);
          }
        }
      }
      endpoint.kill();
      endpoint.start();
      try (Session session = endpoint.attach()) {
        check(present(session));
        int before = stored.size();
        insert(session, 5, kind);
        assertEquals(before + 5, stored.size());
        check(present(session));
      }
    }
  }

  /// Durable rows are read as before. A result that shows a commit that is not durable is refused, unless the client says that it does not
  /// mind.
  private void readWhileCommitsFail(Session session, char kind, boolean failing) {
    for (long value : stored) {
      long id = 2 * value;
      assertEquals(List.of(id), ids(session, "select id from t where id = " + id));
    }
    if (failing) {
      EndpointException refusal =
          assertThrows(EndpointException.class, () -> ids(session, "select id from t"));
      assertEquals(sqlstate(kind), refusal.sqlstate(), refusal.toString());
    }
    Transaction reader = session.begin();
    try (PreparedStatement all = session.prepare("select id from t");
        Rows rows = reader.query(all)) {
      assertTrue(values(ids(rows)).containsAll(stored));
    }
    reader.commit(CommitResponse.AVAILABLE);
  }

  private void check(Set<Long> present) {
    Set<Long> lost = new HashSet<>(stored);
    lost.removeAll(present);
    assertEquals(Set.of(), lost, "reported as stored, and not there");
    Set<Long> strange = new HashSet<>(present);
    strange.removeAll(stored);
    strange.removeAll(refused);
    assertEquals(Set.of(), strange);
    Set<Long> back = new HashSet<>(rolledBack);
    back.retainAll(present);
    assertEquals(Set.of(), back, "reported as rolled back, and there");
  }

  private static String sqlstate(char kind) {
    return kind == 'n' ? "53100" : "58030";
  }

  /// One transaction of two rows for each value, so that half of one would be seen.
  private void insert(Session session, int count, char kind) {
    try (PreparedStatement insert = session.prepare("insert into t values ($1, $2)", 20, 20)) {
      for (int i = 0; i < count; i++) {
        long value = ++last;
        Transaction transaction = session.begin();
        try {
          transaction.update(insert, insert.parameters().addRow(2 * value, 4 * value));
          transaction.update(insert, insert.parameters().addRow(2 * value + 1, 4 * value + 1));
          transaction.commit();
          stored.add(value);
        } catch (EndpointException e) {
          refused.add(value);
          if (!"08007".equals(e.sqlstate())) {
            assertEquals(sqlstate(kind), e.sqlstate(), e.toString());
            rolledBack.add(value);
          }
          transaction.close();
        }
      }
    }
  }

  private static List<Long> ids(Session session, String sql) {
    try (PreparedStatement all = session.prepare(sql);
        Rows rows = session.query(all)) {
      return ids(rows);
    }
  }

  private static List<Long> ids(Rows rows) {
    List<Long> ids = new ArrayList<>();
    while (rows.next()) {
      ids.add(rows.getLong(0));
    }
    return ids;
  }

  private static Set<Long> present(Session session) {
    return values(ids(session, "select id from t"));
  }

  private static Set<Long> values(List<Long> ids) {
    Set<Long> values = new HashSet<>();
    ids.forEach(id -> values.add(id / 2));
    assertEquals(values.size() * 2, ids.size(), "a transaction is there by half");
    return values;
  }
}
