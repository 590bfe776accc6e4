package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.dml.ChangeConsumer;
import dev.kakehashi.engine.exec.operator.BatchConsumer;
import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.result.CountedRows;
import dev.kakehashi.engine.exec.result.ResultWriter;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.exec.scan.ScanOperators;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// One execution of a statement: stage after stage, the tasks of a stage in parallel, and for changes again after a conflict.
///
/// Between stages one thread owns everything here: the bootstrap task, then the task that ended a stage last (`running` reaches zero).
/// During a stage its tasks read it only; `failure` is set by the first that fails.
///
/// The thread that received the request runs it only as long as that is short. When a task finds there that it is not, and no row has been
/// handed over, what was done is undone, and the statement begins again as tasks of the workers: others wait for that thread, also those
/// who would cancel it.
final class PlanRun implements Task, Interrupts.Source {
  /// How long the thread that received the request may work on it once a task has come to look.
  private static final long CALLER_NANOS = 1_000_000;

  /// Thrown on that thread when the time is over.
  private static final class TooLongForCaller extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TooLongForCaller() {
      super("to be run by a worker", null, false, false);
    }
  }

  // Updaters, because a select by key is to allocate little.
  private static final AtomicIntegerFieldUpdater<PlanRun> RUNNING =
      AtomicIntegerFieldUpdater.newUpdater(PlanRun.class, "running");

  private static final AtomicReferenceFieldUpdater<PlanRun, @Nullable Throwable> FAILURE =
      AtomicReferenceFieldUpdater.newUpdater(PlanRun.class, Throwable.class, "failure");

  private final PlanInstances runner;
  private final StatementScope scope;
  private final ParameterBatch given;
  private final ResultSink sink;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final boolean changes;

  @SuppressWarnings("unused") // through its updater
  private volatile int running;

  private volatile @Nullable Throwable failure;

  /// The first task of the running stage, which leads to the others.
  private volatile @Nullable StageTask current;

  private @Nullable PlanInstance instance;
  private @Nullable ParameterTable parameters;

  /// Null: a query with one row of parameters needs none.
  private @Nullable RunConsumers consumers;

  private boolean returningStage;
  private int stage;
  private int row;
  private long mark;
  private long markAfter;
  private long total;
  private boolean cancelHooked;

  /// Whether the thread that received the request runs it, alone. Written by it, before workers come.
  private boolean onCaller;

  /// When a task looked first; 0: none has.
  private long callerSince;

  /// Whether the reader may have got rows.
  private boolean delivered;

  PlanRun(
      PlanInstances runner,
      StatementScope scope,
      ParameterBatch given,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.runner = runner;
    this.scope = scope;
    this.given = given;
    this.sink = sink;
    this.done = done;
    this.changes = runner.changes();
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(this);
    onCaller = context.workerIndex() < 0;
    try {
      scope.checkCanceled();
      PlanInstance taken = runner.take();
      instance = taken;
      taken.context().begin(scope, given);
      parameters = taken.context().parameters();
      if (changes) {
        mark = scope.transaction().mark();
      }
      return beginRow(context);
    } catch (Throwable e) {
      return fail(e, context);
    } finally {
      Interrupts.leave(before);
    }
  }

  @Override
  public void discarded(Job job) {
    FAILURE.compareAndSet(this, null, RunFailures.canceled());
    finish();
  }

  /// For the tasks that run it.
  @Override
  public Interrupts.Source statement() {
    return scope;
  }

  @Override
  public void checkCanceled() {
    scope.checkCanceled();
    if (!onCaller) {
      return;
    }
    if (callerSince == 0) {
      callerSince = System.nanoTime();
    } else if (!delivered && !returningStage && isOverdue()) {
      throw new TooLongForCaller();
    }
  }

  /// Whether a task on the thread that received the request should give way.
  boolean isOverdue() {
    return callerSince != 0 && System.nanoTime() - callerSince > CALLER_NANOS;
  }

  /// A task goes over to the workers.
  void leaveCaller() {
    onCaller = false;
  }

  /// Rows are about to be given to the reader.
  void deliver() {
    if (onCaller && !changes) {
      delivered = true;
    }
  }

  PlanInstance instance() {
    PlanInstance held = instance;
    if (held == null) {
      throw new IllegalStateException("the statement is not running");
    }
    return held;
  }

  StatementScope scope() {
    return scope;
  }

  ResultSink sink() {
    return sink;
  }

  boolean failed() {
    return failure != null;
  }

  /// Notes a failure of a stage's task and wakes the others that wait.
  void noteFailure(Throwable thrown) {
    if (FAILURE.compareAndSet(this, null, thrown)) {
      wakeAll();
    }
  }

  private void wakeAll() {
    for (StageTask task = current; task != null; task = task.next) {
      task.wake();
    }
  }

  /// Before a task waits: a cancel has to wake it. Called by one task at a time.
  void hookCancel() {
    synchronized (this) {
      if (cancelHooked) {
        return;
      }
      cancelHooked = true;
    }
    scope.onCancel(this::wakeAll);
  }

  private @Nullable Task beginRow(TaskContext context) {
    instance().context().setRow(row);
    instance().changes().forget();
    if (!runner.plan().parts().isEmpty()) {
      instance().changes().shareRows();
    }
    instance().open();
    if (!hasSeveralRows()) {
      ScanActivity scans = instance().scans();
      if (scans != null) {
        scope.scanning(scans);
      }
    }
    stage = 0;
    returningStage = false;
    return beginStage(context);
  }

  private @Nullable Task beginStage(TaskContext context) {
    Stage next = instance().stages().get(stage);
    // Changes of one transaction are made by one thread at a time; results of several rows of
    // parameters come in their order.
    boolean single =
        context.workerIndex() < 0 || ((changes || hasSeveralRows()) && next.breaker() == null);
    int tasks = single ? 1 : next.parallelism(workers(context));
    if (tasks > 1) {
      next.begin(tasks);
    }
    StageTask first = newTask(next, 0);
    StageTask last = first;
    for (int i = 1; i < tasks; i++) {
      StageTask task = newTask(next, i);
      last.next = task;
      last = task;
    }
    return launch(first, tasks, context);
  }

  private int workers(TaskContext context) {
    return Math.min(context.scheduler().config().workers(), runner.mostTasks());
  }

  private StageTask newTask(Stage of, int task) {
    PlanInstance.Chain chain = instance().chain(stage, task);
    Breaker breaker = of.breaker();
    if (breaker != null) {
      chain.top().giveCompact(breaker.compactColumns());
    }
    return breaker != null
        ? new StageTask(this, chain.top(), breaker.newCollector(), null)
        : new StageTask(this, chain.top(), null, consumer(chain, of.part()));
  }

  private BatchConsumer consumer(PlanInstance.Chain chain, PhysicalPlan.@Nullable Part part) {
    if (part != null) {
      return consumers().beginPart(part, chain);
    }
    if (changes) {
      return consumers().beginChange(chain);
    }
    if (runner.isProfiled()) {
      return new CountedRows();
    }
    return hasSeveralRows()
        ? consumers().rows(sink, row + 1 == parameterTable().executions())
        : chain.writer(sink, runner.resultOids());
  }

  private RunConsumers consumers() {
    RunConsumers present = consumers;
    if (present == null) {
      present = new RunConsumers(runner, instance().context(), instance().changes());
      consumers = present;
    }
    return present;
  }

  private boolean hasSeveralRows() {
    return parameters != null && parameters.executions() > 1;
  }

  private ParameterTable parameterTable() {
    ParameterTable table = parameters;
    if (table == null) {
      throw new IllegalStateException("the statement is not running");
    }
    return table;
  }

  private @Nullable Task launch(StageTask first, int tasks, TaskContext context) {
    running = tasks;
    current = first;
    if (tasks > 1) {
      List<StageTask> others = new ArrayList<>(tasks - 1);
      for (StageTask task = first.next; task != null; task = task.next) {
        others.add(task);
      }
      context.spawnAll(others);
    }
    // As a successor, not by a call: the rows of parameters would lie above each other on the
    // stack.
    return row > 0 ? first : first.run(context);
  }

  /// One task of the stage has ended, well or not; the last one goes on.
  @Nullable Task taskEnded(@Nullable TaskContext context) {
    if (RUNNING.decrementAndGet(this) > 0) {
      return null;
    }
    Throwable thrown = failure;
    if (thrown != null || context == null) {
      return afterFailure(context);
    }
    try {
      return stageEnded(context);
    } catch (Throwable e) {
      return fail(e, context);
    }
  }

  private @Nullable Task stageEnded(TaskContext context) {
    StageTask ended = current;
    if (returningStage) {
      finish();
      return null;
    }
    Breaker breaker = instance().stages().get(stage).breaker();
    if (ended == null) { // those of a breaker's completion
      stage++;
      return beginStage(context);
    }
    if (breaker != null) {
      List<Breaker.Collector> collectors = new ArrayList<>();
      for (StageTask task = ended; task != null; task = task.next) {
        collectors.add(task.collector());
      }
      List<Runnable> rest =
          breaker.completeShared(collectors, context.workerIndex() < 0 ? 1 : workers(context));
      if (rest.size() > 1) {
        return share(rest, context);
      }
      rest.forEach(Runnable::run);
      stage++;
      return beginStage(context);
    }
    PhysicalPlan.Part part = instance().stages().get(stage).part();
    if (part != null) {
      RowBuffer returned = consumers().lastReturned();
      if (returned != null) {
        instance().context().setWorkTable(part.workTable(), List.of(returned));
      }
      stage++;
      return beginStage(context);
    }
    if (!changes) {
      for (StageTask task = ended; task != null; task = task.next) {
        total += task.consumer().rows();
      }
    } else {
      instance().changes().settle();
    }
    row++;
    if (!runner.insertsParameters() && parameters != null && row < parameters.executions()) {
      instance().close();
      if (consumers != null) {
        consumers.closeParts();
      }
      scope.nextRow();
      return beginRow(context);
    }
    return afterLastRow(context);
  }

  /// Runs what is left to do of a breaker as tasks.
  private @Nullable Task share(List<Runnable> work, TaskContext context) {
    running = work.size();
    current = null;
    List<CompletionTask> tasks = work.stream().map(part -> new CompletionTask(this, part)).toList();
    context.spawnAll(tasks.subList(1, tasks.size()));
    return tasks.getFirst().run(context);
  }

  private @Nullable Task afterLastRow(TaskContext context) {
    ChangeConsumer consumer = consumers == null ? null : consumers.change();
    if (consumer != null) {
      total = consumer.rows();
      RowBuffer returned = consumer.returned();
      if (returned != null && returned.size() > 0 && !runner.isProfiled()) {
        returningStage = true;
        markAfter = scope.transaction().mark();
        scope.changesMade();
        return launch(
            new StageTask(
                this,
                new ScanOperators.Rows(returned),
                null,
                new ResultWriter(sink, runner.resultOids())),
            1,
            context);
      }
    }
    finish();
    return null;
  }

  private @Nullable Task fail(Throwable thrown, TaskContext context) {
    FAILURE.compareAndSet(this, null, thrown);
    return afterFailure(context);
  }

  /// Nothing of the statement runs any more: undo its changes, then try again or report.
  private @Nullable Task afterFailure(@Nullable TaskContext context) {
    Throwable thrown = failure;
    if (changes && instance != null) {
      try {
        if (returningStage) {
          scope.undoIfLast(mark, markAfter);
        } else {
          scope.transaction().rollbackTo(mark);
        }
      } catch (Throwable e) {
        scope.undoFailed();
        if (thrown != null && !thrown.equals(e)) {
          e.addSuppressed(thrown);
        }
        failure = e;
        finish();
        return null;
      }
    }
    if (thrown instanceof TooLongForCaller && context != null) {
      try {
        instance().close();
        closeConsumers();
        failure = null;
        leaveCaller();
        context.submit(new Retry(changes));
        return null;
      } catch (Throwable e) {
        failure = e;
      }
    }
    if (thrown instanceof RowConflict conflict && changes && context != null) {
      try {
        Condition ended = scope.onConflict(conflict);
        scope.onCancel(ended::signal);
        instance().close();
        closeConsumers();
        failure = null;
        return context.await(ended, new Retry(true));
      } catch (Throwable e) {
        failure = e;
      }
    }
    finish();
    return null;
  }

  /// The statement from its beginning, after the owner of a conflict has ended, or on a worker.
  private final class Retry implements Task {
    private final boolean inNewView;

    /// @param inNewView only what changes rows may have one: a query has given its turn back
    Retry(boolean inNewView) {
      this.inNewView = inNewView;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Interrupts.Source before = Interrupts.enter(PlanRun.this);
      try {
        scope.checkCanceled();
        if (inNewView) {
          scope.restart();
        }
        row = 0;
        total = 0;
        return beginRow(context);
      } catch (Throwable e) {
        return fail(e, context);
      } finally {
        Interrupts.leave(before);
      }
    }

    @Override
    public void discarded(Job job) {
      PlanRun.this.discarded(job);
    }
  }

  private void closeConsumers() {
    if (consumers != null) {
      consumers.close();
    }
  }

  private void finish() {
    Throwable thrown = failure;
    current = null;
    if (thrown != null && consumers != null) {
      consumers.abandonRows();
    }
    PlanInstance held = instance;
    if (held != null) {
      held.close();
      closeConsumers();
      held.changes().forget();
      held.context().end();
      instance = null;
      parameters = null;
      if (thrown == null) {
        runner.giveBack(held);
      }
    }
    if (thrown == null) {
      done.accept(total, null);
    } else {
      done.accept(null, RunFailures.report(thrown));
    }
  }
}
