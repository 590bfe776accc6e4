package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
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
/// One thread at a time drives the statement: a task, or the thread that reports the success of the call. The latter spares the client a
/// change of threads. A task that can do nothing ends; when there is news for one, as rows that are to be written, there is another.
///
/// ```
///  driver  TASK -> DRIVEN                     the task
///          NOBODY | TASK -> DRIVEN [+ TASK]   the thread that reports the success of the call
///          DRIVEN [+ TASK] -> NOBODY | TASK   the thread that drives, when there is nothing to do
///          NOBODY -> TASK                     the thread that has news
///          TASK -> FINISHED                   the scheduler, which throws the task away
///          DRIVEN + TASK -> DRIVEN_LAST       the same, while a thread drives: there will be no task
///          DRIVEN_LAST -> FINISHED            the thread that drives
///          DRIVEN [+ TASK] -> FINISHED        the thread that drives, when the statement has ended
///
///  stage   NEW -> BETWEEN_CALLS <-> IN_CALL   for each row of parameters
///          NEW -> REFUSED                     nothing is to be undone
///          IN_CALL -> LAST_CALL -> OVER       it has failed, and its code has not ended
///          BETWEEN_CALLS | IN_CALL -> OVER
///          OVER -> LEAVING                    what the code has used in the transaction is being ended
/// ```
///
/// `driver` is guarded by this. The thread that has made it a driven state has the fields of the driver, `stage` among them, until it makes
/// it another state. The lock publishes them.
///
/// The code is a part of the statement if it takes part in the transaction: it has the transaction's turn then, and what it has done is
/// undone if the call fails.
final class ProcedureRun implements Task, LoadedApplication.Listener {
  /// Rows that the code may be ahead of the writer.
  private static final int MOST_ROWS = 1024;

  /// Rows that are worth waking the task.
  private static final int SOME_ROWS = MOST_ROWS / 4;

  /// Driver of the statement, present or next.
  private enum Driver {
    NOBODY,
    TASK,
    DRIVEN,
    DRIVEN_AND_TASK,
    DRIVEN_LAST,
    FINISHED;

    boolean isDriven() {
      return this == DRIVEN || this == DRIVEN_AND_TASK || this == DRIVEN_LAST;
    }
  }

  /// How a drive has ended.
  private enum Drive {
    /// There will be news.
    WAITS,
    /// The statement has ended.
    ENDED,
    /// There is no task for the news.
    GIVEN_UP
  }

  /// How far the calls are.
  private enum Stage {
    NEW,
    REFUSED,
    BETWEEN_CALLS,
    IN_CALL,
    LAST_CALL,
    OVER,
    LEAVING;

    /// Whether no call is to begin.
    boolean isConcluding() {
      return this == REFUSED || compareTo(LAST_CALL) >= 0;
    }

    /// Whether there may be something to undo.
    boolean hasBegun() {
      return compareTo(BETWEEN_CALLS) >= 0;
    }
  }

  private final EmbeddedEngine engine;
  private final Prepared.Call call;
  private final StatementExecution execution;
  private final ParameterBatch parameters;
  private final String user;
  private final ResultSink sink;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;

  // Fields of the thread that drives.
  private final int[] oids;
  private @Nullable Deque<@Nullable Object[]> arguments;
  private @Nullable CallAccess access;
  private @Nullable ResultWriter writer;
  private @Nullable VectorBatch batch;
  private Stage stage = Stage.NEW;

  /// The batch has rows that are not written.
  private boolean unwritten;

  private long mark;
  private @Nullable Throwable failure;

  // Guarded by this.
  private Driver driver = Driver.TASK;

  /// There is news that the thread that drives may not have seen.
  private boolean fresh;

  private final Deque<@Nullable Object[]> rows = new ArrayDeque<>();
  private LoadedApplication.@Nullable Running code;

  /// Nothing of the code is wanted any more.
  private boolean stopped;

  /// The call has ended; `failed` says how.
  private boolean ended;

  private @Nullable EngineException failed;

  /// Nothing of the code uses the transaction any more.
  private boolean idle;

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
      switch (driver) {
        case NOBODY -> driver = Driver.DRIVEN;
        case TASK -> driver = Driver.DRIVEN_AND_TASK;
        case DRIVEN, DRIVEN_AND_TASK, DRIVEN_LAST, FINISHED -> {
          return;
        }
      }
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

  // ---- driving ----

  /// There is something to do. Any thread.
  private void wake() {
    synchronized (this) {
      fresh = true;
      if (driver != Driver.NOBODY) {
        return;
      }
      driver = Driver.TASK;
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
      if (driver == Driver.DRIVEN_AND_TASK) {
        driver = Driver.DRIVEN;
        return null; // who drives looks again
      }
      if (driver != Driver.TASK) {
        return null; // it has ended
      }
      driver = Driver.DRIVEN;
    }
    goOn();
    return null;
  }

  private void goOn() {
    switch (drive()) {
      case ENDED -> accept();
      case GIVEN_UP -> giveUp();
      case WAITS -> {}
    }
  }

  /// Goes on as far as it can. The thread that drives does so no longer then.
  private Drive drive() {
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      while (true) {
        synchronized (this) {
          fresh = false;
        }
        if (!stage.isConcluding()) {
          try {
            if (step()) {
              stage = Stage.OVER;
            }
          } catch (Throwable thrown) {
            failure = thrown;
            stop();
            stage = afterFailure();
          }
        }
        boolean hasEnded = stage.isConcluding() && conclude();
        synchronized (this) {
          if (hasEnded) {
            driver = Driver.FINISHED;
            return Drive.ENDED;
          }
          if (!fresh) {
            return leave();
          }
        }
      }
    } finally {
      Interrupts.leave(before);
    }
  }

  private Stage afterFailure() {
    return switch (stage) {
      case NEW, REFUSED -> Stage.REFUSED;
      case IN_CALL, LAST_CALL -> Stage.LAST_CALL;
      case BETWEEN_CALLS, OVER, LEAVING -> Stage.OVER;
    };
  }

  /// The thread that drives has nothing to do. Called with the lock of this.
  private Drive leave() {
    return switch (driver) {
      case DRIVEN_LAST -> {
        driver = Driver.FINISHED;
        yield Drive.GIVEN_UP;
      }
      case DRIVEN_AND_TASK -> {
        driver = Driver.TASK;
        yield Drive.WAITS;
      }
      case DRIVEN -> {
        driver = Driver.NOBODY;
        yield Drive.WAITS;
      }
      case NOBODY, TASK, FINISHED -> throw new IllegalStateException("nobody drives");
    };
  }

  /// @return whether all calls have ended; otherwise there will be news
  private boolean step() {
    if (stage == Stage.NEW) {
      begin();
    }
    while (true) {
      execution.checkCanceled();
      if (stage == Stage.BETWEEN_CALLS) {
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
      stage = Stage.BETWEEN_CALLS;
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
    stage = Stage.BETWEEN_CALLS;
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
    stage = Stage.IN_CALL;
    LoadedApplication.Running started;
    try {
      started =
          call.route()
              ? loaded.route(call.index(), invocation, this)
              : loaded.procedure(call.index(), invocation, this);
    } catch (Throwable refused) {
      stage = Stage.BETWEEN_CALLS;
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
    if (stage == Stage.LAST_CALL) {
      synchronized (this) {
        if (!ended) {
          return false;
        }
      }
      stage = Stage.OVER;
    }
    CallAccess used = access;
    if (used != null && stage == Stage.OVER) {
      stage = Stage.LEAVING;
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
      if (stage.hasBegun() && call.takesPart()) {
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
      if (driver.isDriven()) {
        driver = Driver.DRIVEN_LAST;
        return;
      }
      if (driver == Driver.FINISHED) {
        return;
      }
      driver = Driver.FINISHED;
    }
    giveUp();
  }

  /// No task is left, and no thread drives.
  private void giveUp() {
    failure = RunFailures.canceled();
    stop();
    CallAccess used = access;
    if (used == null || stage == Stage.LEAVING || !used.end(this::accept)) {
      accept();
    }
  }
}
