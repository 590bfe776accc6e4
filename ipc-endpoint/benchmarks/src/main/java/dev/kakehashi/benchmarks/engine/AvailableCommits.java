package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.EmbeddedEngine;
import dev.kakehashi.engine.embedded.EngineConfig;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Transactions in the engine, without a bridge, that change one row by key and end as soon as others can see it. Their log is
/// written behind them.
///
/// Argument: an empty data directory. Settings as [EngineBenchmark] has them.
public final class AvailableCommits {
  private static final int THREADS = 2;

  /// Rows each thread changes in turn, so that the threads do not meet.
  private static final int ROWS = 1000;

  private static final int KEY_BYTES = 256;

  private AvailableCommits() {}

  public static void main(String[] arguments) throws Exception {
    int seconds = Integer.getInteger("bench.seconds", 3);
    int warmUpSeconds = Integer.getInteger("bench.warmUpSeconds", 5);
    try (TaskScheduler scheduler =
            TaskScheduler.start(SchedulerConfig.builder().workers(THREADS).build());
        EmbeddedEngine engine =
            EmbeddedEngine.open(EngineConfig.of(Path.of(arguments[0])), scheduler)) {
      try (EngineSession session = engine.openSession("benchmark")) {
        for (int thread = 0; thread < THREADS; thread++) {
          execute(engine, prepare(session, definition(thread)), ParameterBatch.NONE);
          execute(engine, prepare(session, rows(thread)), ParameterBatch.NONE);
        }
      }
      double warm = rate(engine, warmUpSeconds);
      double rate =
          warm == 0
              ? 0
              : new Repetitions(0, Integer.getInteger("bench.repetitions", 5))
                  .alone(() -> rate(engine, seconds));
      Report.atLeast(
          "single-row transaction, available, in the engine",
          Report.perSecond(rate),
          rate,
          100_000,
          "100,000/s");
    }
  }

  private static String definition(int thread) {
    return "CREATE TABLE counters" + thread + " (id int8 PRIMARY KEY, v int8)";
  }

  private static String rows(int thread) {
    return "INSERT INTO counters%d WITH RECURSIVE s(i) AS (SELECT 0::int8 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i, 0 FROM s"
        .formatted(thread, ROWS - 1);
  }

  private static double rate(EmbeddedEngine engine, int seconds)
      throws InterruptedException, ExecutionException {
    long began = System.nanoTime();
    long end = began + TimeUnit.SECONDS.toNanos(seconds);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<Long>> counts = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        String table = "counters" + thread;
        counts.add(threads.submit(() -> updateUntil(engine, table, end)));
      }
      long sum = 0;
      for (Future<Long> count : counts) {
        sum += count.get();
      }
      return sum * 1e9 / (System.nanoTime() - began);
    }
  }

  private static long updateUntil(EmbeddedEngine engine, String table, long end) {
    long count = 0;
    try (Arena arena = Arena.ofShared();
        EngineSession session = engine.openSession("benchmark")) {
      Statement statement = prepare(session, "UPDATE " + table + " SET v = v + 1 WHERE id = $1");
      RowBatchWriter key = RowBatchWriter.fixed(arena.allocate(KEY_BYTES, 8), 1, 1);
      while (System.nanoTime() < end) {
        key.reset();
        key.addRow();
        key.setLong(0, count % ROWS);
        key.finish();
        count += execute(engine, statement, new ParameterBatch(key.batch(), 1));
      }
    }
    return count;
  }

  private static Statement prepare(EngineSession session, String sql) {
    CompletableFuture<Statement> done = new CompletableFuture<>();
    session.prepare(sql, new int[0], (statement, failure) -> complete(done, statement, failure));
    return done.join();
  }

  private static long execute(
      EmbeddedEngine engine, Statement statement, ParameterBatch parameters) {
    EngineTransaction transaction = engine.begin(BeginOptions.DEFAULT);
    CompletableFuture<Long> executed = new CompletableFuture<>();
    statement.execute(
        transaction,
        parameters,
        ExecuteOptions.DEFAULT,
        NoRows.INSTANCE,
        (count, failure) -> complete(executed, count, failure));
    long count = executed.join();
    CompletableFuture<Boolean> committed = new CompletableFuture<>();
    transaction.commit(
        EngineTransaction.CommitResponse.AVAILABLE, failure -> complete(committed, true, failure));
    committed.join();
    return count;
  }

  private static <T> void complete(
      CompletableFuture<T> future, @Nullable T value, @Nullable EngineException failure) {
    if (failure != null) {
      future.completeExceptionally(failure);
    } else {
      future.complete(value);
    }
  }

  /// For statements that give no rows.
  private enum NoRows implements ResultSink {
    INSTANCE;

    @Override
    public Buffer acquire(int minBytes) {
      throw new IllegalStateException("a row where none is expected");
    }

    @Override
    public void whenWritable(Runnable wake) {
      wake.run();
    }

    @Override
    public int maxBatchBytes() {
      return 1 << 20;
    }
  }
}
