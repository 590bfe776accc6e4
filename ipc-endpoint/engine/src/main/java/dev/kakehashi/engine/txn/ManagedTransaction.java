package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ClientActivity;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.sql.statement.SetConstraints;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.Timer;
import dev.kakehashi.valuetext.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// A transaction of the embedded engine.
///
/// Operations take turns ([Turns]). A query gives its turn back as soon as it has its view: what it sees is fixed, so later statements of
/// the transaction need not wait for its reader. A change keeps its turn until its changes are made; the rows of RETURNING are delivered
/// without it. The end of the transaction, and a rollback to a savepoint, first cancel the queries that are still open and wait for them,
/// because a view is valid only while what it shows exists.
///
/// ```
///  state    ACTIVE -> COMMITTED | PREPARED | ABORTED    the operation that has the turn
///  ending   false -> true                               any thread, before the turn of its rollback
///  failure  null -> why it ends by itself               before `ending`: one thread (`open`), or with the turn
/// ```
///
/// Locks of tables stay until its end. `savepoints` and `deferred` are written by the operation that has the turn.
public final class ManagedTransaction extends SnapshotHolder {
  /// Writes that are logged or undone within a millisecond.
  private static final int SHORT_WRITES = 1000;

  // The following fields are set when they are needed: a transaction of one select needs little.

  /// Null: it has set none.
  private volatile @Nullable Savepoints savepoints;

  /// Null: it has done nothing that could be deferred.
  private @Nullable DeferredConstraints deferred;

  private volatile State state = State.ACTIVE;

  /// Set by a rollback before its turn: statements that have not begun are refused.
  private volatile boolean ending;

  /// Why the transaction ends by itself; written before `ending`, by one thread at a time (`open`).
  private volatile @Nullable EngineException failure;

  /// Wakes the operation that waits with the turn, for an epoch or an earlier commit, when the transaction ends. Written before `ending` is
  /// read.
  private volatile @Nullable Runnable wakeWaiting;

  private volatile @Nullable Timer timer;

  /// Null: there are none. Guarded by `open`.
  private @Nullable List<Runnable> rollbackActions;

  /// @param area what the options declare
  public ManagedTransaction(
      TransactionEnvironment environment, BeginOptions options, DeclaredArea area) {
    super(environment, options, area);
  }

  /// Lets the time-out run. Called once, before the transaction is used.
  public void start() {
    if (options.timeoutNanos() > 0) {
      timer =
          environment
              .scheduler()
              .after(
                  Duration.ofNanos(options.timeoutNanos()),
                  context -> {
                    timedOut();
                    return null;
                  });
    }
  }

  private void timedOut() {
    endBecauseOf(
        new EngineException(
                ErrorCode.TRANSACTION_TIMEOUT,
                "transaction was rolled back due to transaction timeout")
            .withDetail(
                "The time-out was "
                    + Duration.ofNanos(options.timeoutNanos()).toMillis()
                    + " ms."));
  }

  /// Rolls it back; its client is told why by what it asks for next. Any thread.
  ///
  /// @return false: it has ended, or is about to
  public boolean endBecauseOf(EngineException reason) {
    synchronized (open) {
      if (state != State.ACTIVE || ending) {
        return false;
      }
      failure = reason;
    }
    rollback(() -> {});
    return true;
  }

  @Override
  public @Nullable EngineException failure() {
    return state == State.COMMITTED || state == State.PREPARED ? null : failure;
  }

  @Override
  public State state() {
    return state;
  }

  /// Since when its client runs nothing in it, as [#timestamp()]; null: it is at work, or its client is not known. Any thread.
  public @Nullable Long idleSince() {
    ClientActivity client = activity();
    if (client == null || ending || state != State.ACTIVE) {
      return null;
    }
    OptionalLong sinceNanos = client.idleSinceNanos();
    return sinceNanos.isEmpty()
        ? null
        : (Long) (Clock.now() - (System.nanoTime() - sinceNanos.getAsLong()) / 1000);
  }

  /// When it is, for what [#isUndone(long)] is asked about later.
  public long savepointTime() {
    Savepoints set = savepoints;
    return set == null ? 0 : set.clock().now();
  }

  /// Whether a rollback to a savepoint has undone what was done at a time.
  public boolean isUndone(long savepointTime) {
    Savepoints set = savepoints;
    return set != null && set.clock().isUndone(savepointTime);
  }

  boolean isBeingRead(long tableId) {
    return open.list().stream().anyMatch(each -> each.uses(tableId));
  }

  DeferredConstraints deferred() {
    DeferredConstraints present = deferred;
    if (present == null) {
      present = new DeferredConstraints();
      deferred = present;
    }
    return present;
  }

  /// Whether something is to be looked at before the commit.
  boolean hasDeferred() {
    return deferred != null && !deferred.isEmpty();
  }

  boolean hasPendingChecks(long tableId) {
    return hasDeferred() && deferred().isPending(tableId, catalog(), store, environment.store());
  }

  /// The task of SET CONSTRAINTS: what is no longer deferred is looked at.
  public Task setConstraints(
      SetConstraints statement,
      StatementExecution execution,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return deferred().set(statement, execution, done);
  }

  /// Whether it waits for its epoch, or for the commit of one that comes before it.
  public boolean isWaiting() {
    return wakeWaiting != null;
  }

  /// Whether a statement of a long transaction may begin now: its epoch has come, and what it reads is guarded. Or one of a deferrable
  /// transaction: its snapshot is safe.
  ///
  /// @param wake called once, when it is worth to ask again; also when the transaction ends
  /// @throws EngineException if the statement goes beyond the declared area, or the transaction ends
  boolean mayBegin(TouchedTables tables, Runnable wake) {
    area.check(tables, environment);
    wakeWaiting = wake;
    requireActive();
    boolean serializable = options.isolation() == BeginOptions.Isolation.SERIALIZABLE;
    boolean may =
        deferrable
            ? store.hasSafeSnapshot(wake)
            : store.mayBegin(serializable ? tables.reads() : Set.of(), hasOpenStatements(), wake);
    if (may) {
      wakeWaiting = null;
    }
    return may;
  }

  /// The operation that has the turn waits.
  ///
  /// @param wake called when the transaction ends
  void waits(Runnable wake) {
    wakeWaiting = wake;
  }

  /// The operation that has waited does so no longer.
  void waitsNoLonger() {
    wakeWaiting = null;
  }

  /// Whether it is to end otherwise than by a commit.
  boolean isEnding() {
    return ending;
  }

  /// It cannot wait for its commit any more.
  void giveUp() {
    ending = true;
  }

  /// Whether a commit or preparation is refused, because the transaction ends otherwise.
  boolean refusesEnd() {
    return failure != null || (isLong() && ending);
  }

  /// Starts a statement when it is its turn.
  public void execute(StatementExecution execution) {
    if (turns.tryBegin()) {
      execution.begin();
    } else {
      turns.begin(execution::begin);
    }
  }

  /// Starts a statement of a call that has the turn, and keeps it.
  public void executeWithin(StatementExecution execution) {
    execution.beginWithinCall();
  }

  /// Begins a call that has no task, see [StatementExecution#beginCall].
  public void beginCall(StatementExecution call, Runnable ready) {
    turns.begin(() -> call.beginCall(ready));
  }

  /// Sets a savepoint above all others; by the call that has the turn.
  ///
  /// @return its level
  public int savepointWithin() {
    int level = savepoints().depth() + 1;
    savepoints().set(level, store.mark(), deferred().state());
    return level;
  }

  /// Keeps what was done since a savepoint; by the call that has the turn.
  public void releaseWithin(int level) {
    savepoints().release(level);
  }

  /// Undoes what was done since a savepoint, and ends it; by the call that has the turn, none of whose statements is under way.
  public void rollbackWithin(int level) {
    Savepoints.Savepoint savepoint = savepoints().get(level);
    undoTo(savepoint.mark());
    deferred().restore(savepoint.deferred());
    savepoints().undone(level);
    savepoints().release(level);
  }

  /// @throws EngineException if the transaction has ended or is about to
  void requireActive() {
    if (state != State.ACTIVE || ending) {
      throw notActive();
    }
  }

  EngineException notActive() {
    return switch (state) {
      case COMMITTED ->
          new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "transaction has been committed");
      case PREPARED ->
          new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "transaction has been prepared");
      case ACTIVE, ABORTED -> {
        EngineException reason = failure;
        yield reason != null
            ? reason
            : new EngineException(
                ErrorCode.TRANSACTION_ABORTED,
                "current transaction is aborted, commands ignored until end of transaction block");
      }
    };
  }

  /// A statement runs from now on.
  ///
  /// @param keepsTurn whether the next operation waits for its end
  void opened(StatementExecution execution, boolean keepsTurn) {
    open.add(execution);
    if (ending) { // after the look of rollback() at what is open
      execution.abandon();
    }
    if (!keepsTurn) {
      turns.end();
      letGoBetweenStatements(); // it may have closed already
    }
  }

  /// A statement that was opened has ended.
  void closed(StatementExecution execution, boolean keptTurn) {
    Runnable continuation = open.remove(execution);
    if (keptTurn) {
      turns.end();
    }
    if (continuation != null) {
      continuation.run();
    } else {
      letGoBetweenStatements();
    }
  }

  /// The changes of a statement are made, only rows are left to be delivered: the next operation need not wait for their reader.
  void changesMade() {
    turns.end();
    letGoBetweenStatements();
  }

  /// Undoes a statement that has given its turn back, if nothing has come after it.
  ///
  /// @param from mark before its changes
  /// @param to mark after them
  void undoIfLast(long from, long to) {
    if (!turns.tryBegin()) {
      return; // its transaction ends, or goes on: what is there stays
    }
    try {
      if (state == State.ACTIVE && store.mark() == to) {
        undoTo(from);
      }
    } finally {
      turns.end();
      letGoBetweenStatements();
    }
  }

  /// The turn of a statement that was never opened ends.
  void skipped() {
    turns.end();
    letGoBetweenStatements();
  }

  /// Cancels the open statements and continues when the last one has ended.
  void afterOpenStatements(Runnable continuation) {
    afterStatements(each -> true, continuation);
  }

  private void afterStatements(Predicate<StatementExecution> which, Runnable continuation) {
    List<StatementExecution> running = open.whenEnded(which, continuation);
    if (running.isEmpty()) {
      continuation.run();
    } else {
      running.forEach(StatementExecution::cancel);
    }
  }

  @Override
  public void commit(CommitResponse response, Consumer<@Nullable EngineException> done) {
    begin(new TransactionEnd(this, response == CommitResponse.STORED, null, done));
  }

  private void begin(TransactionEnd end) {
    if (turns.tryBegin()) {
      end.begin();
    } else {
      turns.begin(end::begin);
    }
  }

  /// Whether to log or undo its writes takes long: others wait for the thread that has received the request.
  boolean hasManyWrites() {
    return state == State.ACTIVE && (int) store.mark() > SHORT_WRITES;
  }

  private void onWorkerIfLong(Runnable continuation) {
    if (hasManyWrites()) {
      OnWorker.run(environment.scheduler(), continuation);
    } else {
      continuation.run();
    }
  }

  /// Calls back if the transaction is rolled back; by the statement that has the turn, or has not ended.
  void onRollback(Runnable action) {
    synchronized (open) {
      List<Runnable> present = rollbackActions;
      if (present == null) {
        present = new ArrayList<>(1);
        rollbackActions = present;
      }
      present.add(action);
    }
  }

  private void runRollbackActions(State how) {
    List<Runnable> actions;
    synchronized (open) {
      actions = rollbackActions;
      rollbackActions = null;
    }
    if (actions != null && how == State.ABORTED) {
      actions.forEach(Runnable::run);
    }
  }

  /// Nothing of it is left but its state, and when it is prepared its locks.
  void ended(State how) {
    Timer held = timer;
    if (held != null) {
      held.cancel();
    }
    state = how;
    forgetDefinitions();
    if (how == State.PREPARED) {
      store.whenEnded(() -> environment.locks().releaseAll(lockOwner()));
    } else {
      environment.locks().releaseAll(lockOwner());
    }
    environment.ended(this);
    runRollbackActions(how);
  }

  /// First phase of a two-phase commit. If it fails, the transaction is rolled back.
  ///
  /// @param owner who may decide on it
  public void prepare(
      String globalId, String owner, String userName, Consumer<@Nullable EngineException> done) {
    Preparation preparation = new Preparation(globalId, owner, userName, reference(), Clock.now());
    begin(new TransactionEnd(this, false, preparation, done));
  }

  /// Answers an operation, whose turn ends.
  void end(Consumer<@Nullable EngineException> done, @Nullable EngineException outcome) {
    turns.end();
    letGoBetweenStatements();
    done.accept(outcome);
  }

  /// Nothing more of it succeeds, and what runs is canceled; [#rollback] is to follow. So what waits for another one does not go on when
  /// that is rolled back first.
  public void stop() {
    ending = true;
    Runnable wake = wakeWaiting;
    if (wake != null) {
      wake.run();
    }
    open.list().forEach(StatementExecution::abandon);
  }

  @Override
  public void rollback(Runnable done) {
    stop();
    turns.begin(() ->
        afterOpenStatements(() ->
            onWorkerIfLong(() -> {
              try {
                if (state == State.ACTIVE) {
                  store.abort();
                  ended(State.ABORTED);
                }
              } finally {
                turns.end();
                done.run();
              }
            })));
  }

  @Override
  public void savepoint(int level, Consumer<@Nullable EngineException> done) {
    operation(done, () -> savepoints().set(level, store.mark(), deferred().state()));
  }

  @Override
  public void releaseSavepoint(int level, Consumer<@Nullable EngineException> done) {
    operation(done, () -> savepoints().release(level));
  }

  @Override
  public void rollbackToSavepoint(int level, Consumer<@Nullable EngineException> done) {
    turns.begin(() ->
        afterStatements(
            endedBy(level),
            () ->
                onWorkerIfLong(() ->
                    now(
                        done,
                        () -> {
                          Savepoints.Savepoint savepoint = savepoints().get(level);
                          undoTo(savepoint.mark());
                          deferred().restore(savepoint.deferred());
                          savepoints().undone(level);
                        }))));
  }

  /// Statements that the rollback to a savepoint ends. Others, cursors of before, read on: they see nothing of what is undone, which is
  /// taken away as under readers of other transactions.
  ///
  /// A client that numbers its commands ends the statements of the savepoint itself, because a cursor of before may have been read first
  /// after it. Definitions of the savepoint may be in use.
  private Predicate<StatementExecution> endedBy(int level) {
    if (!savepoints().has(level)) {
      return each -> false;
    }
    Savepoints.Savepoint savepoint = savepoints().get(level);
    boolean undefines = hasDefinedSince(savepoint.mark());
    return each -> undefines || (!each.isNumbered() && each.savepointTime() >= savepoint.time());
  }

  private void undoTo(long mark) {
    try {
      store.rollbackTo(mark);
      undefine(mark);
    } catch (Throwable failed) {
      undoFailed();
      throw failed;
    }
  }

  /// Changes could not be taken back: what is there may be half a statement, so the transaction is rolled back as soon as it has its turn.
  void undoFailed() {
    if (failure != null) {
      return; // it is being rolled back
    }
    failure =
        new EngineException(
            ErrorCode.TRANSACTION_ABORTED,
            "transaction was rolled back because changes could not be undone");
    rollback(() -> {});
  }

  private void operation(Consumer<@Nullable EngineException> done, Runnable action) {
    turns.begin(() -> now(done, action));
  }

  private void now(Consumer<@Nullable EngineException> done, Runnable action) {
    EngineException outcome = null;
    try {
      requireActive();
      action.run();
    } catch (Throwable failed) {
      outcome = RunFailures.report(failed);
    }
    end(done, outcome);
  }

  private Savepoints savepoints() {
    Savepoints present = savepoints;
    if (present == null) {
      present = new Savepoints();
      savepoints = present;
    }
    return present;
  }
}
