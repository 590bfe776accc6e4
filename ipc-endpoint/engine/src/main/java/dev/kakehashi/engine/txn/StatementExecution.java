package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DefinedName;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.plan.DeferrableConstraint;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.type.FileAccess;
import dev.kakehashi.engine.type.RandomNumbers;
import dev.kakehashi.engine.type.RowIdentities;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.type.application.ApplicationUses;
import dev.kakehashi.engine.type.queue.QueueAccess;
import dev.kakehashi.engine.type.time.Clock;
import dev.kakehashi.engine.type.time.Zone;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.JobBuilder;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One execution of a statement in a transaction: waits for its turn, has a view, can be canceled.
///
/// `view` and the turn belong to the thread that runs the statement's current step.
public final class StatementExecution extends CancellableExecution
    implements BiConsumer<@Nullable Long, @Nullable EngineException> {
  private static final AtomicLongFieldUpdater<StatementExecution> SCANNED =
      AtomicLongFieldUpdater.newUpdater(StatementExecution.class, "scanned");

  private final ManagedTransaction transaction;
  private final TransactionEnvironment environment;
  private final StatementWork work;
  private final ExecuteOptions options;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final long timestamp = Clock.now();

  /// Counted by all tasks, once for each batch.
  private volatile long scanned;

  private @Nullable ReadView view;
  private boolean opened;

  /// It has given its turn back before its end.
  private boolean changesMade;

  private boolean plannedHere;

  /// The turn is not its own.
  private boolean withinTurn;

  /// Of a long transaction: its epoch has come, for the plan at hand. Of a deferrable one: its snapshot is safe.
  private boolean entered;

  /// What the statement has waited for, or waits for; null: nothing.
  private StatementWork.@Nullable Arrival arrival;

  private boolean waits;
  private boolean ended;

  /// When it was opened, see [ManagedTransaction#savepointTime].
  private long savepointTime;

  /// @param done receives the result, after the transaction has let go of the statement
  public StatementExecution(
      ManagedTransaction transaction,
      StatementWork work,
      ExecuteOptions options,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    super(transaction, options.timeoutNanos());
    this.transaction = transaction;
    this.environment = transaction.environment();
    this.work = work;
    this.options = options;
    this.done = done;
  }

  /// Runs within a turn that somebody else has, and keeps.
  void beginWithinTurn() {
    withinTurn = true;
    try {
      checkCanceled();
      start();
    } catch (Throwable failed) {
      refuse(RunFailures.report(failed));
    }
  }

  /// The same for a statement of a call: it may have to be planned, and waits for locks.
  void beginWithinCall() {
    withinTurn = true;
    begin();
  }

  /// It is this statement's turn, which it keeps without a task: what it does comes by [ManagedTransaction#executeWithin] and on the store. [#accept] ends it.
  ///
  /// @param ready called when it has begun
  void beginCall(Runnable ready) {
    try {
      transaction.requireActive();
      checkCanceled();
      open();
    } catch (Throwable failed) {
      refuse(RunFailures.report(failed));
      return;
    }
    ready.run();
  }

  /// It is this statement's turn.
  void begin() {
    try {
      beginOwn();
    } catch (Throwable failed) {
      refuse(RunFailures.report(failed));
    }
  }

  private void beginOwn() {
    transaction.requireActive();
    checkCanceled();
    TableLocks.Wait lock = null;
    if (work.isReady() && !transaction.hasEntrance()) {
      if (work.awaits()) {
        beginArrival();
        return;
      }
      lock = lockTables();
      // While it did not have them, the tables may have changed.
      if (lock == null && work.isCurrent()) {
        start();
        return;
      }
    }
    Task next = this::planned;
    job().submit(lock == null ? next : await(lock, next, this::refuse));
  }

  private JobBuilder job() {
    return environment.scheduler().job(work.name()).attachment(this).timed();
  }

  private void beginArrival() {
    ArrivalWait wait = new ArrivalWait();
    if (work.asksSoon()) {
      wait.begin();
    } else {
      job().submit(wait);
    }
  }

  private void refuse(EngineException reason) {
    accept(null, reason);
  }

  private @Nullable Task planned(TaskContext context) {
    try {
      do {
        if (!work.isReady() && !(plannedHere && work.isCurrent())) {
          plan(context, this::prepared, this::planned, this::refuse);
          return null;
        }
        if (work.awaits() && arrival == null) {
          return new ArrivalWait();
        }
        // Without locks: those whose end the epoch waits for may want them.
        if (transaction.hasEntrance() && !entered) {
          return new Entrance();
        }
        TableLocks.Wait lock = lockTables();
        if (lock != null) {
          return await(lock, this::planned, this::refuse);
        }
      } while (!work.isCurrent());
      return opened();
    } catch (Throwable failed) {
      refuse(RunFailures.report(failed));
    }
    return null;
  }

  private void prepared() {
    work.prepare();
    plannedHere = true;
    entered = false;
  }

  /// Has something planned where it keeps no worker from others; what follows is for a worker again.
  ///
  /// @param planning ends when the statement is canceled
  /// @param next what follows
  /// @param refused gets why it could not be planned
  public void plan(
      TaskContext context, Runnable planning, Task next, Consumer<EngineException> refused) {
    Runnable hasten =
        environment
            .planning()
            .plan(context, viewer().userName(), () -> planAndGoOn(planning, next, refused));
    if (hasten != null) {
      onCancel(hasten);
    }
  }

  private void planAndGoOn(Runnable planning, Task next, Consumer<EngineException> refused) {
    try {
      Interrupts.during(this::checkEnding, planning);
      job().submit(next);
    } catch (SchedulerStoppedException stopping) {
      refused.accept(
          new EngineException(
              ErrorCode.SHUTTING_DOWN,
              "terminating because the engine is shutting down",
              stopping));
    } catch (Throwable failed) {
      refused.accept(RunFailures.report(failed));
    }
  }

  /// A statement that has not been opened is not among those that a rollback cancels.
  private void checkEnding() {
    checkCanceled();
    transaction.requireActive();
  }

  private Task opened() {
    open();
    return work.task(this, this);
  }

  /// A statement of a long transaction: it waits as a condition until the epoch has come and what it reads is guarded. One of a deferrable transaction waits for a safe snapshot, which is no
  /// wait for a lock: no lock time-out ends it.
  private final class Entrance implements Task {
    private final Condition condition = environment.scheduler().condition();

    @Override
    public @Nullable Task run(TaskContext context) {
      try {
        checkCanceled();
        if (work.usesTransaction() && !transaction.mayBegin(work.tables(), condition::signal)) {
          noteWait(transaction.store().waitedFor());
          onCancel(condition::signal);
          return context.await(condition, this);
        }
        transaction.requireActive();
        stopWaiting();
        entered = true;
        return planned(context);
      } catch (Throwable failed) {
        refuse(RunFailures.report(failed));
      }
      return null;
    }

    @Override
    public void discarded(Job job) {
      refuse(
          new EngineException(
              ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down"));
    }
  }

  /// A statement that something has to come for, without a snapshot if the transaction needs none. No lock time-out ends it.
  ///
  /// What takes microseconds to ask for is asked for on the calling thread ([#begin()]). No thread and no job waits then; who brings the news runs the statement, if that is short too. Otherwise, and
  /// when it is canceled, a job goes on. A job waits as a condition.
  private final class ArrivalWait implements Task {
    private final AtomicReference<Step> step = new AtomicReference<>(Step.JOB);
    private @Nullable Condition condition;

    /// Asks on the calling thread.
    void begin() {
      step.set(Step.ASKING);
      Interrupts.Source before = Interrupts.enter(StatementExecution.this);
      try {
        checkCanceled();
        ask();
      } catch (Throwable failed) {
        step.set(Step.JOB);
        transaction.waitsNoLonger();
        refuse(RunFailures.report(failed));
        return;
      } finally {
        Interrupts.leave(before);
      }
      // From here on the statement belongs to whoever has the news.
      if (!step.compareAndSet(Step.ASKING, Step.WAITING)) {
        goOn(true);
      }
    }

    private void ask() {
      StatementWork.Arrival asked = work.arrival(StatementExecution.this);
      arrival = asked;
      letGoOfSnapshot();
      transaction.waits(() -> news(false));
      transaction.requireActive(); // after the line above: an end of before wakes nobody
      onCancel(() -> news(false));
      asked.begin(() -> news(true));
    }

    /// Something has come, or the wait is to end. Any thread.
    ///
    /// @param here whether the calling thread may go on with the statement
    private void news(boolean here) {
      while (true) {
        Step now = step.get();
        if (now == Step.JOB) {
          condition().signal();
          return;
        }
        if (now == Step.ASKED || (now == Step.ASKING && step.compareAndSet(now, Step.ASKED))) {
          return; // whoever asks looks at it
        }
        if (now == Step.WAITING && step.compareAndSet(now, Step.JOB)) {
          goOn(here);
          return;
        }
      }
    }

    private void goOn(boolean here) {
      step.set(Step.JOB);
      StatementWork.Arrival come = arrival;
      boolean isShort = here && come != null && come.isShort();
      try {
        job().workLevel(isShort ? 0 : PlanRunner.HEAVIEST).submit(this);
      } catch (SchedulerStoppedException stopping) {
        discarded();
      }
    }

    private synchronized Condition condition() {
      Condition made = condition;
      if (made == null) {
        made = environment.scheduler().condition();
        condition = made;
      }
      return made;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Interrupts.Source before = Interrupts.enter(StatementExecution.this);
      try {
        checkCanceled();
        transaction.requireActive();
        StatementWork.Arrival awaited = arrival;
        if (awaited == null) {
          ask();
          awaited = Objects.requireNonNull(arrival);
        }
        if (!awaited.hasCome()) {
          return context.await(condition(), this);
        }
        transaction.waitsNoLonger();
        return planned(context);
      } catch (Throwable failed) {
        transaction.waitsNoLonger();
        refuse(RunFailures.report(failed));
      } finally {
        Interrupts.leave(before);
      }
      return null;
    }

    @Override
    public void discarded(Job job) {
      discarded();
    }

    private void discarded() {
      transaction.waitsNoLonger();
      refuse(
          new EngineException(
              ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down"));
    }
  }

  /// How far a wait for an arrival is.
  private enum Step {
    /// It is being asked for on the thread that began the statement.
    ASKING,
    /// There was news meanwhile.
    ASKED,
    /// Nobody has the statement.
    WAITING,
    /// A job has it.
    JOB
  }

  /// Where the statement takes another snapshot anyway when it begins.
  private void letGoOfSnapshot() {
    if (transaction.hasEntrance()) {
      return; // it comes with its snapshot
    }
    boolean another = options.newSnapshot() && transaction.isReadCommitted();
    if ((another || transaction.isOfOneStatement()) && !transaction.hasOpenStatements()) {
      transaction.letGoOfSnapshot();
    }
  }

  private TableLocks.@Nullable Wait lockTables() {
    for (long table : work.lockedTables()) {
      TableLocks.Wait wait = lock(table, TableLocks.Mode.SHARED);
      if (wait != null) {
        return wait;
      }
    }
    return null;
  }

  // ---- DDL ----

  /// Takes a lock for the transaction.
  ///
  /// @return null when it has the lock; otherwise to be given to [#await]
  /// @throws EngineException DEADLOCK_DETECTED
  public TableLocks.@Nullable Wait lock(long tableId, TableLocks.Mode mode) {
    return environment.locks().acquire(transaction.lockOwner(), tableId, mode);
  }

  /// Whose turn it is to make an index.
  public IndexBuilds indexBuilds() {
    return environment.indexBuilds();
  }

  /// The same for a name.
  public TableLocks.@Nullable Wait lock(DefinedName name, TableLocks.Mode mode) {
    return environment.locks().acquire(transaction.lockOwner(), name, mode);
  }

  /// Whether the transaction has a lock, or a stronger one. Called by who has its turn.
  public boolean holdsLock(long tableId, TableLocks.Mode mode) {
    return TableLocks.holds(transaction.lockOwner(), tableId, mode);
  }

  /// The same for a name.
  public boolean holdsLock(DefinedName name, TableLocks.Mode mode) {
    return TableLocks.holds(transaction.lockOwner(), name, mode);
  }

  /// A task that waits for a lock.
  ///
  /// @param next runs when the lock is there
  /// @param failed gets QUERY_CANCELED, LOCK_NOT_AVAILABLE, ...
  public Task await(TableLocks.Wait lock, Task next, Consumer<EngineException> failed) {
    lockWaitBegins(lockTimeoutNanos());
    return new LockWait(this, environment.scheduler(), environment.locks(), lock, next, failed);
  }

  private long lockTimeoutNanos() {
    return options.lockTimeoutNanos() != 0
        ? options.lockTimeoutNanos()
        : environment.lockTimeoutNanos();
  }

  /// The catalogue as the transaction sees it.
  public CatalogSnapshot catalog() {
    return transaction.catalog();
  }

  /// The statement has changed the catalogue: the transaction goes on with that.
  ///
  /// @param mark before the changes
  /// @param committed the version that the statement was planned with
  /// @param catalog that version with all changes of the transaction
  public void defined(
      long mark, List<CatalogChange> changes, CatalogSnapshot committed, CatalogSnapshot catalog) {
    transaction.defined(mark, changes, committed, catalog);
  }

  /// @throws EngineException READ_ONLY_TRANSACTION
  public void checkWritable(String command) {
    if (transaction.isReadOnly()) {
      throw new EngineException(
          ErrorCode.READ_ONLY_TRANSACTION,
          "cannot execute " + command + " in a read-only transaction");
    }
  }

  /// @throws EngineException FEATURE_NOT_SUPPORTED in a long transaction, which has declared what it reads
  public void refuseLong(String command) {
    if (transaction.isLong()) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          command + " with rows is not supported in a long transaction");
    }
  }

  /// Whether a statement of the transaction reads the table and has not ended.
  public boolean isBeingRead(long tableId) {
    return transaction.isBeingRead(tableId);
  }

  /// Whether a deferred constraint is still to look at what the transaction has done to the table.
  public boolean hasPendingChecks(long tableId) {
    return transaction.hasPendingChecks(tableId);
  }

  /// Whether its plan uses a table.
  boolean uses(long tableId) {
    for (long table : work.lockedTables()) {
      if (table == tableId) {
        return true;
      }
    }
    return false;
  }

  private void start() {
    open();
    environment
        .scheduler()
        .submitTimed(work.name(), this, work.workLevel(this), work.task(this, this));
  }

  private void open() {
    if (work.usesTransaction()) {
      if (work.changesRows() && transaction.isReadOnly()) {
        throw new EngineException(
            ErrorCode.READ_ONLY_TRANSACTION, "cannot change rows in a read-only transaction");
      }
      transaction.takeSnapshot(options.newSnapshot(), options.command());
      view = transaction.store().beginStatement(options.command());
    } else {
      transaction.takeMissingSnapshot();
    }
    if (keepsTurn()) {
      transaction.store().changeFor(options.command());
    }
    opened = true;
    savepointTime = transaction.savepointTime();
    transaction.opened(this, keepsTurn() || withinTurn);
  }

  /// Set before it is among the open ones; read by the operation that has the turn.
  long savepointTime() {
    return savepointTime;
  }

  /// Whether the client has said of which of its commands it is.
  boolean isNumbered() {
    return options.command() != 0;
  }

  private boolean keepsTurn() {
    return work.changesRows() || !work.usesTransaction();
  }

  /// Its work has ended, or never began. Of several calls, as when the first one fails on its way to the client, the first counts.
  @Override
  public void accept(@Nullable Long count, @Nullable EngineException failure) {
    if (ended) {
      return;
    }
    ended = true;
    work.ended();
    letGo();
    stopWaiting();
    StatementWork.Arrival come = arrival;
    if (come != null && failure != null) {
      come.giveBack();
    } else if (come != null) {
      transaction.onRollback(come::rolledBack);
    }
    if (transaction.hasEntrance()) {
      transaction.waitsNoLonger();
    }
    long record = work.session().sequences().reliedOn();
    if (record > 0) {
      transaction.store().reliesOn(record);
    }
    if (opened) {
      transaction.closed(this, keepsTurn() && !changesMade && !withinTurn);
    } else if (!withinTurn) {
      transaction.skipped();
    }
    done.accept(count, failure);
  }

  @Override
  public void changesMade() {
    if (keepsTurn() && !withinTurn && !changesMade) {
      changesMade = true;
      transaction.changesMade();
    }
  }

  @Override
  public void undoFailed() {
    transaction.undoFailed();
  }

  @Override
  public void undoIfLast(long from, long to) {
    transaction.undoIfLast(from, to);
  }

  @Override
  public long rowsScanned() {
    return scanned;
  }

  @Override
  public void copying(CopyActivity activity) {
    work.copying(activity);
  }

  /// How far it is if it copies rows from or to files; null: it does not. Any thread.
  public @Nullable CopyActivity copy() {
    return work.copy();
  }

  @Override
  public void scanning(ScanActivity activity) {
    work.scanning(activity);
  }

  /// How far it has read its tables; null: not known. Any thread.
  public @Nullable ScanActivity scans() {
    return work.scans();
  }

  @Override
  public void scanned(long rows) {
    SCANNED.getAndAdd(this, rows);
  }

  /// Its text, mostly.
  public String name() {
    return work.name();
  }

  /// Whose statement it is; any thread.
  public ManagedTransaction owner() {
    return transaction;
  }

  /// Any thread.
  @Override
  public Viewer viewer() {
    Viewer own = work.viewer();
    return own.equals(Viewer.NOBODY) ? transaction.owner() : own;
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
  public boolean keepsSnapshot() {
    return !transaction.isReadCommitted();
  }

  @Override
  public ReadView referenceView() {
    StoreTransaction store = transaction.store();
    return transaction.isReadCommitted() ? store.beginLatest() : store.beginStatement();
  }

  @Override
  public boolean defers(DeferrableConstraint constraint) {
    return transaction.deferred().defers(constraint, transaction.store().mark());
  }

  @Override
  public void nextRow() {
    // A query has given its turn back: a change may be at work, of which it sees nothing.
    if (keepsTurn()) {
      view = transaction.store().beginStatement(options.command());
    }
  }

  @Override
  public void restart() {
    stopWaiting();
    if (transaction.isReadCommitted()) {
      transaction.store().refreshSnapshot();
    }
    view = transaction.store().beginStatement(options.command());
  }

  @Override
  public Condition onConflict(RowConflict conflict) {
    if (conflict.kind() == RowConflict.Kind.PRESERVED) {
      throw transaction.givesWay(conflict);
    }
    if (conflict.kind() == RowConflict.Kind.READ_SINCE_CHANGED) {
      throw transaction.readChanged(conflict);
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
    noteWait(conflict.owners().stream().map(StoreTransaction::id).toList());
    lockWaitBegins(lockTimeoutNanos());
    awaitEnds(conflict.owners(), condition);
    return condition;
  }

  /// Those who share a row are waited for together: none of them alone lets the statement go on.
  private void awaitEnds(List<StoreTransaction> owners, Condition condition) {
    if (owners.size() == 1) {
      owners.getFirst().whenEnded(condition::signal);
      return;
    }
    AtomicInteger left = new AtomicInteger(owners.size());
    for (StoreTransaction owner : owners) {
      owner.whenEnded(() -> {
        environment.deadlocks().ended(transaction.id(), owner.id());
        if (left.decrementAndGet() == 0) {
          condition.signal();
        }
      });
    }
  }

  /// Lets others know whom it waits for.
  ///
  /// @throws EngineException DEADLOCK_DETECTED
  private void noteWait(List<Long> owners) {
    if (owners.isEmpty()) {
      return;
    }
    if (!environment.deadlocks().add(transaction.id(), owners)) {
      throw new EngineException(ErrorCode.DEADLOCK_DETECTED, "deadlock detected")
          .withDetail(
              owners.size() == 1
                  ? "Transaction %d waits for transaction %d, which waits for it."
                      .formatted(transaction.id(), owners.getFirst())
                  : "Transaction %d waits for others, of which one waits for it."
                      .formatted(transaction.id()));
    }
    waits = true;
  }

  /// After the wait for a conflict's owner.
  public void conflictEnded() {
    stopWaiting();
  }

  private void stopWaiting() {
    lockWaitEnds();
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
  public Zone zone() {
    return work.session().zone();
  }

  @Override
  public String userName() {
    return work.session().userName();
  }

  @Override
  public String sessionUserName() {
    return work.session().sessionUserName();
  }

  @Override
  public boolean terminateTransaction(long id) {
    return work.session().terminateTransaction(id);
  }

  @Override
  public RightsQuestions rights() {
    return work.session().rights();
  }

  @Override
  public FileAccess files() {
    return work.session().files();
  }

  @Override
  public RowIdentities identities() {
    Store tables = store();
    return (tableId, rowId) -> tables.table(tableId).identity(rowId);
  }

  @Override
  public RandomNumbers random() {
    return work.session().random();
  }

  @Override
  public SequenceAccess sequences() {
    return transaction.isReadOnly() ? SequenceAccess.READ_ONLY : work.session().sequences();
  }

  @Override
  public ApplicationUses applications() {
    return work.session().applications();
  }

  @Override
  public QueueAccess queues() {
    return work.session().queues();
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
