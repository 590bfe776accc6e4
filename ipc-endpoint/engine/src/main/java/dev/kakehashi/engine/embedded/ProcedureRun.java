package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.result.ResultWriter;
import dev.kakehashi.engine.exec.run.ArgumentObjects;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.application.JavaValues;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// CALL: the code runs on a thread of its own. For each row of parameters there is one call after the other.
///
/// One thread at a time drives the statement: a task, or whoever tells that the call has succeeded, which spares the client a change of threads. A task that can do nothing ends; when there is
/// news for one, as rows that are to be written, there is another.
///
/// The code is a part of the statement if it takes part in the transaction: it has the transaction's turn then, and what it has done is undone if the call fails.
final class ProcedureRun implements Task, LoadedApplication.Listener {
  /// Rows that the code may be ahead of the writer.
  private static final int MOST_ROWS = 1024;

  /// Rows that are worth waking the task.
  private static final int SOME_ROWS = MOST_ROWS / 4;

  private final EmbeddedEngine engine;
  private final Prepared.Call call;
  private final StatementExecution execution;
  private final ParameterBatch parameters;
  private final String user;
  private final ResultSink sink;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;

  // Of the thread that drives.
  private final int[] oids;
  private @Nullable Deque<@Nullable Object[]> arguments;
  private @Nullable CallAccess access;
  private @Nullable ResultWriter writer;
  private @Nullable VectorBatch batch;
  private boolean unwritten;
  private boolean running;
  private boolean begun;
  private boolean concluding;
  private boolean ending;
  private long mark;
  private @Nullable Throwable failure;

  // Guarded by this.
  private boolean hasTask = true;
  private boolean driven;
  private boolean finished;
  private boolean isDiscarded;

  /// Something has happened that who drives may not have seen.
  private boolean fresh;

  private final Deque<@Nullable Object[]> rows = new ArrayDeque<>();
  private LoadedApplication.@Nullable Running code;
  private boolean stopped;
  private boolean ended;
  private boolean idle;
  private @Nullable EngineException failed;

  /// @param user name of the role whose rights count
  /// @param done gets the number of rows that were sent, or the failure, exactly once
  ProcedureRun(
      EmbeddedEngine engine,
      Prepared.Call call,
      StatementExecution execution,
      ParameterBatch parameters,
      String user,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.engine = engine;
    this.call = call;
    this.execution = execution;
    this.parameters = parameters;
    this.user = user;
    this.sink = sink;
    this.done = done;
    this.oids = call.columns().stream().mapToInt(Statement.Column::typeOid).toArray();
  }

  // ---- the code's thread ----

  @Override
  public void row(@Nullable Object[] values) {
    synchronized (this) {
      try {
        while (rows.size() >= MOST_ROWS && !stopped) {
          wait();
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new EngineException(
            ErrorCode.QUERY_CANCELED, "canceling statement due to user request", interrupted);
      }
      if (stopped) {
        throw new EngineException(
            ErrorCode.QUERY_CANCELED, "nobody reads the rows of the call any more");
      }
      rows.add(values);
      // Fewer are no batch for the client yet.
      if (rows.size() != SOME_ROWS && rows.size() != MOST_ROWS) {
        return;
      }
    }
    wake();
  }

  @Override
  public void done() {
    synchronized (this) {
      ended = true;
      failed = null;
      fresh = true;
      if (driven || finished) {
        return;
      }
      driven = true;
    }
    goOn();
  }

  @Override
  public void failed(EngineException reason) {
    synchronized (this) {
      ended = true;
      failed = reason;
    }
    wake();
  }

  // ---- who drives ----

  /// There is something to do. Any thread.
  private void wake() {
    synchronized (this) {
      fresh = true;
      if (driven || finished || hasTask) {
        return;
      }
      hasTask = true;
    }
    try {
      engine.scheduler().submitTimed(execution.name(), execution, PlanRunner.HEAVIEST, this);
    } catch (SchedulerStoppedException stopping) {
      discard();
    }
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    synchronized (this) {
      hasTask = false;
      if (driven || finished) {
        return null; // who drives looks again
      }
      driven = true;
    }
    goOn();
    return null;
  }

  private void goOn() {
    if (drive()) {
      accept();
      return;
    }
    synchronized (this) {
      if (!isDiscarded || driven || finished) {
        return;
      }
      finished = true;
    }
    giveUp();
  }

  /// Goes on as far as it can.
  ///
  /// @return whether the statement has ended, so that its result is to be given
  private boolean drive() {
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      while (true) {
        synchronized (this) {
          fresh = false;
        }
        boolean over = concluding;
        if (!over) {
          try {
            over = step();
          } catch (Throwable thrown) {
            failure = thrown;
            stop();
            over = true;
          }
          concluding = over;
        }
        boolean idleNow = over && conclude();
        synchronized (this) {
          if (idleNow) {
            finished = true;
            driven = false;
            return true;
          }
          if (!fresh) {
            driven = false;
            return false;
          }
        }
      }
    } finally {
      Interrupts.leave(before);
    }
  }

  /// @return whether all calls have ended; otherwise there will be news
  private boolean step() {
    if (arguments == null) {
      begin();
    }
    while (true) {
      execution.checkCanceled();
      if (!running) {
        @Nullable Object[] next = Objects.requireNonNull(arguments).poll();
        if (next == null) {
          return true;
        }
        start(next);
      }
      if (unwritten && !write()) {
        sink.whenWritable(this::wake);
        return false;
      }
      boolean over = take();
      if (unwritten) {
        continue;
      }
      if (!over) {
        return false;
      }
      running = false;
      synchronized (this) {
        if (failed != null) {
          throw failed;
        }
      }
    }
  }

  private void begin() {
    execution.checkCanceled();
    mark = call.takesPart() ? execution.transaction().mark() : 0;
    begun = true;
    int[] argumentOids = call.signature().parameters().stream().mapToInt(Field::typeOid).toArray();
    arguments =
        ArgumentObjects.of(
            call.arguments(), argumentOids, call.parameterOids(), execution, parameters);
    if (oids.length > 0) {
      writer = new ResultWriter(sink, oids);
      batch = new VectorBatch(oids.length);
    }
    if (call.takesPart()) {
      access = new CallAccess(engine, execution, user);
    }
    execution.onCancel(() -> {
      stop();
      wake();
    });
  }

  private void start(@Nullable Object[] values) {
    ApplicationSystem system = engine.applications().system();
    if (system == null) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "this engine runs no applications");
    }
    LoadedApplication loaded = system.load(call.application());
    LoadedApplication.Invocation invocation =
        new LoadedApplication.Invocation(values, user, access, 0);
    synchronized (this) {
      ended = false;
      code = null;
    }
    running = true;
    LoadedApplication.Running started;
    try {
      started =
          call.route()
              ? loaded.route(call.index(), invocation, this)
              : loaded.procedure(call.index(), invocation, this);
    } catch (Throwable refused) {
      running = false;
      throw refused;
    }
    boolean late;
    synchronized (this) {
      code = started;
      late = stopped;
    }
    if (late) {
      started.cancel();
    }
  }

  /// Nothing of the code is wanted any more. Any thread.
  private void stop() {
    LoadedApplication.Running runs;
    synchronized (this) {
      stopped = true;
      rows.clear();
      notifyAll();
      runs = code;
    }
    if (runs != null) {
      runs.cancel();
    }
  }

  /// Moves rows of the code to the batch.
  ///
  /// @return whether the code has ended, and no rows are left
  private boolean take() {
    List<@Nullable Object[]> taken = new ArrayList<>();
    boolean over;
    synchronized (this) {
      while (!rows.isEmpty() && taken.size() < VectorBatch.CAPACITY) {
        taken.add(rows.poll());
      }
      over = ended && rows.isEmpty();
      notifyAll();
    }
    VectorBatch into = batch;
    if (into == null || taken.isEmpty()) {
      return over;
    }
    into.reset();
    for (@Nullable Object[] values : taken) {
      for (int c = 0; c < oids.length; c++) {
        Object value = values[c];
        if (value == null) {
          into.columns[c].setNull(into.size);
        } else {
          into.columns[c].words[into.size] = JavaValues.ofObject(oids[c], value, into.heap);
        }
      }
      into.size++;
    }
    unwritten = true;
    return false;
  }

  /// @return false: the reader has to release a buffer first
  private boolean write() {
    boolean written = Objects.requireNonNull(writer).accept(Objects.requireNonNull(batch));
    unwritten = !written;
    return written;
  }

  // ---- the end ----

  /// The last call has ended, or one has failed.
  ///
  /// @return whether nothing of it touches the transaction any more; otherwise there will be news
  private boolean conclude() {
    synchronized (this) {
      if (running && !ended) {
        return false;
      }
    }
    CallAccess used = access;
    if (used != null && !ending) {
      ending = true;
      if (!used.end(this::idle)) {
        idle();
      }
    }
    synchronized (this) {
      return used == null || idle;
    }
  }

  private void idle() {
    synchronized (this) {
      idle = true;
    }
    wake();
  }

  /// Gives the result.
  private void accept() {
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      finish();
    } finally {
      Interrupts.leave(before);
    }
  }

  private void finish() {
    long sent = 0;
    try {
      ResultWriter open = writer;
      if (open != null && failure == null) {
        open.finish();
        sent = open.rows();
      }
      if (open != null) {
        open.close();
      }
    } catch (Throwable thrown) {
      failure = failure == null ? thrown : failure;
    }
    VectorBatch rowsLeft = batch;
    if (rowsLeft != null) {
      rowsLeft.close();
    }
    Throwable reason = failure;
    if (reason == null) {
      done.accept(sent, null);
      return;
    }
    try {
      if (begun && call.takesPart()) {
        execution.transaction().rollbackTo(mark);
      }
    } catch (Throwable thrown) {
      execution.undoFailed();
      if (!thrown.equals(reason)) {
        thrown.addSuppressed(reason);
      }
      reason = thrown;
    }
    done.accept(null, RunFailures.report(reason));
  }

  @Override
  public void discarded(Job job) {
    discard();
  }

  private void discard() {
    synchronized (this) {
      isDiscarded = true;
      if (driven || finished) {
        return;
      }
      finished = true;
    }
    giveUp();
  }

  /// There is no task any more, and nobody drives.
  private void giveUp() {
    failure = RunFailures.canceled();
    stop();
    CallAccess used = access;
    if (used == null || ending || !used.end(this::accept)) {
      accept();
    }
  }
}
