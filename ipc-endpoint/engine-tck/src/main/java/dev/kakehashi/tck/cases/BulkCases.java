package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.RETURNING;
import static dev.kakehashi.protocol.capability.Capability.SAVEPOINTS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.tck.drive.CollectingSink;
import dev.kakehashi.tck.drive.CollectingSink.Reading;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Many rows in and out: batches of parameters, results larger than any buffer, readers that are slow or gone.
public interface BulkCases extends Conformance {
  /// Rows of the large result.
  int RESULT_ROWS = Integer.getInteger("kakehashi.tck.rows", 20_000);

  /// Rows of a batch of parameters.
  int BATCH_ROWS = 10_000;

  private static @Nullable Object[][] rows(int from, int count) {
    return IntStream.range(from, from + count)
        .mapToObj(i -> new @Nullable Object[] {i, i % 10 == 0 ? null : "value " + i})
        .toArray(Object[][]::new);
  }

  @Test
  default void shouldInsertUpdateAndDeleteByBatches() {
    String table = table("id int8 primary key, v text");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          BATCH_ROWS,
          transaction.runBatch("insert into " + table + " values ($1, $2)", rows(0, BATCH_ROWS)));
      assertEquals(
          1000, // half of the rows are not there
          transaction.runBatch(
              "update " + table + " set v = $2 || '!' where id = $1", rows(9000, 2000)));
      transaction.commit();
    }
    assertEquals(
        List.of("10000|9000|900"),
        client()
            .query(
                "select count(*), count(v), sum(case when v like '%!' then 1 else 0 end) from "
                    + table));
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      @Nullable Object[][] ids =
          IntStream.range(0, 5000)
              .mapToObj(i -> new @Nullable Object[] {2 * i})
              .toArray(Object[][]::new);
      assertEquals(5000, transaction.runBatch("delete from " + table + " where id = $1", ids));
      transaction.commit();
    }
    assertEquals(List.of("5000|1"), client().query("select count(*), min(id) from " + table));
  }

  @Test
  default void shouldUndoTheWholeBatchIfOneRowFails() {
    String table = table("id int8 primary key, v text");
    client().run("insert into " + table + " values (5000, 'there')");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into " + table + " values (-1, 'mine')");
      refused(
          "23505",
          () ->
              transaction.runBatch(
                  "insert into " + table + " values ($1, $2)", rows(0, BATCH_ROWS)));
      assertEquals(
          List.of("-1", "5000"), transaction.query("select id from " + table + " order by id"));
      transaction.commit();
    }
    assertEquals(List.of("2"), client().query("select count(*) from " + table));
  }

  @Test
  default void shouldSeeEarlierRowsOfTheBatch() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 1)");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          3,
          transaction.runBatch(
              "update " + table + " set v = v * 10 + $1 where id = 1",
              new @Nullable Object[][] {{2}, {3}, {4}}));
      transaction.commit();
    }
    assertEquals(List.of("1234"), client().query("select v from " + table));
  }

  @Test
  default void shouldAddTheRowsOfAQueryForEachRowOfParameters() {
    Statement query = client().prepare("select a from generate_series(1, $1::int4) a");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement running =
          transaction.startBatch(
              query, ExecuteOptions.DEFAULT, new @Nullable Object[][] {{2}, {0}, {3}});
      assertEquals(5, running.await());
      assertEquals(List.of("1", "2", "1", "2", "3"), running.sink().rows());
    }
  }

  @Test
  @NeedsCapability(RETURNING)
  default void shouldReturnTheRowsOfABatch() {
    String table = table("id int8 primary key, v text");
    Statement insert =
        client().prepare("insert into " + table + " values ($1, $2) returning id + 1");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement running = transaction.startBatch(insert, ExecuteOptions.DEFAULT, rows(0, 3));
      assertEquals(List.of("1", "2", "3"), running.awaitRows());
    }
  }

  @Test
  default void shouldRunForABatchWithoutParameters() {
    String table = table("id int4 generated always as identity, v int8");
    Statement insert = client().prepare("insert into " + table + " (v) values (7)");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          3,
          transaction
              .startBatch(insert, ExecuteOptions.DEFAULT, new @Nullable Object[][] {{}, {}, {}})
              .await());
      transaction.commit();
    }
    assertEquals(List.of("3|21"), client().query("select count(*), sum(v) from " + table));
  }

  private String many() {
    String table = table("id int8 primary key, v text");
    client()
        .run(
            "insert into "
                + table
                + " select i, repeat('x', 100) from generate_series(1, "
                + RESULT_ROWS
                + ") i");
    return table;
  }

  @Test
  default void shouldGiveALargeResultThroughFewBuffers() {
    String table = many();
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement all = transaction.startInto("select * from " + table, Reading.COUNT, 2);
      assertEquals(RESULT_ROWS, all.await());
      assertEquals(RESULT_ROWS, all.sink().count());
      RunningStatement ordered =
          transaction.startInto("select id from " + table + " order by id", Reading.KEEP, 1);
      List<String> ids = ordered.awaitRows();
      assertEquals(RESULT_ROWS, ids.size());
      for (int i = 0; i < ids.size(); i++) {
        assertEquals(Integer.toString(i + 1), ids.get(i));
      }
    }
  }

  @Test
  default void shouldWaitForASlowReaderWithoutHoldingOthersUp() {
    String table = many();
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement slow = transaction.startInto("select * from " + table, Reading.HOLD, 2);
      Waits.until("the statement waits for its reader", () -> slow.sink().hasWaiters());
      long read = slow.sink().count();
      assertTrue(read > 0 && read < RESULT_ROWS, "read " + read);
      assertFalse(slow.isDone());
      // Others are not held up, and neither is the transaction itself.
      for (int i = 0; i < 20; i++) {
        assertEquals(List.of("1"), another().query("select 1"));
      }
      slow.sink().release();
      Waits.until("the statement goes on", () -> slow.sink().count() > read);
      slow.sink().readOn();
      assertEquals(RESULT_ROWS, slow.await());
      assertEquals(RESULT_ROWS, slow.sink().count());
    }
  }

  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldGoOnWithAQueryThatBeganBeforeASavepoint() {
    String table = many();
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement before = transaction.startInto("select * from " + table, Reading.HOLD, 2);
      Waits.until("the first waits for its reader", () -> before.sink().hasWaiters());
      transaction.savepoint(1);
      RunningStatement after = transaction.startInto("select * from " + table, Reading.HOLD, 2);
      Waits.until("the second waits for its reader", () -> after.sink().hasWaiters());
      transaction.rollbackTo(1);
      refused("57014", after);
      before.sink().release();
      before.sink().readOn();
      assertEquals(RESULT_ROWS, before.await());
      assertEquals(RESULT_ROWS, before.sink().count());
    }
  }

  /// Rows that nobody reads yet stay where they are: with a reader that reads nothing the process holds no more than some buffers.
  @Test
  default void shouldHoldLittleForAReaderThatDoesNotRead() {
    String table = table("id int8 primary key, v text");
    client()
        .run(
            "insert into "
                + table
                + " select i, repeat('y', 1000) from generate_series(1, 40000) i");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      long before = heapUsed();
      RunningStatement slow = transaction.startInto("select * from " + table, Reading.HOLD, 2);
      Waits.until("the statement waits for its reader", () -> slow.sink().hasWaiters());
      // The collector may need several turns for what is garbage.
      Waits.until("the heap holds little more", () -> heapUsed() - before < 16 << 20);
      slow.cancel();
      refused("57014", slow);
    }
  }

  private static long heapUsed() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  @Test
  default void shouldCancelAStatementThatWaitsForItsReader() {
    String table = many();
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement slow = transaction.startInto("select * from " + table, Reading.HOLD, 1);
      Waits.until("the statement waits for its reader", () -> slow.sink().hasWaiters());
      slow.cancel();
      refused("57014", slow);
      RunningStatement rolledBack =
          transaction.startInto("select * from " + table, Reading.HOLD, 1);
      Waits.until("the statement waits for its reader", () -> rolledBack.sink().hasWaiters());
      transaction.rollback();
      DrivenEngine.failureOf(() -> rolledBack.await());
    }
  }

  @Test
  default void shouldEndAStatementWhoseReaderIsGone() {
    String table = many();
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement left = transaction.startInto("select * from " + table, Reading.HOLD, 1);
      Waits.until("the statement waits for its reader", () -> left.sink().hasWaiters());
      left.sink().leave();
      refused("57014", left);
      assertEquals(List.of("1"), transaction.query("select 1"));
    }
  }

  @Test
  default void shouldAskForALongBufferForALongRow() {
    int length = 3 << 20;
    String table = table("id int8 primary key, v text");
    client().run("insert into " + table + " values (1, repeat('x', " + length + ")), (2, 'short')");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          List.of("2|short", "1|" + "x".repeat(length)),
          transaction
              .startInto("select * from " + table + " order by id desc", Reading.KEEP, 1)
              .awaitRows());
    }
  }

  @Test
  default void shouldRefuseARowThatNoBatchCanHave() {
    int length = CollectingSink.MAX_BATCH_BYTES;
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      refused("54000", transaction.start("select repeat('x', " + length + ")"));
      assertEquals(List.of("1"), transaction.query("select 1"));
    }
  }

  @Test
  default void shouldGiveManyColumns() {
    int columns = 200;
    String list =
        String.join(
            ", ",
            IntStream.range(0, columns)
                .mapToObj(i -> i % 7 == 0 ? "null::int8" : i + "::int8")
                .toList());
    String expected =
        String.join(
            "|",
            IntStream.range(0, columns)
                .mapToObj(i -> i % 7 == 0 ? "NULL" : Integer.toString(i))
                .toList());
    assertEquals(List.of(expected), client().query("select " + list));
  }
}
