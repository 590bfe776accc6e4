package dev.kakehashi.server;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// An engine that knows four statements and one table, kept in memory.
///
/// It implements the whole seam: transactions with savepoints, flow control, cancel, statements on the caller and on workers. So tests
/// of transport and application need no SQL.
public final class FixedEngine implements Engine {
  /// `SELECT 1`: completes on the caller.
  static final String ONE = "SELECT 1";

  /// `$1` rows of (int8 n, text), by a worker.
  static final String NUMBERS = "SELECT n, 'row ' || n FROM numbers($1)";

  static final String INSERT = "INSERT INTO notes VALUES ($1, $2)";
  static final String COUNT = "SELECT count(*) FROM notes";

  /// Runs until it is canceled.
  static final String FOREVER = "SELECT forever()";

  /// Takes a while to prepare.
  static final String PLANNED = "SELECT 1 /* planned by a worker */";

  private static final List<Statement.Column> NUMBER_COLUMNS =
      List.of(
          new Statement.Column("n", TypeOid.INT8, -1), new Statement.Column("t", TypeOid.TEXT, -1));

  private final ExecutorService workers =
      Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().name("worker-", 0).factory());
  private final List<String> notes = new ArrayList<>(); // guarded by itself
  private final AtomicLong ids = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();

  /// For the service loader.
  public static final class Factory implements EngineFactory {
    @Override
    public String name() {
      return "fixed";
    }

    @Override
    public Engine open(Settings settings, TaskScheduler scheduler) {
      return new FixedEngine();
    }
  }

  /// Transactions that have not ended.
  int openTransactions() {
    return open.get();
  }

  @Override
  public EngineSession openSession(String userName, String owner) {
    return new EngineSession() {
      @Override
      public Planning prepare(
          String sql,
          int[] parameterTypeOids,
          BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
        switch (sql) {
          case ONE, NUMBERS, INSERT, COUNT, FOREVER -> done.accept(new Fixed(sql), null);
          case PLANNED -> workers.execute(() -> done.accept(new Fixed(sql), null));
          default ->
              done.accept(
                  null,
                  new EngineException(
                          ErrorCode.SYNTAX_ERROR, "syntax error at or near \"" + sql + "\"")
                      .withPosition(1)
                      .withHint("There are five statements."));
        }
        return Planning.ENDED;
      }

      // It shows nothing of anybody.
      @Override
      public void viewer(Viewer newViewer) {}

      @Override
      public void prepare(
          EngineTransaction transaction,
          String globalId,
          Consumer<@Nullable EngineException> done) {
        done.accept(noTwoPhaseCommit());
      }

      @Override
      public void commitPrepared(
          String globalId,
          EngineTransaction.CommitResponse response,
          Consumer<@Nullable EngineException> done) {
        done.accept(noTwoPhaseCommit());
      }

      @Override
      public void rollbackPrepared(String globalId, Consumer<@Nullable EngineException> done) {
        done.accept(noTwoPhaseCommit());
      }

      @Override
      public void close() {}
    };
  }

  /// Its only table is for notes.
  @Override
  public void clientSessions(Supplier<List<ClientSession>> sessions) {}

  private static EngineException noTwoPhaseCommit() {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "no two-phase commit");
  }

  @Override
  public EngineTransaction begin(BeginOptions options) {
    open.incrementAndGet();
    return new FixedTransaction(options);
  }

  @Override
  public List<PreparedTransaction> preparedTransactions() {
    return List.of();
  }

  @Override
  public void blockingExecutor(BlockingExecutor executor) {}

  @Override
  public void preparedListener(PreparedTransaction.Listener listener) {}

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return RecoveredOutcomes.NONE;
  }

  @Override
  public void whenAllDurable(Runnable done) {
    done.run();
  }

  @Override
  public void close() {
    workers.shutdown();
  }

  private final class FixedTransaction implements EngineTransaction {
    private final long id = ids.incrementAndGet();
    private final BeginOptions options;
    private final List<String> written = new ArrayList<>();
    private final List<Integer> savepoints = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();
    private @Nullable Runnable rolledBack;
    private State state = State.ACTIVE;

    FixedTransaction(BeginOptions options) {
      this.options = options;
    }

    @Override
    public long id() {
      return id;
    }

    @Override
    public void reference(long number) {}

    @Override
    public void owner(Viewer viewer) {}

    @Override
    public BeginOptions options() {
      return options;
    }

    @Override
    public synchronized State state() {
      return state;
    }

    @Override
    public boolean hasUndurableReads() {
      return false;
    }

    @Override
    public synchronized boolean hasWrites() {
      return !written.isEmpty();
    }

    @Override
    public void commit(CommitResponse response, Consumer<@Nullable EngineException> done) {
      synchronized (this) {
        if (state == State.ACTIVE) {
          state = State.COMMITTED;
          open.decrementAndGet();
          synchronized (notes) {
            notes.addAll(written);
          }
        }
      }
      done.accept(null);
    }

    @Override
    public void rollback(Runnable done) {
      synchronized (this) {
        if (state == State.ACTIVE) {
          state = State.ABORTED;
          open.decrementAndGet();
        }
        if (!runs.isEmpty()) {
          rolledBack = done;
          List.copyOf(runs).forEach(Run::cancel);
          return;
        }
      }
      done.run();
    }

    synchronized void begins(Run run) {
      if (state != State.ACTIVE) {
        throw new EngineException(ErrorCode.TRANSACTION_ABORTED, "transaction has ended");
      }
      runs.add(run);
    }

    void ends(Run run) {
      Runnable done = null;
      synchronized (this) {
        runs.remove(run);
        if (runs.isEmpty()) {
          done = rolledBack;
          rolledBack = null;
        }
      }
      if (done != null) {
        done.run();
      }
    }

    @Override
    public synchronized void savepoint(int level, Consumer<@Nullable EngineException> done) {
      while (savepoints.size() >= level) {
        savepoints.removeLast();
      }
      savepoints.add(written.size());
      done.accept(null);
    }

    @Override
    public synchronized void releaseSavepoint(int level, Consumer<@Nullable EngineException> done) {
      if (level > savepoints.size()) {
        done.accept(noSavepoint(level));
        return;
      }
      while (savepoints.size() >= level) {
        savepoints.removeLast();
      }
      done.accept(null);
    }

    @Override
    public synchronized void rollbackToSavepoint(
        int level, Consumer<@Nullable EngineException> done) {
      if (level > savepoints.size()) {
        done.accept(noSavepoint(level));
        return;
      }
      while (savepoints.size() > level) {
        savepoints.removeLast();
      }
      int size = savepoints.getLast();
      while (written.size() > size) {
        written.removeLast();
      }
      done.accept(null);
    }

    private static EngineException noSavepoint(int level) {
      return new EngineException(
          ErrorCode.NO_SUCH_SAVEPOINT, "savepoint level " + level + " does not exist");
    }
  }

  private final class Fixed implements Statement {
    private final String sql;

    Fixed(String sql) {
      this.sql = sql;
    }

    @Override
    public Kind kind() {
      return sql.equals(INSERT) ? Kind.DML : Kind.QUERY;
    }

    @Override
    public String sql() {
      return sql;
    }

    @Override
    public int[] parameterTypeOids() {
      return switch (sql) {
        case NUMBERS -> new int[] {TypeOid.INT8};
        case INSERT -> new int[] {TypeOid.INT8, TypeOid.TEXT};
        default -> new int[0];
      };
    }

    @Override
    public List<Column> columns() {
      return switch (sql) {
        case INSERT -> List.of();
        case NUMBERS -> NUMBER_COLUMNS;
        default -> List.of(new Column("?column?", TypeOid.INT8, -1));
      };
    }

    @Override
    public Execution execute(
        EngineTransaction transaction,
        ParameterBatch parameters,
        ExecuteOptions options,
        ResultSink sink,
        BiConsumer<@Nullable Long, @Nullable EngineException> done) {
      Run run = new Run(sql, (FixedTransaction) transaction, parameters, sink, done);
      ((FixedTransaction) transaction).begins(run);
      if (sql.equals(NUMBERS) || sql.equals(FOREVER)) {
        workers.execute(run);
      } else {
        run.run();
      }
      return run;
    }
  }

  /// One execution. Never blocks: it goes on as a new task when the reader has released a batch.
  private final class Run implements Execution, Runnable {
    private final String sql;
    private final FixedTransaction transaction;
    private final ParameterBatch parameters;
    private final ResultSink sink;
    private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
    private volatile boolean canceled;
    private boolean parked; // guarded by this
    private long next;

    Run(
        String sql,
        FixedTransaction transaction,
        ParameterBatch parameters,
        ResultSink sink,
        BiConsumer<@Nullable Long, @Nullable EngineException> done) {
      this.sql = sql;
      this.transaction = transaction;
      this.parameters = parameters;
      this.sink = sink;
      this.done = done;
    }

    @Override
    public void run() {
      try {
        switch (sql) {
          case INSERT -> insert();
          case COUNT -> single(count());
          case NUMBERS -> numbers();
          case FOREVER -> park();
          default -> single(1);
        }
      } catch (EngineException e) {
        end(null, e);
      }
    }

    private synchronized void park() {
      refuseWhenCanceled();
      parked = true;
    }

    private void refuseWhenCanceled() {
      if (canceled) {
        throw new EngineException(
            ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
      }
    }

    private void waitForRoom() {
      synchronized (this) {
        parked = true;
      }
      sink.whenWritable(this::resume);
      if (canceled) {
        resume();
      }
    }

    /// Goes on, if it does not already: the reader and a cancel may come together.
    private void resume() {
      synchronized (this) {
        if (!parked) {
          return;
        }
        parked = false;
      }
      workers.execute(this);
    }

    private void end(@Nullable Long rows, @Nullable EngineException failure) {
      done.accept(rows, failure);
      transaction.ends(this);
    }

    private void insert() {
      RowBatchReader reader = new RowBatchReader().wrap(parameters.batch());
      synchronized (transaction) {
        for (int row = 0; row < reader.rowCount(); row++) {
          transaction.written.add(
              reader.getLong(row, 0)
                  + " "
                  + (reader.isNull(row, 1) ? "NULL" : reader.getString(row, 1)));
        }
      }
      end((long) reader.rowCount(), null);
    }

    private long count() {
      synchronized (transaction) {
        synchronized (notes) {
          return (long) notes.size() + transaction.written.size();
        }
      }
    }

    private void single(long value) {
      refuseWhenCanceled();
      ResultSink.Buffer buffer = sink.acquire(64);
      if (buffer == null) {
        waitForRoom();
        return;
      }
      RowBatchWriter writer = RowBatchWriter.fixed(buffer.memory(), 1, 1);
      writer.addRow();
      writer.setLong(0, value);
      buffer.stage(writer.finish(), 1);
      end(1L, null);
    }

    private void numbers() {
      long limit = new RowBatchReader().wrap(parameters.batch()).getLong(0, 0);
      while (next < limit) {
        refuseWhenCanceled();
        ResultSink.Buffer buffer = sink.acquire(1024);
        if (buffer == null) {
          waitForRoom();
          return;
        }
        int rows = (int) (buffer.memory().byteSize() / 64);
        RowBatchWriter writer = RowBatchWriter.fixed(buffer.memory(), 2, rows);
        while (next < limit && writer.addRow()) {
          writer.setLong(0, next);
          if (!writer.setString(1, "row " + next)) {
            writer.dropRow();
            break;
          }
          next++;
        }
        buffer.stage(writer.finish(), writer.rowCount());
      }
      end(limit, null);
    }

    @Override
    public void cancel() {
      synchronized (this) {
        canceled = true;
      }
      resume();
    }

    @Override
    public long rowsScanned() {
      return next;
    }
  }
}
