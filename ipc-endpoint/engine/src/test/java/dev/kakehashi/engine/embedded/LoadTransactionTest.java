package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Transactions that loads have for themselves, beside others that write.
class LoadTransactionTest {
  private final MemoryFiles files = new MemoryFiles();
  private final CountDownLatch reads = new CountDownLatch(1);
  private final CompletableFuture<Boolean> mayRead = new CompletableFuture<>();
  private TestEngine test;

  @BeforeEach
  void open(@TempDir Path directory) {
    test = new TestEngine(directory);
    test.engine.bulkAccess(files);
    test.run("create table t (a int primary key)");
    test.run("create table other (a int primary key)");
    test.run("insert into t values (-1)");
    files.put("in:x", IntStream.range(0, 500).mapToObj(String::valueOf).toList());
    files.beforeBatch =
        () -> {
          reads.countDown();
          mayRead.join();
        };
  }

  @AfterEach
  void close() {
    mayRead.complete(true);
    test.close();
  }

  /// A load that runs in a transaction of its own.
  private final class Load {
    private final CompletableFuture<Boolean> done;

    Load(String sql) {
      done =
          CompletableFuture.supplyAsync(
              () -> {
                test.run(sql);
                return true;
              },
              task -> Thread.ofPlatform().start(task));
    }

    void end() throws InterruptedException, ExecutionException {
      assertTrue(done.get());
    }

    EngineException failure() {
      mayRead.complete(true);
      return (EngineException)
          requireNonNull(assertThrows(ExecutionException.class, done::get).getCause());
    }
  }

  private Load whileReading(String sql) throws InterruptedException {
    Load load = new Load(sql);
    reads.await();
    return load;
  }

  private List<String> count() {
    return test.query("select count(*) from t");
  }

  @Test
  void shouldKeepOthersFromWritingTheTableAlone() throws Exception {
    EngineTransaction before = test.begin(Isolation.REPEATABLE_READ);
    assertEquals(List.of("1"), test.run(before, "select count(*) from t").rows());
    Load load = whileReading("copy t from 'in:x'");
    EngineException refused =
        assertThrows(EngineException.class, () -> test.run("insert into t values (1000)"));
    assertEquals("40001", refused.code().sqlstate());
    assertTrue((refused.getMessage() + refused.detail()).contains("COPY public.t"));
    assertState("40001", () -> test.run("delete from t"));
    test.run("insert into other values (1)");
    assertEquals(List.of("1"), count());
    mayRead.complete(true);
    load.end();
    assertEquals(List.of("501"), count());
    assertEquals(List.of("1"), test.run(before, "select count(*) from t").rows());
    test.commit(before);
    test.run("insert into t values (1000)");
  }

  @Test
  void shouldWaitForWritersThatWereThereBefore() throws Exception {
    EngineTransaction before = test.begin(Isolation.READ_COMMITTED);
    test.run(before, "insert into t values (7)");
    Load load = new Load("copy t from 'in:x'");
    Await.untilEquals(
        "the load waits",
        List.of("t"),
        () ->
            test.query(
                "select waiting from kakehashi_catalog.transactions where label like 'COPY%'"));
    assertEquals(1, reads.getCount());
    test.rollback(before);
    mayRead.complete(true);
    load.end();
    assertEquals(List.of("501"), count());
  }

  @Test
  void shouldFailByWhatAnEarlierWriterHasCommitted() {
    EngineTransaction before = test.begin(Isolation.READ_COMMITTED);
    test.run(before, "insert into t values (7)");
    Load load = new Load("copy t from 'in:x'");
    test.commit(before);
    assertEquals("23505", load.failure().code().sqlstate());
    assertEquals(List.of("2"), count());
  }

  @Test
  void shouldLetOthersWriteIfItIsToldTo() throws Exception {
    Load load = whileReading("copy t from 'in:x' (write_preserve false)");
    test.run("insert into t values (1000)");
    test.run("delete from t where a = -1");
    mayRead.complete(true);
    load.end();
    assertEquals(List.of("501"), count());
  }

  @Test
  void shouldFailByKeyOfOthersIfTheyMayWrite() throws Exception {
    Load load = whileReading("copy t from 'in:x' (write_preserve false)");
    test.run("insert into t values (499)");
    assertEquals("23505", load.failure().code().sqlstate());
    assertEquals(List.of("2"), count());
  }

  @Test
  void shouldNotKeepOthersFromTablesThatItReferences() throws Exception {
    test.run("create table child (a int references t)");
    files.put("in:c", "-1", "-1");
    Load load = whileReading("copy child from 'in:c'");
    test.run("insert into t values (1000)");
    test.run("insert into child values (1000)");
    mayRead.complete(true);
    load.end();
    assertEquals(List.of("3"), test.query("select count(*) from child"));
  }

  @Test
  void shouldRunOneAfterTheOtherBesideAnotherLoad() throws Exception {
    files.put("in:y", "1000", "1001");
    Load first = whileReading("copy t from 'in:x'");
    Load second = new Load("copy t from 'in:y'");
    Await.untilEquals(
        "transactions that wait",
        List.of("1"),
        () -> test.query("select count(*) from kakehashi_catalog.transactions where waiting"));
    assertFalse(second.done.isDone());
    mayRead.complete(true);
    first.end();
    second.end();
    assertEquals(List.of("503"), count());
  }

  @Test
  void shouldStayInWhatTheClientHasChosen() {
    mayRead.complete(true);
    BeginOptions readOnly = new BeginOptions(Kind.RTX, Isolation.READ_COMMITTED, "");
    assertEquals(readOnly, test.prepare("copy t from 'in:x'").ownTransaction(readOnly));
    BeginOptions batches =
        test.prepare("copy t from 'in:x' (batch_rows 9)").ownTransaction(BeginOptions.DEFAULT);
    assertEquals(BeginOptions.DEFAULT, batches);
    EngineTransaction block = test.begin(Isolation.READ_COMMITTED);
    test.start(block, "copy t from 'in:x'", ExecuteOptions.DEFAULT).await();
    test.run("insert into t values (1000)");
    test.commit(block);
    assertEquals(List.of("502"), count());
  }
}
