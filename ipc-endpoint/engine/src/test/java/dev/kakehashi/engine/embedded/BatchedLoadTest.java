package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// COPY ... FROM in batches.
class BatchedLoadTest {
  private final MemoryFiles files = new MemoryFiles();
  private TestEngine test;

  @BeforeEach
  void open(@TempDir Path directory) {
    test = new TestEngine(directory);
    test.engine.bulkAccess(files);
  }

  @AfterEach
  void close() {
    test.close();
  }

  private String load(String sql) {
    return test.query(sql).getFirst();
  }

  private static List<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(String::valueOf).toList();
  }

  private List<String> sums() {
    return test.query("select count(*), sum(a), count(distinct a) from t");
  }

  @Test
  void shouldCommitByItself() {
    test.run("create table t (a int primary key)");
    files.put("in:x", numbers(10_000));
    assertEquals(
        "10000|9999|0|1|NULL|NULL", load("copy t from 'in:x' (batch_rows 700) where a <> 5"));
    assertEquals(List.of("9999|49994995|9999"), sums());
  }

  @Test
  void shouldRefuseTransactionBlock() {
    test.run("create table t (a int)");
    files.put("in:x", "1");
    EngineTransaction block = test.begin(BeginOptions.Isolation.READ_COMMITTED);
    assertState("25001", () -> test.run(block, "copy t from 'in:x' (batch_rows 1)"));
    test.rollback(block);
  }

  @Test
  void shouldSayWhatIsInWhenItEndsEarly() {
    test.run("create table t (a int primary key)");
    List<String> lines = new ArrayList<>(numbers(100));
    lines.set(55, "x");
    files.put("in:x", lines);
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> load("copy t from 'in:x' (batch_rows 10, step_rows 10, workers 1)"));
    assertEquals("22P02", refused.code().sqlstate());
    assertEquals("50 rows are in the table.", refused.hint());
    assertEquals(List.of("50"), test.query("select count(*) from t"));
  }

  @Test
  void shouldGoOnWhereItHasBrokenOff() {
    test.run("create table t (a int, b int default 1)");
    files.put("in:x", numbers(10_000));
    AtomicInteger steps = new AtomicInteger();
    AtomicInteger most = new AtomicInteger(3);
    files.beforeBatch =
        () -> {
          if (steps.incrementAndGet() > most.get()) {
            throw new EngineException(ErrorCode.IO_ERROR, "the disk is gone");
          }
        };
    String copy = "copy t (a) from 'in:x' (batch_rows 250, load_id 'one') where a <> 4321";
    int runs = 0;
    while (true) {
      try {
        assertEquals("10000|9999|0|1|NULL|one", load(copy));
        break;
      } catch (EngineException broken) {
        assertEquals("58030", broken.code().sqlstate());
        assertTrue(broken.hint().contains("rows of load \"one\" are in the table"));
        steps.set(0);
        most.addAndGet(2);
        runs++;
      }
    }
    assertTrue(runs > 2, () -> "it has broken off too seldom");
    assertEquals(List.of("9999|49990679|9999"), sums());
    steps.set(0);
    assertEquals(9999, test.run(copy).count());
    assertEquals(List.of("9999|49990679|9999"), sums());
    assertEquals(
        List.of("10000|9999|1|t"),
        test.query(
            "select rows, loaded, filtered, done from kakehashi_bulk.load_parts where part = -1"));
    assertEquals(
        List.of("10|10000|9999|10"),
        test.query(
            "select count(*), sum(rows), sum(loaded), count(*) filter (where done)"
                + " from kakehashi_bulk.load_parts where part >= 0"));
  }

  @Test
  void shouldGoOnInPartWithRejectedRows() {
    test.run("create table t (a int primary key)");
    List<String> lines = new ArrayList<>(numbers(1000));
    for (int i = 3; i < 1000; i += 10) {
      lines.set(i, i % 20 == 3 ? "x" : "0");
    }
    files.put("in:x", lines);
    AtomicInteger left = new AtomicInteger(7);
    files.beforeBatch =
        () -> {
          if (left.decrementAndGet() == 0) {
            throw new EngineException(ErrorCode.IO_ERROR, "the disk is gone");
          }
        };
    String copy =
        "copy t from 'in:x' (batch_rows 20, step_rows 33, part_rows 400, workers 1, on_error ignore, load_id 'r')";
    assertState("58030", () -> load(copy));
    assertEquals("1000|900|100|0|in:rejected.csv|r", load(copy));
    assertEquals(List.of("900"), test.query("select count(distinct a) from t"));
  }

  @Test
  void shouldRefuseOtherFilesAndTablesForTheSameName() {
    test.run("create table t (a int)");
    test.run("create table u (a int)");
    files.put("in:x", "1", "2");
    load("copy t from 'in:x' (batch_rows 1, load_id 'n')");
    files.put("in:x", "1", "3");
    assertState("55000", () -> load("copy t from 'in:x' (batch_rows 1, load_id 'n')"));
    files.put("in:x", "1", "2");
    assertState("55000", () -> load("copy u from 'in:x' (batch_rows 1, load_id 'n')"));
    assertEquals(2, test.run("copy u from 'in:x' (batch_rows 1, load_id 'm')").count());
  }

  @Test
  void shouldRefuseSecondRunWhileOneRuns() throws InterruptedException {
    test.run("create table t (a int)");
    files.put("in:x", numbers(10));
    CountDownLatch reads = new CountDownLatch(1);
    CompletableFuture<Boolean> mayRead = new CompletableFuture<>();
    files.beforeBatch =
        () -> {
          reads.countDown();
          mayRead.join();
        };
    EngineTransaction own = test.begin(BeginOptions.Isolation.READ_COMMITTED);
    own.ofOneStatement();
    String copy = "copy t from 'in:x' (batch_rows 5, load_id 'n', workers 1)";
    TestEngine.Running first = test.start(own, copy, ExecuteOptions.DEFAULT);
    reads.await();
    assertState("55P03", () -> load(copy));
    mayRead.complete(true);
    assertEquals(10, first.await().count());
    test.commit(own);
    assertEquals(List.of("10|45|10"), sums());
  }

  @Test
  void shouldNotBlockItselfByRowsOfTheSameKey() {
    test.run("create table t (a int primary key)");
    List<String> lines = IntStream.range(0, 8000).mapToObj(i -> String.valueOf(i % 4000)).toList();
    files.put("in:x", lines);
    assertEquals(
        "8000|4000|4000|0|in:rejected.csv|NULL",
        load("copy t from 'in:x' (batch_rows 1000, on_error ignore, workers 2)"));
  }

  /// Rows with two unique keys, of which some are there twice, some cannot be converted and some violate a check.
  private static List<String> rowsWithDuplicates(long seed) {
    Random random = new Random(seed);
    return IntStream.range(0, 9000)
        .mapToObj(i ->
            switch (random.nextInt(100)) {
              case 0 -> "x|1";
              case 1 -> i + "|-1";
              default ->
                  (i - (random.nextInt(500) == 0 ? random.nextInt(50) : 0))
                      + "|"
                      + (i - (random.nextInt(500) == 0 ? random.nextInt(50) : 0));
            })
        .toList();
  }

  @Test
  void shouldRejectRowsOfABatchAsIfTheyWereInsertedOneByOne() {
    long seed = System.nanoTime();
    files.put("in:x", rowsWithDuplicates(seed));
    String columns = " (a int primary key, b int unique check (b >= 0))";
    test.run("create table t" + columns);
    test.run("create table u" + columns);
    String options = " from 'in:x' (on_error ignore, workers 1, part_rows 4000, batch_rows ";
    String oneByOne = load("copy u" + options + "900)");
    List<String> rejected = files.rejected;
    assertEquals(0, files.rereads.get());
    assertEquals(oneByOne, load("copy t" + options + "1100)"), () -> "seed " + seed);
    assertTrue(files.rereads.get() > 0, () -> "seed " + seed);
    assertEquals(rejected, files.rejected, () -> "seed " + seed);
    assertTrue(rejected.size() > 100, () -> "seed " + seed);
    assertEquals(
        List.of("0"),
        test.query("select count(*) from (select * from t except select * from u) as d"),
        () -> "seed " + seed);
    assertEquals(
        List.of("t"), test.query("select (select count(*) from t) = (select count(*) from u)"));
  }

  @Test
  void shouldNameTheLineOfAKeyThatIsThereTwice() {
    test.run("create table t (a int primary key)");
    List<String> lines = new ArrayList<>(numbers(6000));
    lines.set(4321, "17");
    files.put("in:x", lines);
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> load("copy t from 'in:x' (batch_rows 2000, part_rows 6000, workers 1)"));
    assertEquals("23505", refused.code().sqlstate());
    assertEquals("line 4322", refused.detail());
    assertEquals(List.of("4000"), test.query("select count(*) from t"));
  }

  @Test
  void shouldWaitForKeyOfOtherTransactionAndGoOn() throws Exception {
    test.run("create table t (a int primary key)");
    files.put("in:x", numbers(3000));
    EngineTransaction other = test.begin(BeginOptions.Isolation.READ_COMMITTED);
    test.run(other, "insert into t values (1500)");
    CompletableFuture<String> loading =
        CompletableFuture.supplyAsync(
            () -> load("copy t from 'in:x' (batch_rows 3000, part_rows 3000, workers 1)"),
            task -> Thread.ofPlatform().start(task));
    Await.untilEquals("files that are read again", 1, files.rereads::get);
    test.rollback(other);
    assertEquals("3000|3000|0|0|NULL|NULL", loading.get());
    assertEquals(List.of("3000|4498500|3000"), sums());
  }

  @Test
  void shouldBeOneCopyWithTheCountsOfAllItsLanes(@TempDir Path other) throws Exception {
    test.close();
    test = new TestEngine(other, 3);
    test.engine.bulkAccess(files);
    test.run("create table t (a int primary key)");
    files.put("in:x", numbers(8000));
    // Both lanes are at work when they meet: before their first rows, and when each has committed
    // some.
    CyclicBarrier first = new CyclicBarrier(3);
    CyclicBarrier later = new CyclicBarrier(3);
    AtomicInteger steps = new AtomicInteger();
    files.beforeBatch =
        () -> {
          try {
            int step = steps.incrementAndGet();
            @Nullable CyclicBarrier meeting =
                step <= 2 ? first : step == 9 || step == 10 ? later : null;
            if (meeting != null) {
              int ignored = meeting.await(1, TimeUnit.MINUTES);
              ignored = meeting.await(1, TimeUnit.MINUTES);
            }
          } catch (InterruptedException | BrokenBarrierException | TimeoutException failed) {
            throw new AssertionError(failed);
          }
        };
    String copy =
        "copy t from 'in:x' (batch_rows 300, workers 2, part_rows 4000, step_rows 300) where a % 10 <> 3";
    CompletableFuture<String> loading =
        CompletableFuture.supplyAsync(() -> load(copy), task -> Thread.ofPlatform().start(task));
    String copies =
        "select command, rows_processed, rows_filtered, rows_rejected, bytes_total from kakehashi_catalog.copies";
    int ignored = first.await(1, TimeUnit.MINUTES);
    assertEquals(List.of("COPY FROM|0|0|0|8000"), test.query(copies));
    List<String> id = test.query("select job_id from kakehashi_catalog.copies");
    ignored = first.await(1, TimeUnit.MINUTES);
    ignored = later.await(1, TimeUnit.MINUTES);
    assertEquals(List.of("COPY FROM|2400|240|0|8000"), test.query(copies));
    assertEquals(id, test.query("select job_id from kakehashi_catalog.copies"));
    assertEquals(List.of("2160"), test.query("select count(*) from t"));
    ignored = later.await(1, TimeUnit.MINUTES);
    assertEquals("8000|7200|0|800|NULL|NULL", loading.get());
    Await.untilEquals("copies", List.of(), () -> test.query(copies));
  }

  @Test
  void shouldShowLoadsToTheirOwnerAlone() {
    test.run("create table t (a int)");
    files.put("in:x", "1");
    load("copy t from 'in:x' (batch_rows 1, load_id 'n')");
    assertEquals(List.of(), test.other().query("select load_id from kakehashi_bulk.load_parts"));
    assertEquals(
        List.of("n|public.t|1"),
        test.query(
            "select load_id, table_name, rows from kakehashi_bulk.load_parts where part = 0"));
  }
}
