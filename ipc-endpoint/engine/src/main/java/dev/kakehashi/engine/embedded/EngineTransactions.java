package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Catalog;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.ddl.DefinitionLocks;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.txn.Deadlocks;
import dev.kakehashi.engine.txn.DeclaredArea;
import dev.kakehashi.engine.txn.IndexBuilds;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.PlanningThreads;
import dev.kakehashi.engine.txn.PreparedTransactions;
import dev.kakehashi.engine.txn.RecoveryConflicts;
import dev.kakehashi.engine.txn.TableLocks;
import dev.kakehashi.engine.txn.TransactionEnvironment;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The open transactions of an engine, and what they share. Thread-safe.
final class EngineTransactions implements TransactionEnvironment {
  /// Limits of one statement, see [EngineConfig].
  private record StatementLimits(long memoryBytes, long lockTimeoutNanos) {}

  private final Store store;
  private final TaskScheduler scheduler;
  private final PlanningThreads planning;
  private final Catalog catalog;
  private final TempSpace tempSpace;
  private final Runnable changed;
  private final int most;
  private final boolean isStandby;
  private final Set<ManagedTransaction> open = ConcurrentHashMap.newKeySet();
  private final Deadlocks deadlocks = new Deadlocks();
  private final TableLocks locks;
  private final IndexBuilds indexBuilds;
  private final PreparedTransactions prepared;

  /// Replaced by the thread that changes them; read by each statement, on any thread.
  private volatile StatementLimits limits;

  /// @param changed called after the end of each transaction that has written
  EngineTransactions(
      EngineConfig config,
      Store store,
      TaskScheduler scheduler,
      Catalog catalog,
      TempSpace tempSpace,
      Runnable changed) {
    this.store = store;
    this.scheduler = scheduler;
    this.planning = new PlanningThreads(scheduler);
    this.catalog = catalog;
    this.tempSpace = tempSpace;
    this.changed = changed;
    this.most = config.maxTransactions();
    this.isStandby = config.store().isStandby();
    this.limits = new StatementLimits(config.statementMemoryBytes(), config.lockTimeoutNanos());
    this.indexBuilds = new IndexBuilds(scheduler);
    this.prepared = new PreparedTransactions(store.prepared(), store::preparedByPrimary);
    this.locks =
        new TableLocks(deadlocks, id -> store.hasTable(id) || catalog.snapshot().hasObject(id));
    store.prepared().forEach(this::lockForPrepared);
  }

  /// A transaction that an earlier run has prepared keeps others from what it uses.
  private void lockForPrepared(StoreTransaction transaction) {
    TableLocks.Owner owner = new TableLocks.Owner(transaction.id());
    DefinitionLocks.restore(
        locks, owner, transaction.definitions(), transaction.changedTables(), catalog.snapshot());
    transaction.whenEnded(() -> locks.releaseAll(owner));
    if (transaction.knowsLocks()) {
      return;
    }
    // Nobody remembers which rows its own ones reference.
    CatalogSnapshot tables = catalog.snapshot();
    for (long tableId : transaction.changedTables()) {
      Table table = tables.table(tableId);
      if (table != null) {
        table.foreignKeys().forEach(key -> store.table(key.referencedId()).lockKeys(transaction));
      }
    }
  }

  /// Changes limits for statements that begin, each as in [EngineConfig].
  void limits(long statementMemoryBytes, long lockTimeoutNanos) {
    limits = new StatementLimits(statementMemoryBytes, lockTimeoutNanos);
  }

  /// @throws EngineException TOO_MANY_SESSIONS
  ManagedTransaction begin(BeginOptions asked) {
    BeginOptions options = isStandby ? StandbyRules.readOnly(asked) : asked;
    if (open.size() + prepared.count() >= most) {
      throw new EngineException(
          ErrorCode.TOO_MANY_SESSIONS, "too many open transactions, the limit is " + most);
    }
    ManagedTransaction transaction =
        new ManagedTransaction(this, options, DeclaredArea.of(options, catalog.snapshot()));
    open.add(transaction);
    transaction.start();
    return transaction;
  }

  /// Open transactions; the collection changes while it is looked at.
  Collection<ManagedTransaction> open() {
    return open;
  }

  /// The open transaction of a reference, or null.
  @Nullable ManagedTransaction find(long reference) {
    for (ManagedTransaction each : open) {
      if (each.reference() == reference) {
        return each;
      }
    }
    return null;
  }

  /// Ends an open transaction of any user.
  ///
  /// @param id as `kakehashi_catalog.transactions` shows it
  /// @param may whether the one who asks may end those of an owner
  /// @return false: there is none
  /// @throws EngineException INSUFFICIENT_PRIVILEGE
  boolean terminate(long id, Predicate<Viewer> may) {
    for (ManagedTransaction each : open) {
      if (each.id() == id) {
        if (!may.test(each.owner())) {
          throw new EngineException(
                  ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied to terminate transaction")
              .withDetail(
                  "Only its owner, superusers, and members of its owner's role and of \"pg_signal_backend\" may terminate it. Those of superusers only superusers may.");
        }
        return each.endBecauseOf(
            new EngineException(
                ErrorCode.TRANSACTION_TERMINATED,
                "transaction was rolled back due to administrator command"));
      }
    }
    return false;
  }

  /// Ends the open transactions of users who may not go on.
  void terminateOf(Set<String> userNames) {
    for (ManagedTransaction each : open) {
      String user = each.owner().userName();
      if (userNames.contains(user)) {
        each.endBecauseOf(
            new EngineException(
                ErrorCode.TRANSACTION_TERMINATED,
                "transaction was rolled back because role \""
                    + user
                    + "\" may not log in any more"));
      }
    }
  }

  /// Rolls back all that are open, and waits for the end of their statements.
  void rollbackAll() {
    List<ManagedTransaction> all = List.copyOf(open);
    CountDownLatch ended = new CountDownLatch(all.size());
    all.forEach(ManagedTransaction::stop);
    all.forEach(transaction -> transaction.rollback(ended::countDown));
    boolean interrupted = false;
    while (true) {
      try {
        ended.await();
        break;
      } catch (InterruptedException e) {
        // The store must not be closed under a running statement.
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public Store store() {
    return store;
  }

  @Override
  public TaskScheduler scheduler() {
    return scheduler;
  }

  @Override
  public PlanningThreads planning() {
    return planning;
  }

  @Override
  public Deadlocks deadlocks() {
    return deadlocks;
  }

  @Override
  public IndexBuilds indexBuilds() {
    return indexBuilds;
  }

  @Override
  public long nextCatalogVersion() {
    return catalog.nextVersion();
  }

  @Override
  public TableLocks locks() {
    return locks;
  }

  @Override
  public CatalogSnapshot catalog() {
    return catalog.snapshot();
  }

  @Override
  public long lockTimeoutNanos() {
    return limits.lockTimeoutNanos();
  }

  @Override
  public PreparedTransactions prepared() {
    return prepared;
  }

  @Override
  public long statementMemoryBytes() {
    return limits.memoryBytes();
  }

  @Override
  public TempSpace tempSpace() {
    return tempSpace;
  }

  @Override
  public EngineException describe(EngineException failure, RowConflict conflict) {
    return ConflictReport.describe(failure, conflict, store, catalog.snapshot());
  }

  @Override
  public String tableName(long tableId) {
    return catalog.snapshot().tables().stream()
        .filter(table -> table.tableId() == tableId)
        .map(table -> table.schema() + "." + table.name())
        .findFirst()
        .orElse("number " + tableId);
  }

  @Override
  public boolean isStandby() {
    return isStandby;
  }

  @Override
  public EngineException explained(EngineException failure) {
    return isStandby ? StandbyRules.explained(failure) : failure;
  }

  /// Ends readers that a standby's log cannot wait for.
  ///
  /// @param delayNanos how long it waits
  RecoveryConflicts conflicts(long delayNanos) {
    return new RecoveryConflicts(locks, () -> open, this::tableName, () -> delayNanos, changed);
  }

  @Override
  public void ended(ManagedTransaction transaction) {
    open.remove(transaction);
    if (transaction.hasWrites()) {
      changed.run();
    }
  }
}
