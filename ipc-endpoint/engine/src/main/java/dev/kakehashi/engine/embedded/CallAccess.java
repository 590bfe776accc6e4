package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.txn.TableLocks;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Tables and queues for code that runs as a part of a statement: of a CALL, or of one that has no text, in a transaction that the platform
/// has begun. The statement has the transaction's turn, and keeps it; what the code does comes within it.
///
/// One thread uses it, which may block. [#cancel] and [#end] come from any. After [#end] nothing of it touches the transaction any more,
/// though the code may go on.
class CallAccess implements DirectAccess {
  private final EmbeddedEngine engine;
  private final StatementExecution call;
  private final ManagedTransaction transaction;
  private final String user;

  /// Levels of savepoints that are set, the last first. Used by the code's thread.
  private final Deque<Integer> savepoints = new ArrayDeque<>();

  /// Tables that are locked for the transaction. Used by the code's thread.
  private final Set<Long> locked = new HashSet<>();

  private final VarHeap keyHeap = new VarHeap();
  private @Nullable QueueCalls queues;

  // Guarded by this.
  private @Nullable EmbeddedSession session; // of the first statement
  private final List<VectorBatch> batches = new ArrayList<>(4);
  private final List<Execution> open = new ArrayList<>();
  private int opening;
  private boolean inside;
  private boolean ended;
  private @Nullable Runnable whenIdle;

  /// @param call has its transaction's turn
  /// @param user name of the role whose rights count
  CallAccess(EmbeddedEngine engine, StatementExecution call, String user) {
    this.engine = engine;
    this.call = call;
    this.transaction = call.owner();
    this.user = user;
    call.onCancel(this::cancelOpen);
  }

  EmbeddedEngine engine() {
    return engine;
  }

  ManagedTransaction transaction() {
    return transaction;
  }

  StatementExecution call() {
    return call;
  }

  /// Whether each read sees what others have committed by then.
  boolean readsNewest() {
    BeginOptions options = transaction.options();
    return options.isolation() == BeginOptions.Isolation.READ_COMMITTED
        && options.kind() != BeginOptions.Kind.LTX;
  }

  /// Number of the role whose rights count.
  long roleId() {
    return engine.roles().role(transaction.catalog().roles(), user);
  }

  // ---- begin and end ----

  /// The call ends, or is given up: from now on everything is refused, and what runs is canceled.
  ///
  /// @param idle called once nothing of it runs any more, on any thread
  /// @return false: it was called before, and `idle` is not called
  boolean end(Runnable idle) {
    synchronized (this) {
      if (ended) {
        return false;
      }
      ended = true;
      whenIdle = idle;
    }
    cancelOpen();
    runIfIdle();
    return true;
  }

  private void runIfIdle() {
    Runnable idle;
    EmbeddedSession used;
    List<VectorBatch> rows;
    synchronized (this) {
      if (!ended || inside || opening > 0 || !open.isEmpty()) {
        return;
      }
      idle = whenIdle;
      whenIdle = null;
      used = session;
      session = null;
      rows = List.copyOf(batches);
      batches.clear();
    }
    if (idle != null) {
      keyHeap.close();
      rows.forEach(VectorBatch::close);
      if (used != null) {
        used.close();
      }
      idle.run();
    }
  }

  private void cancelOpen() {
    List<Execution> running;
    synchronized (this) {
      running = List.copyOf(open);
    }
    running.forEach(Execution::cancel);
  }

  private EngineException isOver() {
    call.checkCanceled();
    return new EngineException(
        ErrorCode.NO_SUCH_TRANSACTION, "the call has ended, and its transaction with it");
  }

  /// Does something with the transaction on the calling thread, in microseconds.
  <T extends @Nullable Object> T within(Supplier<T> action) {
    enter();
    try {
      return action.get();
    } catch (EngineException refused) {
      throw refused;
    } catch (RuntimeException | Error failed) {
      throw RunFailures.report(failed);
    } finally {
      leave();
    }
  }

  /// Begins something short; [#leave] ends it.
  ///
  /// @throws EngineException QUERY_CANCELED, NO_SUCH_TRANSACTION, ...
  void enter() {
    synchronized (this) {
      if (ended) {
        throw isOver();
      }
      inside = true;
    }
    try {
      call.checkCanceled();
    } catch (EngineException canceled) {
      leave();
      throw canceled;
    }
  }

  void leave() {
    boolean last;
    synchronized (this) {
      inside = false;
      last = ended;
    }
    if (last) {
      runIfIdle();
    }
  }

  @Override
  public void cancel() {
    call.cancel();
  }

  // ---- statements ----

  /// Session of the call's statements; most calls have none.
  private EmbeddedSession session() {
    synchronized (this) {
      if (ended) {
        throw isOver();
      }
      EmbeddedSession present = session;
      if (present == null) {
        present = (EmbeddedSession) engine.openSession(user, user);
        present.viewer(call.viewer());
        present.defines(transaction);
        session = present;
      }
      return present;
    }
  }

  /// Plans a statement as the user, or finds it planned. Blocks.
  EmbeddedStatement prepare(String sql, int[] oids) {
    CompletableFuture<Statement> made = new CompletableFuture<>();
    session()
        .prepare(
            sql,
            oids,
            (statement, failure) -> {
              if (failure == null) {
                made.complete(statement);
              } else {
                made.completeExceptionally(failure);
              }
            });
    return (EmbeddedStatement) await(made);
  }

  /// Starts a statement; its rows come through the pipe, which hears of its end, too.
  Execution start(EmbeddedStatement statement, ObjectParameters parameters, RowPipe pipe) {
    synchronized (this) {
      if (ended) {
        throw isOver();
      }
      opening++;
    }
    Started started = new Started(pipe, parameters);
    Execution execution;
    try {
      call.checkCanceled();
      execution = statement.executeWithin(transaction, parameters.batch(), pipe, started);
    } catch (Throwable refused) {
      synchronized (this) {
        opening--;
      }
      parameters.close();
      runIfIdle();
      throw RunFailures.report(refused);
    }
    boolean canceled;
    synchronized (this) {
      opening--;
      if (!started.over) {
        started.execution = execution;
        open.add(execution);
      }
      canceled = ended;
    }
    if (canceled) {
      execution.cancel();
      runIfIdle();
    }
    return execution;
  }

  /// A statement that has been started: hears of its end.
  private final class Started implements BiConsumer<@Nullable Long, @Nullable EngineException> {
    private final RowPipe pipe;
    private final ObjectParameters parameters;

    // Guarded by the access.
    private @Nullable Execution execution;
    private boolean over;

    Started(RowPipe pipe, ObjectParameters parameters) {
      this.pipe = pipe;
      this.parameters = parameters;
    }

    @Override
    public void accept(@Nullable Long count, @Nullable EngineException failure) {
      parameters.close();
      synchronized (CallAccess.this) {
        over = true;
        if (execution != null) {
          open.remove(execution);
        }
        CallAccess.this.notifyAll();
      }
      pipe.ended(count, failure);
      runIfIdle();
    }
  }

  @Override
  public long execute(String sql, @Nullable Object[] parameters, @Nullable RowConsumer rows) {
    EmbeddedStatement statement = prepare(sql, new int[0]);
    RowPipe pipe = new RowPipe();
    start(statement, new ObjectParameters(statement.parameterTypeOids(), parameters), pipe);
    List<Statement.Column> columns = statement.columns();
    if (columns.isEmpty()) {
      return await(pipe);
    }
    List<DirectTable.Column> shown =
        columns.stream()
            .map(each -> new DirectTable.Column(each.name(), each.typeOid(), false, false))
            .toList();
    long given = 0;
    try (PipedRows read = new PipedRows(this, pipe, oids(shown))) {
      @Nullable Object @Nullable [] row = read.next();
      while (row != null) {
        given++;
        if (rows != null && !rows.row(shown, row)) {
          return given;
        }
        row = read.next();
      }
    }
    long reported = await(pipe);
    return statement.kind() == Statement.Kind.QUERY ? given : reported;
  }

  static int[] oids(List<DirectTable.Column> columns) {
    return columns.stream().mapToInt(DirectTable.Column::typeOid).toArray();
  }

  /// Waits for the end of a statement; an interrupt cancels the call.
  long await(RowPipe pipe) {
    try {
      return pipe.await();
    } catch (InterruptedException interrupted) {
      throw interrupted();
    }
  }

  <T> T await(CompletableFuture<T> future) {
    try {
      return future.get();
    } catch (InterruptedException interrupted) {
      throw interrupted();
    } catch (ExecutionException failed) {
      throw RunFailures.report(failed.getCause() == null ? failed : failed.getCause());
    }
  }

  /// The thread is to give up.
  EngineException interrupted() {
    Thread.currentThread().interrupt();
    call.cancel();
    return new EngineException(ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
  }

  // ---- tables ----

  @Override
  public DirectTable table(String name) {
    return new CallTable(this, name);
  }

  /// The table or view of a name as the transaction sees it.
  TableShape shape(String name) {
    return engine.applications().shapes().find(name, transaction.catalog(), roleId());
  }

  /// For values of keys, by the code's thread.
  VarHeap keyHeap() {
    return keyHeap;
  }

  /// A batch of one row that lives as long as the call, to be used within [#enter] and [#leave].
  VectorBatch oneRow(int columns) {
    VectorBatch made = VectorBatch.ofRows(columns, 1);
    synchronized (this) {
      if (ended) {
        throw isOver();
      }
      batches.add(made);
    }
    return made;
  }

  /// Whether its statements have to keep to what it has declared.
  boolean isLong() {
    return transaction.options().kind() == BeginOptions.Kind.LTX;
  }

  /// Whether it may change rows, and has declared nothing.
  boolean isShort() {
    return transaction.options().kind() == BeginOptions.Kind.OCC;
  }

  /// Keeps others from changing the form of a table until the transaction ends. Blocks while somebody does.
  void lock(long tableId) {
    if (tableId < 0 || locked.contains(tableId)) {
      return;
    }
    TableLocks.Wait wait = within(() -> call.lock(tableId, TableLocks.Mode.SHARED));
    if (wait != null) {
      CompletableFuture<Boolean> granted = new CompletableFuture<>();
      engine
          .scheduler()
          .submit(
              call.await(
                  wait,
                  context -> {
                    granted.complete(true);
                    return null;
                  },
                  granted::completeExceptionally));
      boolean ignored = await(granted);
    }
    locked.add(tableId);
  }

  // ---- savepoints ----

  @Override
  public void savepoint() {
    savepoints.push(within(transaction::savepointWithin));
  }

  @Override
  public void releaseSavepoint() {
    int level = last();
    within(() -> {
      transaction.releaseWithin(level);
      return null;
    });
  }

  @Override
  public void rollbackToSavepoint() {
    int level = last();
    // Rows that were being read are of the time since.
    cancelOpen();
    try {
      synchronized (this) {
        while (!open.isEmpty() && !ended) {
          wait();
        }
      }
    } catch (InterruptedException interrupted) {
      throw interrupted();
    }
    within(() -> {
      transaction.rollbackWithin(level);
      return null;
    });
  }

  private int last() {
    Integer level = savepoints.poll();
    if (level == null) {
      throw new EngineException(ErrorCode.NO_SUCH_SAVEPOINT, "there is no savepoint");
    }
    return level;
  }

  // ---- queues ----

  private QueueCalls queues() {
    QueueCalls made = queues;
    if (made == null) {
      made =
          new QueueCalls(
              engine.store(), transaction.storeOfQueues(), transaction.catalog(), roleId());
      queues = made;
    }
    return made;
  }

  private void requireWritable() {
    call.checkWritable("this");
  }

  @Override
  public long enqueue(String queue, NewTask task) {
    return within(() -> {
      requireWritable();
      return queues().enqueue(queue, task);
    });
  }

  @Override
  public void complete(String token) {
    within(() -> {
      queues().complete(token);
      return null;
    });
  }

  @Override
  public void fail(String token, String error) {
    within(() -> {
      queues().fail(token, error, -1);
      return null;
    });
  }
}
