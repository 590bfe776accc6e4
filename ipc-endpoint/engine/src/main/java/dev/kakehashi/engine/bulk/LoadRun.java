package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadRequest.LoadControl;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.dml.LoadedRows;
import dev.kakehashi.engine.exec.dml.StatementChanges;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// COPY ... FROM in the transaction of its caller: several tasks read the files and complete the rows. They insert them at the same time
/// where only the end has to tell whether keys are there already, and by turns otherwise. If the end depends on another transaction, the
/// files are read again when that has ended, and the rows inserted by turns.
///
/// One thread at a time owns it before its tasks begin and after the last of them has ended. Meanwhile they read it only; `failure` is set
/// by the first that fails.
public final class LoadRun implements Task {
  private final Prepared.Load statement;
  private final StatementExecution execution;
  private final BulkUser user;
  private final ResultSink sink;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final RunContext run = new RunContext(new ParameterTable(new ColumnKind[0]), null);
  private final StatementChanges ofStatement = new StatementChanges(run);
  private final StatementChanges ofBatch = new StatementChanges(run);
  private final LoadTurn turn = new LoadTurn();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicInteger running = new AtomicInteger();

  /// Written before they run.
  private volatile List<LoadTask> tasks = List.of();

  private @Nullable LoadSource source;

  /// Null: rows are inserted by turns.
  private volatile @Nullable BulkInsert bulk;

  private boolean byTurns;
  private long mark;
  private boolean begun;

  /// @param user who reads the files
  /// @param done gets the number of rows loaded, or the failure, exactly once; nothing of the load is there then
  public LoadRun(
      Prepared.Load statement,
      StatementExecution execution,
      BulkUser user,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.statement = statement;
    this.execution = execution;
    this.user = user;
    this.sink = sink;
    this.done = done;
  }

  StatementExecution execution() {
    return execution;
  }

  LoadTurn turn() {
    return turn;
  }

  LoadSource source() {
    LoadSource open = source;
    if (open == null) {
      throw new IllegalStateException("the load is not running");
    }
    return open;
  }

  @Nullable BulkInsert bulk() {
    return bulk;
  }

  boolean failed() {
    return failure.get() != null;
  }

  /// A task has failed: the others end.
  void noteFailure(Throwable thrown) {
    if (failure.compareAndSet(null, thrown)) {
      wakeAll();
    }
  }

  private void wakeAll() {
    tasks.forEach(LoadTask::wake);
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      execution.checkCanceled();
      run.begin(execution, ParameterBatch.NONE);
      begun = true;
      mark = execution.transaction().mark();
      execution.onCancel(this::wakeAll);
      return begin(context);
    } catch (Throwable failed) {
      failure.compareAndSet(null, failed);
      return conclude(context);
    } finally {
      Interrupts.leave(before);
    }
  }

  @Override
  public void discarded(Job job) {
    failure.compareAndSet(null, RunFailures.canceled());
    conclude(null);
  }

  private Task begin(TaskContext context) {
    open();
    LoadPlan plan = statement.plan();
    if (!byTurns && !statement.request().control().tolerant() && LoadedRows.isBulk(plan)) {
      bulk = execution.store().table(plan.target().tableId()).bulkInsert(execution.transaction());
    }
    List<LoadTask> all = newTasks(context);
    tasks = all;
    running.set(all.size());
    context.spawnAll(all.subList(1, all.size()));
    return all.getFirst();
  }

  private void open() {
    LoadSource before = source;
    source = newSource();
    execution.copying(new Activity(source()));
    if (before != null) {
      // Not earlier: what was sent for this load goes with it, unless it is open.
      before.close();
    }
  }

  private LoadSource newSource() {
    LoadPlan plan = statement.plan();
    return statement
        .request()
        .open(
            plan.target().schema() + "." + plan.target().table(),
            plan.columns(),
            plan.listed(),
            LoadConditions.of(plan),
            user,
            new StatementFiles(execution, run.memory()));
  }

  /// How far it is. Counts of rows are the tasks' own, which another thread may see late.
  private final class Activity implements CopyActivity {
    private final LoadSource files;

    Activity(LoadSource files) {
      this.files = files;
    }

    @Override
    public boolean isLoad() {
      return true;
    }

    @Override
    public long bytes() {
      return files.readBytes();
    }

    @Override
    public long totalBytes() {
      return files.totalBytes();
    }

    @Override
    public long rows() {
      return tasks.stream().mapToLong(LoadTask::read).sum();
    }

    @Override
    public long filtered() {
      return statement.plan().where() == null
          ? 0
          : Math.max(0, rows() - rejected() - sum(LoadedRows::inserted));
    }

    @Override
    public long rejected() {
      return sum(LoadedRows::rejected);
    }

    private long sum(ToLongFunction<LoadedRows> count) {
      return tasks.stream().map(LoadTask::rows).mapToLong(count).sum();
    }
  }

  private List<LoadTask> newTasks(TaskContext context) {
    LoadPlan plan = statement.plan();
    LoadControl control = statement.request().control();
    SourceColumns columns = SourceColumns.of(source(), plan);
    int workers = workers(plan, control, context.scheduler().config().workers());
    List<LoadTask> made = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      LoadedRows rows =
          new LoadedRows(run, plan, ofStatement, ofBatch, columns.positions(), control.tolerant());
      LoadFeed feed = new LoadFeed(source(), new SourceRows(columns.typeOids()));
      made.add(new LoadTask(this, rows, feed, context.scheduler().condition()));
      rows.begin();
    }
    return made;
  }

  /// Tasks to run it with. Values that depend on the order of the rows are given in the order of the files; and where a row of the files
  /// can be the reason why another one is rejected, the first one stays, unless the statement says how many tasks there are to be.
  private static int workers(LoadPlan plan, LoadControl control, int most) {
    boolean inOrder = !plan.defaults().stream().allMatch(ExprRewriter::isRepeatable);
    boolean firstStays = control.tolerant() && plan.rowsMeet() && control.workers() == 0;
    if (inOrder || firstStays) {
      return 1;
    }
    return control.workers() == 0 ? most : Math.min(control.workers(), most);
  }

  /// A task has ended; the last one goes on.
  @Nullable Task ended(@Nullable TaskContext context) {
    return running.decrementAndGet() > 0 ? null : conclude(context);
  }

  private @Nullable Task conclude(@Nullable TaskContext context) {
    if (!failed() && context != null) {
      Interrupts.Source before = Interrupts.enter(execution);
      try {
        return succeed();
      } catch (RowConflict conflict) {
        Task waiting = waitFor(conflict, context);
        if (waiting != null || !failed()) {
          return waiting;
        }
      } catch (Throwable failed) {
        failure.compareAndSet(null, failed);
      } finally {
        Interrupts.leave(before);
      }
    }
    fail();
    return null;
  }

  /// Waits for another transaction on which the final check of the rows depends: the check is repeated after the end of that transaction.
  private @Nullable Task waitFor(RowConflict conflict, TaskContext context) {
    try {
      boolean again = bulk != null;
      if (again) {
        byTurns = true;
        releaseRows();
      }
      Condition ended = execution.onConflict(conflict);
      execution.onCancel(ended::signal);
      return context.await(ended, new Settlement(again));
    } catch (Throwable refused) {
      failure.compareAndSet(null, refused);
      return null;
    }
  }

  /// After the wait.
  private final class Settlement implements Task {
    /// Whether the rows have to be inserted again.
    private final boolean again;

    Settlement(boolean again) {
      this.again = again;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Interrupts.Source before = Interrupts.enter(execution);
      try {
        execution.checkCanceled();
        execution.restart();
        if (again) {
          return begin(context);
        }
      } catch (Throwable refused) {
        failure.compareAndSet(null, refused);
      } finally {
        Interrupts.leave(before);
      }
      return conclude(context);
    }

    @Override
    public void discarded(Job job) {
      LoadRun.this.discarded(job);
    }
  }

  private Task succeed() {
    execution.checkCanceled();
    BulkInsert inserted = bulk;
    if (inserted != null) {
      enter(inserted);
    }
    ofStatement.settle();
    LoadSource.LoadSummary summary = source().finish();
    LoadReport report = report(summary);
    close();
    long markAfter = execution.transaction().mark();
    execution.changesMade();
    return PlanRunner.of(report.plan(), new int[0])
        .execute(
            execution,
            ParameterBatch.NONE,
            sink,
            (sent, failed) -> {
              if (failed != null) {
                execution.undoIfLast(mark, markAfter);
              }
              done.accept(failed == null ? report.loaded() : null, failed);
            });
  }

  /// @throws EngineException UNIQUE_VIOLATION, with file and line of the row
  private void enter(BulkInsert inserted) {
    LoadedRows any = tasks.getFirst().rows();
    List<RowPlaces.Place> found = new ArrayList<>();
    try {
      inserted.finish((duplicate, rowId, other) -> {
        // The later one of two rows of the files: it would have been refused when it came.
        RowPlaces.Place one = place(rowId);
        RowPlaces.Place two = other == BulkInsert.Duplicates.NONE ? null : place(other);
        boolean isTwo = one != null && two != null && two.isAfter(one);
        RowPlaces.Place later = isTwo ? two : one;
        if (later != null) {
          found.add(later);
        }
        throw any.duplicateKey(duplicate, inserted, isTwo ? other : rowId);
      });
    } catch (EngineException refused) {
      throw found.isEmpty() ? refused : located(found.getFirst(), refused);
    }
  }

  private RowPlaces.@Nullable Place place(long rowId) {
    for (LoadTask task : tasks) {
      RowPlaces.Place found = task.places().find(rowId);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /// Reads the files again as far as the row, which says file and line.
  private EngineException located(RowPlaces.Place place, EngineException refused) {
    try (LoadSource again = newSource()) {
      for (LoadPart part = again.next(); part != null; part = again.next()) {
        try (LoadPart each = part) {
          if (each.number() == place.part()) {
            reject(each, place.ordinal(), refused);
            return refused;
          }
        }
      }
    } catch (EngineException withPlace) {
      if (withPlace.code() == ErrorCode.QUERY_CANCELED || withPlace.code() == refused.code()) {
        return withPlace;
      }
      refused.addSuppressed(withPlace);
    }
    return refused;
  }

  /// @throws EngineException the failure, with its place
  private static void reject(LoadPart part, long ordinal, EngineException refused) {
    long before = part.rows();
    while (part.next() != null) {
      // None of the rows before was rejected: the load would have ended.
      if (ordinal < part.rows()) {
        part.reject((int) (ordinal - before), refused);
        return;
      }
      before = part.rows();
    }
  }

  private LoadReport report(LoadSource.LoadSummary summary) {
    long given = 0;
    long loaded = 0;
    long refused = 0;
    for (LoadTask task : tasks) {
      given += task.read();
      loaded += task.rows().inserted();
      refused += task.rows().rejected();
    }
    long filtered = given - loaded - refused;
    if (summary.rows() != loaded + summary.rejected() + filtered) {
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR,
          "of %d rows %d were loaded, %d rejected and %d filtered"
              .formatted(summary.rows(), loaded, summary.rejected(), filtered));
    }
    return new LoadReport(
        summary.rows(), loaded, summary.rejected(), filtered, summary.rejectFile(), null);
  }

  /// Nothing of the load runs any more: its rows go.
  private void fail() {
    Throwable reason = failure.get();
    if (reason == null) {
      reason = RunFailures.canceled();
    }
    try {
      close();
      if (begun) {
        execution.transaction().rollbackTo(mark);
      }
    } catch (Throwable failed) {
      execution.undoFailed();
      if (!failed.equals(reason)) {
        failed.addSuppressed(reason);
      }
      reason = failed;
    }
    done.accept(null, RunFailures.report(reason));
  }

  private void close() {
    LoadSource open = source;
    source = null;
    try {
      if (open != null) {
        open.close();
      }
    } finally {
      try {
        releaseRows();
      } finally {
        if (begun) {
          run.end();
        }
      }
    }
  }

  /// Lets go of rows that are not the transaction's, and of what the tasks hold.
  private void releaseRows() {
    BulkInsert unfinished = bulk;
    bulk = null;
    try {
      if (unfinished != null) {
        unfinished.close();
      }
    } finally {
      tasks.forEach(task -> task.rows().close());
      ofStatement.forget();
      ofBatch.forget();
    }
  }
}
