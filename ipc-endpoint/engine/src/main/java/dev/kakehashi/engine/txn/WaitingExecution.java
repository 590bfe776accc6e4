package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.DefinedName;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Task;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Waits of a statement for other transactions: for locks of tables and names, rows, their ends. A part of [StatementExecution], by
/// inheritance because a select by key is to allocate little.
///
/// `waits` belongs to the thread that runs the statement's current step.
abstract class WaitingExecution extends CancellableExecution {
  final TransactionEnvironment environment;
  final ExecuteOptions options;

  /// The detection of deadlocks knows whom it waits for.
  private boolean waits;

  WaitingExecution(ManagedTransaction transaction, ExecuteOptions options) {
    super(transaction, options.timeoutNanos());
    this.environment = transaction.environment();
    this.options = options;
  }

  /// Takes a lock for the transaction.
  ///
  /// @return null when it has the lock; otherwise to be given to [#await]
  /// @throws EngineException DEADLOCK_DETECTED
  public final TableLocks.@Nullable Wait lock(long tableId, TableLocks.Mode mode) {
    return environment.locks().acquire(transaction.lockOwner(), tableId, mode);
  }

  /// Whose turn it is to make an index.
  public final IndexBuilds indexBuilds() {
    return environment.indexBuilds();
  }

  /// The same for a name.
  public final TableLocks.@Nullable Wait lock(DefinedName name, TableLocks.Mode mode) {
    return environment.locks().acquire(transaction.lockOwner(), name, mode);
  }

  /// Whether the transaction has a lock, or a stronger one. Called by the operation that has its turn.
  public final boolean holdsLock(long tableId, TableLocks.Mode mode) {
    return TableLocks.holds(transaction.lockOwner(), tableId, mode);
  }

  /// The same for a name.
  public final boolean holdsLock(DefinedName name, TableLocks.Mode mode) {
    return TableLocks.holds(transaction.lockOwner(), name, mode);
  }

  /// A task that waits for a lock.
  ///
  /// @param next runs when the lock is there
  /// @param failed gets QUERY_CANCELED, LOCK_NOT_AVAILABLE, ...
  public final Task await(TableLocks.Wait lock, Task next, Consumer<EngineException> failed) {
    lockWaitBegins(lockTimeoutNanos());
    return new LockWait(this, environment.scheduler(), environment.locks(), lock, next, failed);
  }

  private long lockTimeoutNanos() {
    return options.lockTimeoutNanos() != 0
        ? options.lockTimeoutNanos()
        : environment.lockTimeoutNanos();
  }

  @Override
  public final Condition onConflict(RowConflict conflict) {
    if (conflict.kind() == RowConflict.Kind.PRESERVED) {
      throw ConflictFailures.givesWay(environment, conflict);
    }
    if (conflict.kind() == RowConflict.Kind.READ_SINCE_CHANGED) {
      throw ConflictFailures.readChanged(environment, conflict);
    }
    Condition condition = environment.scheduler().condition();
    if (conflict.kind() == RowConflict.Kind.CHANGED_SINCE_SNAPSHOT) {
      if (!transaction.isReadCommitted()) {
        throw ConflictFailures.updated(environment, conflict);
      }
      condition.signal();
      return condition;
    }
    noteWait(conflict.owners().stream().map(StoreTransaction::id).toList());
    lockWaitBegins(lockTimeoutNanos());
    awaitEnds(conflict.owners(), condition);
    return condition;
  }

  /// Owners that share a row are waited for together: none of them alone lets the statement go on.
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
  final void noteWait(List<Long> owners) {
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
  public final void conflictEnded() {
    stopWaiting();
  }

  final void stopWaiting() {
    lockWaitEnds();
    if (waits) {
      waits = false;
      environment.deadlocks().remove(transaction.id());
    }
  }
}
