package dev.kakehashi.fuzz;

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
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A text of SQL: parsed, bound and planned; run for a short time if it has no parameters, and rolled back.
///
/// The embedded engine has a small catalogue that stays the same, little memory for a statement, and neither files nor queues.
final class SqlTarget implements FuzzTarget {
  private static final long STORE_BYTES = 128L << 20;
  private static final long STATEMENT_BYTES = 8L << 20;
  private static final long RUN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long END_SECONDS = 120;
  private static final int BATCH_BYTES = 64 << 10;

  private static final String[] CATALOGUE = {
    "CREATE TABLE t (a integer PRIMARY KEY, b text, c numeric(10,2), d date, e timestamptz DEFAULT now())",
    "CREATE TABLE u (a integer REFERENCES t, f double precision, g boolean, h jsonb, i integer[], j bytea)",
    "CREATE INDEX u_f ON u (f)",
    "CREATE SEQUENCE s",
    "CREATE VIEW v AS SELECT t.a, b, f FROM t JOIN u ON t.a = u.a",
    "INSERT INTO t VALUES (1, 'one', 1.5, '2020-01-01'), (2, 'two', NULL, NULL), (3, NULL, 3, '1999-12-31')",
    "INSERT INTO u VALUES (1, 0.5, true, '{\"k\": [1, null]}', '{1,2}', '\\x00ff'), (1, NULL, NULL, NULL, NULL, NULL)"
  };

  private final Path directory;
  private final TaskScheduler scheduler;
  private final EmbeddedEngine engine;
  private final EngineSession session;

  SqlTarget() throws Exception {
    directory = Files.createTempDirectory("kakehashi-fuzz-");
    scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
    engine =
        EmbeddedEngine.open(
            new EngineConfig(
                new StoreConfig(directory, STORE_BYTES),
                STATEMENT_BYTES,
                STATEMENT_BYTES,
                10,
                10,
                0),
            scheduler);
    session = engine.openSession("fuzz");
    for (String sql : CATALOGUE) {
      Statement statement = prepare(sql);
      EngineTransaction transaction = engine.begin(statement.ownTransaction(BeginOptions.DEFAULT));
      execute(transaction, statement, 0);
      CompletableFuture<Boolean> committed = new CompletableFuture<>();
      transaction.commit(
          EngineTransaction.CommitResponse.STORED, failure -> complete(committed, true, failure));
      await(committed);
    }
  }

  @Override
  public void run(byte[] input) throws Exception {
    Statement statement = prepare(new String(input, StandardCharsets.UTF_8));
    if (statement.parameterTypeOids().length > 0) {
      return;
    }
    EngineTransaction transaction = engine.begin(statement.ownTransaction(BeginOptions.DEFAULT));
    try {
      execute(transaction, statement, RUN_NANOS);
    } finally {
      CompletableFuture<Boolean> ended = new CompletableFuture<>();
      transaction.rollback(() -> ended.complete(true));
      await(ended);
    }
  }

  private Statement prepare(String sql) throws Exception {
    CompletableFuture<Statement> done = new CompletableFuture<>();
    session.prepare(sql, new int[0], (statement, failure) -> complete(done, statement, failure));
    return await(done);
  }

  private static void execute(EngineTransaction transaction, Statement statement, long limitNanos)
      throws Exception {
    CompletableFuture<Long> done = new CompletableFuture<>();
    statement.execute(
        transaction,
        ParameterBatch.NONE,
        new ExecuteOptions(true, limitNanos, 0, limitNanos),
        new Discard(),
        (count, failure) -> complete(done, count, failure));
    await(done);
  }

  private static <T> void complete(
      CompletableFuture<T> future,
      @org.jspecify.annotations.Nullable T value,
      @org.jspecify.annotations.Nullable EngineException failure) {
    if (failure != null) {
      future.completeExceptionally(failure);
    } else {
      future.complete(java.util.Objects.requireNonNull(value));
    }
  }

  private static <T> T await(CompletableFuture<T> future) throws Exception {
    try {
      return future.get(END_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof EngineException engine ? engine : e;
    } catch (TimeoutException e) {
      throw new AssertionError("a statement has not ended within " + END_SECONDS + " s", e);
    }
  }

  @Override
  public void close() throws IOException {
    session.close();
    engine.close();
    scheduler.close();
    Directories.delete(directory);
  }

  /// Takes all rows and keeps none.
  private static final class Discard implements ResultSink {
    @Override
    public Buffer acquire(int minBytes) {
      MemorySegment memory = Arena.ofAuto().allocate(Math.max(BATCH_BYTES, minBytes), 8);
      return new Buffer() {
        @Override
        public MemorySegment memory() {
          return memory;
        }

        @Override
        public void stage(int batchBytes, int rowCount) {}

        @Override
        public void discard() {}
      };
    }

    @Override
    public void whenWritable(Runnable wake) {
      wake.run();
    }

    @Override
    public int maxBatchBytes() {
      return 16 << 20;
    }
  }
}
