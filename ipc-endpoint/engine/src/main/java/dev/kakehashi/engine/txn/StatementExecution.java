package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.plan.DeferrableConstraint;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.type.RowIdentities;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.JobBuilder;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.valuetext.time.Clock;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One execution of a statement in a transaction: waits for its turn, has a view, can be canceled.
///
/// ```
///  phase  BEFORE -> OPEN -> ENDED    it has a view, or is DDL; ends by `accept`
///         BEFORE -> ENDED            refused, or its transaction ends
///  turn   OWN -> GIVEN_BACK          a query when it is open, a change when only its rows are left
///         OWN                        to its end: a change or DDL
///         BORROWED                   to its end: somebody else has the turn, and keeps it
/// ```
///
/// All fields that change, but `scanned`, belong to the thread that runs the statement's current step. Steps come one after another: a task
/// of the scheduler or the news of a wait begins the next one, and publishes what the one before has written.
public final class StatementExecution extends WaitingExecution
    implements BiConsumer<@Nullable Long, @Nullable EngineException> {
  private enum Phase {
    BEFORE,
    OPEN,
    ENDED
  }

  private enum Turn {
    OWN,
    GIVEN_BACK,
    BORROWED
  }

  private static final AtomicLongFieldUpdater<StatementExecution> SCANNED =
      AtomicLongFieldUpdater.newUpdater(StatementExecution.class, "scanned");

  private final StatementWork work;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final long timestamp = Clock.now();

  /// Counted by all tasks, once for each batch.
  private volatile long scanned;

  private Phase phase = Phase.BEFORE;
  private Turn turn = Turn.OWN;
  private @Nullable ReadView view;

  /// The plan at hand was made for this execution: it runs even if it may not be used again.
  private boolean plannedHere;

  /// In a long transaction: its epoch has come, for the plan at hand. In a deferrable one: its snapshot is safe.
  private boolean entered;

  /// Arrival that the statement has waited for, or waits for; null: none.
  private StatementWork.@Nullable Arrival arrival;

  /// When it was opened, see [ManagedTransaction#savepointTime].
  private long savepointTime;

  /// @param done receives the result, after the transaction has let go of the statement
  public StatementExecution(
      ManagedTransaction transaction,
      StatementWork work,
      ExecuteOptions options,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    super(transaction, options);
    this.work = work;
    this.done = done;
  }

  /// Runs within a turn that somebody else has, and keeps.
  void beginWithinTurn() {
    turn = Turn.BORROWED;
    try {
      checkCanceled();
      start();
    } catch (Throwable failed) {
      refuse(RunFailures.report(failed));
    }
  }

  /// The same for a statement of a call: it may have to be planned, and waits for locks.
  void beginWithinCall() {
    turn = Turn.BORROWED;
    begin();
  }

  /// It is this statement's turn, which it keeps without a task: what it does comes by [ManagedTransaction#executeWithin] and on the store.
  /// [#accept] ends it.
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

  JobBuilder job() {
    return environment.scheduler().job(work.name()).attachment(this).timed();
  }

  private void beginArrival() {
    ArrivalWait wait = new ArrivalWait(this);
    if (work.asksSoon()) {
      wait.begin();
    } else {
      job().submit(wait);
    }
  }

  void refuse(EngineException reason) {
    accept(null, reason);
  }

  /// Why nothing more of it runs when the scheduler stops.
  static EngineException stopping(@Nullable Throwable cause) {
    return new EngineException(
        ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down", cause);
  }

  StatementWork work() {
    return work;
  }

  /// Goes on as far as the plan, locks and waits let it.
  @Nullable Task planned(TaskContext context) {
    try {
      do {
        if (!work.isReady() && !(plannedHere && work.isCurrent())) {
          plan(context, this::prepared, this::planned, this::refuse);
          return null;
        }
        if (work.awaits() && arrival == null) {
          return new ArrivalWait(this);
        }
        // Without locks: those whose end the epoch waits for may want them.
        if (transaction.hasEntrance() && !entered) {
          return new EntranceWait(this);
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
    } catch (SchedulerStoppedException stopped) {
      refused.accept(stopping(stopped));
    } catch (Throwable failed) {
      refused.accept(RunFailures.report(failed));
    }
  }

  /// A statement that has not been opened is not among those that a rollback cancels.
  private void checkEnding() {
    checkCanceled();
    transaction.requireActive();
  }

  /// Its transaction lets it begin.
  @Nullable Task entered(TaskContext context) {
    stopWaiting();
    entered = true;
    return planned(context);
  }

  /// It waits for something from now on, without a snapshot if the transaction needs none.
  void awaits(StatementWork.Arrival asked) {
    arrival = asked;
    letGoOfSnapshot();
  }

  private Task opened() {
    open();
    return work.task(this, this);
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

  /// The catalogue as the transaction sees it.
  public CatalogSnapshot catalog() {
    return transaction.catalog();
  }

  /// The same in a version that was committed then.
  public CatalogSnapshot catalog(CatalogSnapshot committed) {
    return transaction.catalog(committed);
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
      ReadView taken = transaction.store().beginStatement(options.command());
      view = taken;
      if (environment.isStandby()) {
        refuseNewer(taken);
      }
    } else {
      transaction.takeMissingSnapshot();
    }
    boolean keeps = keepsTurn();
    if (keeps) {
      transaction.store().changeFor(options.command());
    }
    phase = Phase.OPEN;
    if (turn == Turn.OWN && !keeps) {
      turn = Turn.GIVEN_BACK;
    }
    savepointTime = transaction.savepointTime();
    transaction.opened(this, turn != Turn.GIVEN_BACK);
  }

  /// Set before it is among the open ones; read by the operation that has the turn.
  long savepointTime() {
    return savepointTime;
  }

  /// Whether the client has said of which of its commands it is.
  boolean isNumbered() {
    return options.command() != 0;
  }

  /// On a standby, refuses tables that the primary has made after the snapshot: it may have emptied or rewritten another one for that.
  private void refuseNewer(ReadView taken) {
    for (long table : work.lockedTables()) {
      if (environment.store().madeAt(table) > taken.snapshot()) {
        throw RecoveryConflicts.conflict(environment.tableName(table));
      }
    }
  }

  private boolean keepsTurn() {
    return work.changesRows() || !work.usesTransaction();
  }

  /// Its work has ended, or never began. The first of several calls counts, as when that one fails on its way to the client.
  @Override
  public void accept(@Nullable Long count, @Nullable EngineException failure) {
    Phase before = phase;
    if (before == Phase.ENDED) {
      return;
    }
    phase = Phase.ENDED;
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
    long record = session().sequences().reliedOn();
    if (record > 0) {
      transaction.store().reliesOn(record);
    }
    if (before == Phase.OPEN) {
      transaction.closed(this, turn == Turn.OWN);
    } else if (turn == Turn.OWN) {
      transaction.skipped();
    }
    done.accept(count, failure == null ? null : environment.explained(reason(failure)));
  }

  /// On a standby, a statement is canceled when the log ends its transaction: that is what its client has to know.
  private EngineException reason(EngineException failure) {
    EngineException ofTransaction = environment.isStandby() ? transaction.failure() : null;
    return ofTransaction != null && failure.code() == ErrorCode.QUERY_CANCELED
        ? ofTransaction
        : failure;
  }

  @Override
  public void changesMade() {
    if (turn == Turn.OWN) {
      turn = Turn.GIVEN_BACK;
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
  public FunctionSession session() {
    return work.session();
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
  public RowIdentities identities() {
    Store tables = store();
    return (tableId, rowId) -> tables.table(tableId).identity(rowId);
  }

  @Override
  public SequenceAccess sequences() {
    return transaction.isReadOnly() ? SequenceAccess.READ_ONLY : session().sequences();
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
