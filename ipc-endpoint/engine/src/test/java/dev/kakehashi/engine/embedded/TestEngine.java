package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.testing.BatchText;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.BatchSink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// An engine in a directory, driven synchronously.
public final class TestEngine implements AutoCloseable {
  private static final long TIMEOUT_SECONDS = Await.LIMIT.toSeconds();

  public final TaskScheduler scheduler;
  public final EmbeddedEngine engine;
  public final EngineSession session;

  /// Result of one statement.
  public record Result(
      long count, List<String> rows, List<Statement.Column> columns, boolean isQuery) {
    public Result(long count, List<String> rows, List<Statement.Column> columns) {
      this(count, rows, columns, !columns.isEmpty());
    }
  }

  /// A statement that may not have ended yet.
  public static final class Running {
    public final BatchSink sink;
    private final List<Statement.Column> columns;
    public final CompletableFuture<Long> done = new CompletableFuture<>();
    public @Nullable Execution execution;

    Running(List<Statement.Column> columns, int maxBuffers) {
      this.columns = columns;
      this.sink = new BatchSink(maxBuffers);
    }

    /// All rows staged so far, see [BatchText#rows].
    public List<String> rows() {
      return BatchText.rows(columns, sink.batches());
    }

    /// Returns when the statement waits for its reader.
    public void awaitFullSink() {
      Await.until("the statement waits for its reader", () -> sink.waiters() > 0);
    }

    public Result await() {
      return new Result(TestEngine.await(done), rows(), List.of());
    }
  }

  public TestEngine(Path directory) {
    this(directory, 2);
  }

  public TestEngine(Path directory, int workers) {
    this(directory, workers, 1L << 30);
  }

  public TestEngine(Path directory, int workers, long memoryBytes) {
    this(directory, workers, memoryBytes, 0);
  }

  /// With a time-out of locks.
  public TestEngine(Path directory, int workers, long memoryBytes, long lockTimeoutNanos) {
    this(directory, workers, memoryBytes, 256L << 20, 1L << 30, lockTimeoutNanos);
  }

  /// @param memoryBytes of the store
  /// @param statementBytes of memory of each statement
  /// @param tempBytes of all temporary files
  public TestEngine(
      Path directory, int workers, long memoryBytes, long statementBytes, long tempBytes) {
    this(directory, workers, memoryBytes, statementBytes, tempBytes, 0);
  }

  /// With small stacks of the workers.
  public static TestEngine withWorkerStack(Path directory, int kilobytes) {
    return new TestEngine(
        directory,
        SchedulerConfig.builder()
            .workers(2)
            .set(SchedulerConfig.Parameter.WORKER_STACK, kilobytes)
            .build(),
        1L << 30,
        256L << 20,
        1L << 30,
        0);
  }

  private TestEngine(
      Path directory,
      int workers,
      long memoryBytes,
      long statementBytes,
      long tempBytes,
      long lockTimeoutNanos) {
    this(
        directory,
        SchedulerConfig.builder().workers(workers).build(),
        memoryBytes,
        statementBytes,
        tempBytes,
        lockTimeoutNanos);
  }

  private TestEngine(
      Path directory,
      SchedulerConfig workers,
      long memoryBytes,
      long statementBytes,
      long tempBytes,
      long lockTimeoutNanos) {
    // Other processes may read its memory: what holds of an engine is to hold then, too.
    this(
        new StoreConfig(directory, memoryBytes).shared(true),
        workers,
        statementBytes,
        tempBytes,
        lockTimeoutNanos);
  }

  private TestEngine(
      StoreConfig store,
      SchedulerConfig workers,
      long statementBytes,
      long tempBytes,
      long lockTimeoutNanos) {
    this(new EngineConfig(store, statementBytes, tempBytes, 100, 100, lockTimeoutNanos), workers);
  }

  private TestEngine(EngineConfig config, SchedulerConfig workers) {
    scheduler = TaskScheduler.start(workers);
    engine = EmbeddedEngine.open(config, scheduler);
    session = engine.openSession("test");
  }

  /// With applications.
  public static TestEngine withApplications(Path directory, ApplicationSystem applications) {
    return new TestEngine(
        new EngineConfig(new StoreConfig(directory, 256L << 20), 64L << 20, 64L << 20, 100, 100, 0)
            .withApplications(() -> applications),
        SchedulerConfig.builder().workers(2).build());
  }

  /// With queues and applications.
  public static TestEngine withApplications(
      Path directory, QueueOpener queues, ApplicationSystem.Opener applications) {
    return new TestEngine(
        new EngineConfig(
                new StoreConfig(directory, 256L << 20, queues), 64L << 20, 64L << 20, 100, 100, 0)
            .withApplications(applications),
        SchedulerConfig.builder().workers(2).build());
  }

  /// With queues.
  public static TestEngine withQueues(Path directory, QueueOpener queues) {
    return new TestEngine(
        new StoreConfig(directory, 256L << 20, queues),
        SchedulerConfig.builder().workers(2).build(),
        64L << 20,
        64L << 20,
        0);
  }

  /// Waits until no more native memory is held than before an engine was opened: its statistics may be collected meanwhile, in the
  /// background. Lost memory stays held.
  public static void awaitHeld(long bytes) {
    Await.untilEquals("held bytes", bytes, VarHeap::heldBytes);
  }

  /// Another client of the same engine.
  public final class Other {
    private final EngineSession session;

    private Other(String userName) {
      session = engine.openSession(userName);
    }

    public Statement prepare(String sql) {
      return TestEngine.prepare(session, sql);
    }

    public Result run(EngineTransaction transaction, String sql) {
      return execute(transaction, prepare(sql), new @Nullable Object[][] {{}});
    }

    /// Runs a statement in a transaction of its own.
    public List<String> query(String sql) {
      return run(sql).rows();
    }

    /// The same with the count and the columns.
    public Result run(String sql) {
      Statement statement = prepare(sql);
      return within(
          statement, transaction -> execute(transaction, statement, new @Nullable Object[][] {{}}));
    }
  }

  public Other other() {
    return other("other");
  }

  /// A client that has come as a user.
  public Other other(String userName) {
    return new Other(userName);
  }

  /// Runs a statement in a transaction of its own and gives its rows.
  public List<String> query(String sql, @Nullable Object... parameters) {
    return run(sql, parameters).rows();
  }

  /// Runs a query whose time is limited, in a transaction of its own.
  public List<String> queryWithin(long timeoutNanos, String sql) {
    EngineTransaction transaction = engine.begin(BeginOptions.DEFAULT);
    try {
      return start(
              transaction,
              prepare(sql),
              new @Nullable Object[][] {{}},
              Integer.MAX_VALUE,
              timeoutNanos)
          .await()
          .rows();
    } finally {
      rollback(transaction);
    }
  }

  /// Runs a statement in a transaction of its own.
  public Result run(String sql, @Nullable Object... parameters) {
    Statement statement = prepare(sql);
    return within(
        statement,
        transaction -> execute(transaction, statement, new @Nullable Object[][] {parameters}));
  }

  private Result within(Statement statement, Function<EngineTransaction, Result> work) {
    EngineTransaction transaction = engine.begin(statement.ownTransaction(BeginOptions.DEFAULT));
    transaction.ofOneStatement();
    boolean committed = false;
    try {
      Result result = work.apply(transaction);
      commit(transaction);
      committed = true;
      return result;
    } finally {
      if (!committed) {
        rollback(transaction);
      }
    }
  }

  /// Runs a statement with one row of parameters, given as text.
  public Result run(EngineTransaction transaction, String sql, @Nullable Object... parameters) {
    Statement statement = prepare(sql);
    return execute(transaction, statement, new @Nullable Object[][] {parameters});
  }

  /// Runs a statement without parameters as part of a client's command.
  public Result runAs(EngineTransaction transaction, int command, String sql) {
    return runAs(transaction, command, sql, new @Nullable Object[][] {{}});
  }

  /// Runs a statement for rows of parameters as part of a client's command.
  public Result runAs(
      EngineTransaction transaction, int command, String sql, @Nullable Object[][] rows) {
    ExecuteOptions options = ExecuteOptions.of(true, 0, command, 0);
    return start(transaction, prepare(sql), rows, Integer.MAX_VALUE, options).await();
  }

  public Result execute(
      EngineTransaction transaction, Statement statement, @Nullable Object[][] rows) {
    Running running = start(transaction, statement, rows, Integer.MAX_VALUE, 0);
    long count = await(running.done);
    boolean isQuery = statement.kind() == Statement.Kind.QUERY || !statement.columns().isEmpty();
    return new Result(count, running.rows(), statement.columns(), isQuery);
  }

  public Running start(
      EngineTransaction transaction,
      Statement statement,
      @Nullable Object[][] rows,
      int maxBuffers,
      long timeoutNanos) {
    return start(
        transaction, statement, rows, maxBuffers, new ExecuteOptions(true, timeoutNanos, 0, 0));
  }

  /// Starts a statement without parameters.
  public Running start(EngineTransaction transaction, String sql, ExecuteOptions options) {
    return start(transaction, prepare(sql), Integer.MAX_VALUE, options);
  }

  public Running start(
      EngineTransaction transaction, Statement statement, int maxBuffers, ExecuteOptions options) {
    return start(transaction, statement, new @Nullable Object[][] {{}}, maxBuffers, options);
  }

  private static Running start(
      EngineTransaction transaction,
      Statement statement,
      @Nullable Object[][] rows,
      int maxBuffers,
      ExecuteOptions options) {
    Running running = new Running(statement.columns(), maxBuffers);
    ParameterBatch parameters = parameters(statement.parameterTypeOids(), rows);
    running.execution =
        statement.execute(
            transaction,
            parameters,
            options,
            running.sink,
            (count, failure) -> {
              if (failure != null) {
                running.done.completeExceptionally(failure);
              } else {
                running.done.complete(count);
              }
            });
    return running;
  }

  public Statement prepare(String sql, int... parameterOids) {
    return prepare(session, sql, parameterOids);
  }

  private static Statement prepare(EngineSession session, String sql, int... parameterOids) {
    CompletableFuture<Statement> done = new CompletableFuture<>();
    session.prepare(
        sql,
        parameterOids,
        (statement, failure) -> {
          if (failure != null) {
            done.completeExceptionally(failure);
          } else {
            done.complete(statement);
          }
        });
    return await(done);
  }

  public EngineTransaction begin(BeginOptions.Isolation isolation) {
    return engine.begin(new BeginOptions(BeginOptions.Kind.OCC, isolation, "test"));
  }

  public void commit(EngineTransaction transaction) {
    await(startCommit(transaction));
  }

  public CompletableFuture<Boolean> startCommit(EngineTransaction transaction) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transaction.commit(
        EngineTransaction.CommitResponse.AVAILABLE,
        failure -> {
          if (failure != null) {
            done.completeExceptionally(failure);
          } else {
            done.complete(true);
          }
        });
    return done;
  }

  public void rollback(EngineTransaction transaction) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transaction.rollback(() -> done.complete(true));
    await(done);
  }

  /// Waits until all that has been committed is durable.
  public void awaitDurable() {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    engine.whenAllDurable(() -> done.complete(true));
    await(done);
  }

  public static ParameterBatch parameters(int[] oids, @Nullable Object[][] rows) {
    if (oids.length == 0) {
      return rows.length <= 1
          ? ParameterBatch.NONE
          : new ParameterBatch(MemorySegment.NULL, rows.length);
    }
    Arena arena = Arena.ofAuto();
    int stride = RowBatchLayout.rowStride(oids.length);
    long heapOffset = RowBatchLayout.HEADER_BYTES + (long) rows.length * stride;
    long heapBytes = 0;
    for (Object[] row : rows) {
      for (Object value : row) {
        heapBytes += value == null ? 0 : 64 + (4L * value.toString().length() + 7 & ~7L);
      }
    }
    MemorySegment batch = arena.allocate(heapOffset + heapBytes, 8);
    long heapAt = heapOffset;
    try (VarHeap heap = new VarHeap()) {
      for (int r = 0; r < rows.length; r++) {
        long base = RowBatchLayout.HEADER_BYTES + (long) r * stride;
        for (int c = 0; c < oids.length; c++) {
          long wordAt = base + RowBatchLayout.bitmapBytes(oids.length) + 8L * c;
          Object value = rows[r][c];
          if (value == null) {
            long bits = batch.get(ValueLayout.JAVA_LONG, base + 8L * (c >>> 6));
            batch.set(ValueLayout.JAVA_LONG, base + 8L * (c >>> 6), bits | 1L << (c & 63));
            continue;
          }
          long word = Values.parse(oids[c], value.toString(), heap);
          if (Types.kind(oids[c]).byReference()) {
            long bytes = byteLength(oids[c], word);
            MemorySegment.copy(VarHeap.MEMORY, word, batch, heapAt, bytes);
            word = heapAt;
            heapAt += (bytes + 7) & ~7L;
          }
          batch.set(ValueLayout.JAVA_LONG, wordAt, word);
        }
      }
    }
    batch.set(ValueLayout.JAVA_INT, RowBatchLayout.BATCH_BYTES_OFFSET, (int) batch.byteSize());
    batch.set(ValueLayout.JAVA_INT, RowBatchLayout.ROW_COUNT_OFFSET, rows.length);
    batch.set(ValueLayout.JAVA_INT, RowBatchLayout.COLUMN_COUNT_OFFSET, oids.length);
    batch.set(ValueLayout.JAVA_INT, RowBatchLayout.ROW_STRIDE_OFFSET, stride);
    batch.set(ValueLayout.JAVA_INT, RowBatchLayout.ROWS_OFFSET_OFFSET, RowBatchLayout.HEADER_BYTES);
    batch.set(ValueLayout.JAVA_INT, RowBatchLayout.HEAP_OFFSET_OFFSET, (int) heapOffset);
    return new ParameterBatch(batch, rows.length);
  }

  private static long byteLength(int oid, long word) {
    return dev.kakehashi.engine.sql.algebra.Constant.byteLength(Types.kind(oid), word);
  }

  /// Waits for the end of an operation that reports a failure or null.
  public static void awaitEnd(Consumer<Consumer<@Nullable EngineException>> operation) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    operation.accept(failure -> {
      if (failure == null) {
        done.complete(true);
      } else {
        done.completeExceptionally(failure);
      }
    });
    await(done);
  }

  public static void assertState(String sqlstate, org.junit.jupiter.api.function.Executable call) {
    org.junit.jupiter.api.Assertions.assertEquals(
        sqlstate,
        org.junit.jupiter.api.Assertions.assertThrows(EngineException.class, call)
            .code()
            .sqlstate());
  }

  public static <T> T await(CompletableFuture<T> future) {
    try {
      return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof EngineException failure) {
        throw failure;
      }
      throw new AssertionError(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer in time " + Arrays.toString(e.getStackTrace()), e);
    }
  }

  @Override
  public void close() {
    engine.close();
    scheduler.close();
  }
}
