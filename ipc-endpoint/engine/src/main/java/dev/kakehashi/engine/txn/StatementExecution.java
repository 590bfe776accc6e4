package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.exec.StatementScope;
import dev.kakehashi.engine.exec.TempSpace;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.sql.Clock;
import dev.kakehashi.engine.store.ReadView;
import dev.kakehashi.engine.store.RowConflict;
import dev.kakehashi.engine.store.Store;
import dev.kakehashi.engine.store.StoreTransaction;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.scheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// One execution of a statement in a transaction: waits for its turn, has a view, can be cancelled.
///
/// `view` and the turn belong to the thread that runs the statement's current step. `cancelled` is set by anybody; `hooks` and
/// `timer` are guarded by this.
public final class StatementExecution implements Execution, StatementScope {
  /// What is run; made by the engine, which knows plans.
  public interface Work {
    /// Whether the first look says that it can run: a plan is at hand. Otherwise `prepare` runs as a job first.
    boolean isReady();

    /// Plans the statement.
    ///
    /// @throws EngineException if it cannot be planned any more
    void prepare();

    /// Whether it changes rows: it keeps the transaction's turn to its end.
    boolean changesRows();

    /// Whether it reads or writes rows at all; DDL does not.
    boolean usesTransaction();

    /// Tables that it reads and changes.
    TouchedTables tables();

    /// Text of the statement: the name of its job.
    String name();

    /// Up to the scheduler's `lightweightJobLevel` it runs on the calling thread, see [dev.kakehashi.engine.exec.StatementRunner#workLevel].
    int workLevel(StatementScope scope);

    /// The task that runs it; it calls `done` exactly once.
    Task task(StatementScope scope, BiConsumer<@Nullable Long, @Nullable EngineException> done);
  }

  private enum Reason {
    USER,
    TIMEOUT,
    /// The transaction ends.
    TRANSACTION
  }

  private final EngineTransaction transaction;
  private final TransactionEnvironment environment;
  private final Work work;
  private final ExecuteOptions options;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final long timestamp = Clock.now();
  private final long deadlineNanos;
  private final LongAdder scanned = new LongAdder();
  private @Nullable ReadView view;
  private boolean opened;

  /// It has given its turn back before its end.
  private boolean changesMade;

  private boolean waits;
  private volatile @Nullable Reason cancelled;
  private @Nullable List<Runnable> hooks;
  private @Nullable Timer timer;

  /// @param done receives the result, after the transaction has let go of the statement
  public StatementExecution(
      EngineTransaction transaction,
      Work work,
      ExecuteOptions options,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.transaction = transaction;
    this.environment = transaction.environment();
    this.work = work;
    this.options = options;
    this.done = done;
    this.deadlineNanos =
        options.timeoutNanos() == 0 ? 0 : System.nanoTime() + options.timeoutNanos();
  }

  /// It is this statement's turn.
  void begin() {
    try {
      transaction.requireActive();
      checkCancelled();
      if (!work.isReady()) {
        environment.scheduler().job(work.name()).timed().submit(this::planned);
        return;
      }
      if (transaction.isLong()) {
        environment.scheduler().job(work.name()).timed().submit(new Entrance());
        return;
      }
      start();
    } catch (EngineException refused) {
      finish(null, refused);
    } catch (SchedulerStoppedException stopping) {
      finish(null, stopping(stopping));
    } catch (RuntimeException failed) {
      finish(null, internal(failed));
    }
  }

  private @Nullable Task planned(TaskContext context) {
    try {
      work.prepare();
      if (transaction.isLong()) {
        return new Entrance();
      }
      return opened();
    } catch (EngineException refused) {
      finish(null, refused);
    } catch (RuntimeException | StackOverflowError failed) {
      finish(null, internal(failed));
    }
    return null;
  }

  private Task opened() {
    open();
    return work.task(this, this::finish);
  }

  /// A statement of a long transaction: it waits as a condition until the epoch has come and what it reads is guarded.
  private final class Entrance implements Task {
    private final Condition condition = environment.scheduler().condition();

    @Override
    public @Nullable Task run(TaskContext context) {
      try {
        checkCancelled();
        if (work.usesTransaction() && !transaction.mayBegin(work.tables(), condition::signal)) {
          onCancel(condition::signal);
          return context.await(condition, this);
        }
        transaction.requireActive();
        return opened();
      } catch (EngineException refused) {
        finish(null, refused);
      } catch (RuntimeException failed) {
        finish(null, internal(failed));
      }
      return null;
    }

    @Override
    public void discarded(Job job) {
      finish(
          null,
          new EngineException(
              ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down"));
    }
  }

  private void start() {
    open();
    TaskScheduler scheduler = environment.scheduler();
    scheduler
        .job(work.name())
        .timed()
        .workLevel(work.workLevel(this))
        .submit(work.task(this, this::finish));
  }

  private void open() {
    if (work.usesTransaction()) {
      if (work.changesRows() && transaction.isReadOnly()) {
        throw new EngineException(
            ErrorCode.READ_ONLY_TRANSACTION, "cannot change rows in a read-only transaction");
      }
      StoreTransaction store = transaction.store();
      if (options.newSnapshot() && transaction.isReadCommitted()) {
        if (transaction.hasOpenStatements()) {
          store.refreshSnapshot();
        } else {
          store.advanceSnapshot();
        }
      }
      view = store.beginStatement();
    }
    opened = true;
    transaction.opened(this, keepsTurn());
  }

  private boolean keepsTurn() {
    return work.changesRows() || !work.usesTransaction();
  }

  private void finish(@Nullable Long count, @Nullable EngineException failure) {
    Timer held;
    synchronized (this) {
      hooks = null;
      held = timer;
      timer = null;
    }
    if (held != null) {
      held.cancel();
    }
    stopWaiting();
    if (transaction.isLong()) {
      transaction.waitsNoLonger();
    }
    if (opened) {
      transaction.closed(this, keepsTurn() && !changesMade);
    } else {
      transaction.skipped();
    }
    done.accept(count, failure);
  }

  @Override
  public void changesMade() {
    if (keepsTurn() && !changesMade) {
      changesMade = true;
      transaction.changesMade();
    }
  }

  @Override
  public void undoIfLast(long from, long to) {
    transaction.undoIfLast(from, to);
  }

  private static EngineException stopping(SchedulerStoppedException cause) {
    return new EngineException(
        ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down", cause);
  }

  private static EngineException internal(Throwable failed) {
    return new EngineException(ErrorCode.INTERNAL_ERROR, "internal error: " + failed, failed);
  }

  @Override
  public void cancel() {
    cancel(Reason.USER);
  }

  /// The transaction ends.
  void abandon() {
    cancel(Reason.TRANSACTION);
  }

  private void cancel(Reason reason) {
    List<Runnable> wake;
    synchronized (this) {
      if (cancelled != null) {
        return;
      }
      cancelled = reason;
      wake = hooks == null ? List.of() : hooks;
      hooks = null;
    }
    wake.forEach(Runnable::run);
  }

  @Override
  public void onCancel(Runnable wake) {
    synchronized (this) {
      if (cancelled == null) {
        if (hooks == null) {
          hooks = new ArrayList<>(2);
        }
        hooks.add(wake);
        if (deadlineNanos != 0 && timer == null) {
          long left = Math.max(0, deadlineNanos - System.nanoTime());
          timer =
              environment
                  .scheduler()
                  .after(
                      Duration.ofNanos(left),
                      context -> {
                        cancel(Reason.TIMEOUT);
                        return null;
                      });
        }
        return;
      }
    }
    wake.run();
  }

  @Override
  public void checkCancelled() {
    Reason reason = cancelled;
    if (reason == null && deadlineNanos != 0 && System.nanoTime() - deadlineNanos >= 0) {
      reason = Reason.TIMEOUT;
    }
    EngineException failure = reason == Reason.TRANSACTION ? transaction.failure() : null;
    if (failure != null) {
      throw failure;
    }
    if (reason != null) {
      throw new EngineException(
          ErrorCode.QUERY_CANCELED,
          reason == Reason.TIMEOUT
              ? "canceling statement due to statement timeout"
              : "canceling statement due to user request");
    }
  }

  @Override
  public long rowsScanned() {
    return scanned.sum();
  }

  @Override
  public void scanned(long rows) {
    scanned.add(rows);
  }

  @Override
  public Store store() {
    return environment.store();
  }

  @Override
  public StoreTransaction transaction() {
    return transaction.store();
  }

  @Override
  public ReadView view() {
    ReadView current = view;
    if (current == null) {
      throw new IllegalStateException("the statement has no view");
    }
    return current;
  }

  @Override
  public void nextRow() {
    view = transaction.store().beginStatement();
  }

  @Override
  public void restart() {
    stopWaiting();
    if (transaction.isReadCommitted()) {
      transaction.store().refreshSnapshot();
    }
    view = transaction.store().beginStatement();
  }

  @Override
  public Condition onConflict(RowConflict conflict) {
    if (conflict.kind() == RowConflict.Kind.PRESERVED) {
      throw transaction.givesWay(conflict);
    }
    Condition condition = environment.scheduler().condition();
    if (conflict.kind() == RowConflict.Kind.CHANGED_SINCE_SNAPSHOT) {
      if (!transaction.isReadCommitted()) {
        throw environment.describe(
            new EngineException(
                    ErrorCode.SERIALIZATION_FAILURE,
                    "could not serialize access due to concurrent update")
                .withHint("The transaction might succeed if retried."),
            conflict);
      }
      condition.signal();
      return condition;
    }
    if (!environment.deadlocks().add(transaction.id(), conflict.owner().id())) {
      throw new EngineException(ErrorCode.DEADLOCK_DETECTED, "deadlock detected")
          .withDetail(
              "Transaction "
                  + transaction.id()
                  + " waits for transaction "
                  + conflict.owner().id()
                  + ", which waits for it.");
    }
    waits = true;
    conflict.owner().whenEnded(condition::signal);
    return condition;
  }

  private void stopWaiting() {
    if (waits) {
      waits = false;
      environment.deadlocks().remove(transaction.id());
    }
  }

  @Override
  public long statementTimestamp() {
    return timestamp;
  }

  @Override
  public long transactionTimestamp() {
    return transaction.timestamp();
  }

  @Override
  public long memoryLimitBytes() {
    return environment.statementMemoryBytes();
  }

  @Override
  public TempSpace tempSpace() {
    return environment.tempSpace();
  }
}
