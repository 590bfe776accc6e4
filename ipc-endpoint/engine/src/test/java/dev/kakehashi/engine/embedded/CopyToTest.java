package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// COPY TO, with files in memory: which rows go where, in which order, and what is left after errors. The form of files is not the
/// engine's.
class CopyToTest {
  private static final int ROWS = 30_000;

  @TempDir Path directory;

  private final CollectedFiles files = new CollectedFiles();
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.engine.bulkAccess(files);
  }

  @AfterEach
  void close() {
    engine.close();
    assertEquals(0, files.open.get(), "open dumps");
  }

  private void fill() {
    engine.run("create table t (a int primary key, b text, c numeric(8,2) not null)");
    engine.run(
        "insert into t select i, case when i % 7 > 0 then 'row ' || i end, i / 8.0"
            + " from generate_series(1, "
            + ROWS
            + ") i");
  }

  private static List<String> sorted(List<String> lines) {
    return lines.stream().sorted().toList();
  }

  @Test
  void shouldWriteTheRowsOfATableIntoOneFile() {
    fill();
    assertEquals(
        List.of("out:x|" + ROWS + "|" + 2 * ROWS + "|d0"), engine.query("copy t to 'out:x'"));
    assertEquals(
        sorted(engine.query("select * from t")),
        sorted(Objects.requireNonNull(files.files.get("out:x"))));
    assertEquals(1, files.writers.get());
    assertEquals("t", files.query);
    assertEquals(
        List.of(
            new LoadColumn("a", 23, -1, "integer", false, List.of()),
            new LoadColumn("b", 25, -1, "text", true, List.of()),
            new LoadColumn("c", 1700, 8 << 16 | 6, "numeric(8,2)", false, List.of())),
        files.columns);
  }

  @Test
  void shouldWriteInParallelIntoSeveralFiles() {
    fill();
    engine.query("copy t to 'out:x' (parallel)");
    List<String> all = new ArrayList<>();
    files.files.values().forEach(all::addAll);
    assertEquals(sorted(engine.query("select * from t")), sorted(all));
    assertEquals(files.files.size(), files.writers.get());
  }

  @Test
  void shouldWriteFromSeveralTasksAtATime() throws InterruptedException {
    engine.run("create table wide (a int8, b int8, c int8, d int8, e int8, f int8, g int8)");
    engine.run("insert into wide select i, i, i, i, i, i, i from generate_series(1, 60000) i");
    files.reached = new CountDownLatch(2);
    files.go = new CountDownLatch(1);
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    TestEngine.Running running = start(transaction, "copy wide to 'out:x' (parallel)", 0);
    boolean both = files.reached.await(30, TimeUnit.SECONDS);
    files.go.countDown();
    assertTrue(both, "a second task writes while the first one is held");
    assertEquals(2, running.await().rows().size());
    engine.rollback(transaction);
    assertEquals(60_000, files.files.values().stream().mapToInt(List::size).sum());
  }

  @Test
  void shouldTakeNoMoreTasksThanAskedFor() {
    engine.run("create table wide (a int8, b int8, c int8, d int8, e int8, f int8, g int8)");
    engine.run("insert into wide select i, i, i, i, i, i, i from generate_series(1, 60000) i");
    engine.query("copy wide to 'out:x' (parallel, workers 1)");
    assertEquals(1, files.writers.get());
  }

  @Test
  void shouldKeepTheOrderOfAQuery() {
    fill();
    String query = "select a, b from t where a % 3 = 0 order by c desc";
    engine.query("copy (" + query + ") to 'out:x'");
    assertEquals(engine.query(query), files.files.get("out:x"));
    assertEquals(query, files.query);
    engine.query("copy (" + query + ") to 'out:y' (parallel)");
    assertEquals(engine.query(query), files.files.get("out:y/0"));
  }

  @Test
  void shouldSortAsTheFilesAskFor() {
    fill();
    engine.query("copy t (b, a) to 'out:x' (parallel, partition_by (b), order_by (a desc))");
    assertEquals(engine.query("select b, a from t order by b, a desc"), files.files.get("out:x/0"));
    engine.query(
        "copy (select a as \"A b\", b from t -- here\n) to 'out:y' (order_by (\"A b\" desc, b))");
    assertEquals(engine.query("select a, b from t order by a desc"), files.files.get("out:y"));
  }

  @Test
  void shouldWriteAFileWithoutRows() {
    fill();
    assertEquals(
        List.of("out:x|0|0|d0"), engine.query("copy (select * from t where a < 0) to 'out:x'"));
    assertEquals(
        List.of("out:x/0|0|0|d0"), engine.query("copy (select 1 limit 0) to 'out:x' (parallel)"));
  }

  @Test
  void shouldLeaveOutGeneratedColumns() {
    engine.run("create table g (a int, b int generated always as (a + 1) stored, \"C\" text)");
    engine.run("insert into g values (1, default, 'x')");
    engine.run("create index on g (upper(\"C\"))");
    engine.query("copy g to 'out:x'");
    assertEquals(List.of("1|x"), files.files.get("out:x"));
    assertRefused("42P10", "copy g (^b) to 'out:x'");
  }

  /// @param marked statement, with a ^ where the error is; without one it is nowhere
  private void assertRefused(String state, String marked) {
    String sql = marked.replace("^", "");
    EngineException refused = assertThrows(EngineException.class, () -> engine.query(sql));
    assertEquals(state, refused.code().sqlstate(), refused.getMessage());
    assertEquals(marked.indexOf('^') + 1, refused.position(), refused.getMessage());
  }

  @Test
  void shouldRefuseAsPostgres() {
    fill();
    engine.run("create view v as select a from t");
    engine.run("create sequence s");
    assertRefused("42809", "copy ^v to 'out:x'");
    assertRefused("42809", "copy ^s to 'out:x'");
    assertRefused("42P01", "copy ^nothing to 'out:x'");
    assertRefused("42703", "copy t (a, ^nothing) to 'out:x'");
    assertRefused("42701", "copy t (a, ^a) to 'out:x'");
    assertRefused("42703", "copy (select a, ^nothing from t) to 'out:x'");
    assertRefused("42703", "copy t to 'out:x' (^order_by (nothing))");
    assertRefused("42702", "copy (select 1 as a, 2 as a) to 'out:x' (^order_by (a))");
    assertRefused("0A000", "copy (select a from t for update) to 'out:x'");
    assertRefused("42601", "copy t to 'out:x' (^unknown 1)");
    assertTrue(files.files.isEmpty());
  }

  @Test
  void shouldShowOwnRowsAndKeepTheFileWhenTheTransactionRollsBack() {
    fill();
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    engine.run(transaction, "delete from t where a > 1");
    engine.run(transaction, "copy t (a) to 'out:x'");
    engine.rollback(transaction);
    assertEquals(List.of("1"), files.files.get("out:x"));
    assertEquals(List.of("" + ROWS), engine.query("select count(*) from t"));
  }

  @Test
  void shouldReadTheSnapshotOfAReadOnlyTransaction() {
    fill();
    EngineTransaction transaction =
        engine.engine.begin(
            new BeginOptions(
                BeginOptions.Kind.RTX, BeginOptions.Isolation.REPEATABLE_READ, "dump"));
    engine.run(transaction, "select 1 from t limit 1");
    engine.run("delete from t where a > 2");
    engine.run(transaction, "copy t (a) to 'out:x'");
    engine.run(transaction, "copy (select count(*) from t) to 'out:y'");
    engine.rollback(transaction);
    assertEquals(ROWS, Objects.requireNonNull(files.files.get("out:x")).size());
    assertEquals(List.of("" + ROWS), files.files.get("out:y"));
  }

  @Test
  void shouldLeaveNoFileAfterAnError() {
    fill();
    assertState("53100", () -> engine.query("copy t to 'out:x' (fail_after 10000)"));
    assertState("53100", () -> engine.query("copy t to 'out:x' (parallel, fail_after 10000)"));
    assertState(
        "22012", () -> engine.query("copy (select a / (a - 20000) from t) to 'out:x' (parallel)"));
    assertTrue(files.files.isEmpty());
  }

  private TestEngine.Running start(EngineTransaction transaction, String sql, long timeoutNanos) {
    return engine.start(
        transaction,
        engine.prepare(sql),
        new @Nullable Object[][] {{}},
        Integer.MAX_VALUE,
        timeoutNanos);
  }

  @Test
  void shouldEndWhenCanceledAndLeaveNoFile() throws InterruptedException {
    fill();
    for (String options : List.of("", " (parallel)")) {
      files.reached = new CountDownLatch(1);
      files.go = new CountDownLatch(1);
      EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
      TestEngine.Running running = start(transaction, "copy t to 'out:x'" + options, 0);
      assertTrue(files.reached.await(30, TimeUnit.SECONDS));
      Objects.requireNonNull(running.execution).cancel();
      assertState("57014", running::await);
      engine.rollback(transaction);
    }
    assertTrue(files.files.isEmpty());
  }

  @Test
  void shouldEndAfterTheStatementsTime() {
    fill();
    files.go = new CountDownLatch(1);
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    TestEngine.Running running = start(transaction, "copy t to 'out:x'", 20_000_000);
    assertState("57014", running::await);
    engine.rollback(transaction);
    assertTrue(files.files.isEmpty());
  }

  // ---- to the client ----

  private static String text(List<String> rows) {
    StringBuilder text = new StringBuilder();
    rows.forEach(row ->
        text.append(new String(HexFormat.of().parseHex(row.substring(2)), StandardCharsets.UTF_8)));
    return text.toString();
  }

  @Test
  void shouldSendTheBytesInPieces() {
    fill();
    List<String> rows = engine.query("copy (select a, b from t order by a) to stdout");
    assertTrue(rows.size() > 1, "pieces: " + rows.size());
    assertEquals(
        String.join("\n", engine.query("select a, b from t order by a")) + "\n", text(rows));
  }

  @Test
  void shouldWaitForAClientThatTakesPiecesSlowly() {
    fill();
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    TestEngine.Running running =
        engine.start(
            transaction,
            engine.prepare("copy t (a) to stdout"),
            new @Nullable Object[][] {{}},
            1,
            0);
    while (!running.done.isDone()) {
      if (running.sink.waiters() > 0) {
        running.sink.release();
      }
      Thread.onSpinWait();
    }
    List<String> lines = text(running.await().rows()).lines().sorted().toList();
    engine.rollback(transaction);
    assertEquals(LongStream.rangeClosed(1, ROWS).mapToObj(Long::toString).sorted().toList(), lines);
  }

  @Test
  void shouldEndWhenCanceledWhileItWaitsForTheClient() {
    fill();
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    TestEngine.Running running =
        engine.start(
            transaction, engine.prepare("copy t to stdout"), new @Nullable Object[][] {{}}, 1, 0);
    running.awaitFullSink();
    Objects.requireNonNull(running.execution).cancel();
    assertState("57014", running::await);
    engine.rollback(transaction);
  }

  // ---- functions ----

  @Test
  void shouldInspectAFile() {
    assertEquals(
        List.of("in:x|option|format|csv", "in:x|option|cols|a+b", "in:x|file||test"),
        engine.query("select * from kakehashi_inspect('in:x', 'format csv, cols (a, b)')"));
    assertEquals(
        List.of("in:x|file||test"), engine.query("select * from kakehashi_inspect('in:x')"));
    assertState("42601", () -> engine.query("select * from kakehashi_inspect('in:x', 'a) x (b')"));
  }

  @Test
  void shouldKeepUploadsOfTheirOwner() {
    String id = engine.query("select kakehashi_upload_begin()").getFirst();
    assertEquals(
        List.of("3"), engine.query("select kakehashi_upload_append($1, 0, '\\x010203')", id));
    assertEquals(
        List.of("5"),
        engine.query("select n from kakehashi_upload_append($1, 3, '\\x0405') as u(n)", id));
    assertEquals(List.of("5"), engine.query("select kakehashi_upload_length($1)", id));
    assertState("22023", () -> engine.query("select kakehashi_upload_append($1, 4, '')", id));
    String sql = "select kakehashi_upload_length('" + id + "')";
    assertState("58P01", () -> engine.other("other").query(sql));
    assertEquals(List.of("t"), engine.query("select kakehashi_upload_remove($1)", id));
    assertState("58P01", () -> engine.query(sql));
  }
}
