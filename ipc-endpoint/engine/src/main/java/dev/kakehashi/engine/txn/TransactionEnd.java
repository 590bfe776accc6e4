package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.EngineTransaction.State;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The end of a transaction by a commit or a preparation: what comes before it, one after another, and its outcome.
///
/// It has the transaction's turn from [#begin] until it answers. Mostly nothing comes before a commit: then it is all that is allocated for
/// it.
final class TransactionEnd implements Consumer<@Nullable Throwable> {
  private final ManagedTransaction transaction;
  private final boolean stored;

  /// Null: it is a commit.
  private final @Nullable Preparation preparation;

  private final Consumer<@Nullable EngineException> done;

  /// @param stored whether a commit is answered when it is durable
  /// @param preparation null: a commit
  TransactionEnd(
      ManagedTransaction transaction,
      boolean stored,
      @Nullable Preparation preparation,
      Consumer<@Nullable EngineException> done) {
    this.transaction = transaction;
    this.stored = stored;
    this.preparation = preparation;
    this.done = done;
  }

  /// It is its turn.
  void begin() {
    if (transaction.hasOpenStatements()) {
      transaction.afterOpenStatements(this::checkDeferred);
    } else {
      checkDeferred();
    }
  }

  /// Goes on when the deferred constraints hold; otherwise the transaction is rolled back.
  private void checkDeferred() {
    if (!isActive() || !transaction.hasDeferred()) {
      awaitEarlierOnes();
      return;
    }
    new StatementExecution(
            transaction,
            new DeferredCheck(transaction.deferred().pending(null, transaction.catalog())),
            ExecuteOptions.DEFAULT,
            (count, failure) -> {
              if (failure == null) {
                awaitEarlierOnes();
                return;
              }
              transaction.store().abort();
              transaction.ended(State.ABORTED);
              transaction.end(done, transaction.isEnding() ? transaction.notActive() : failure);
            })
        .beginWithinTurn();
  }

  /// Goes on when a long transaction may commit and the log has room for one that has changed much, or it is to end otherwise.
  private void awaitEarlierOnes() {
    if (!isActive() || !(transaction.isLong() || transaction.hasManyWrites())) {
      endOnWorkerIfLong();
      return;
    }
    Condition condition = transaction.environment().scheduler().condition();
    transaction.waits(condition::signal);
    if (mayEnd(condition)) {
      transaction.waitsNoLonger();
      endOnWorkerIfLong();
      return;
    }
    Task waiting =
        new Task() {
          @Override
          public @Nullable Task run(TaskContext context) {
            if (!mayEnd(condition)) {
              return context.await(condition, this);
            }
            transaction.waitsNoLonger();
            endOnWorkerIfLong();
            return null;
          }

          @Override
          public void discarded(Job job) {
            endWithoutWaiting();
          }
        };
    try {
      transaction
          .environment()
          .scheduler()
          .job("commit that waits")
          .submit(context -> context.await(condition, waiting));
    } catch (SchedulerStoppedException stopping) {
      endWithoutWaiting();
    }
  }

  private boolean mayEnd(Condition condition) {
    if (transaction.isEnding()) {
      return true;
    }
    boolean mayCommit = !transaction.isLong() || transaction.store().mayCommit(condition::signal);
    return mayCommit
        && (!transaction.hasManyWrites() || transaction.store().logHasRoom(condition::signal));
  }

  private void endWithoutWaiting() {
    transaction.giveUp();
    endOnWorkerIfLong();
  }

  private void endOnWorkerIfLong() {
    if (transaction.hasManyWrites()) {
      OnWorker.run(transaction.environment().scheduler(), this::end);
    } else {
      end();
    }
  }

  private boolean isActive() {
    return transaction.state() == State.ACTIVE;
  }

  private void end() {
    if (!isActive()) {
      // A commit after a preparation: that was the end of it here.
      boolean refused = preparation != null || transaction.state() == State.ABORTED;
      transaction.end(done, refused ? transaction.notActive() : null);
      return;
    }
    if (transaction.refusesEnd()) {
      transaction.store().abort();
      transaction.ended(State.ABORTED);
      transaction.end(done, transaction.notActive());
      return;
    }
    try {
      if (preparation == null) {
        transaction.store().commit(stored, this);
      } else {
        transaction.environment().prepared().prepare(transaction.store(), preparation, this);
      }
    } catch (Throwable refused) {
      transaction.store().abort();
      accept(refused);
    }
  }

  /// The store has done it, or could not.
  @Override
  public void accept(@Nullable Throwable failure) {
    if (failure == null) {
      transaction.ended(preparation == null ? State.COMMITTED : State.PREPARED);
      transaction.end(done, null);
    } else {
      // In doubt is only what others see.
      transaction.ended(isInDoubt(failure) ? State.COMMITTED : State.ABORTED);
      transaction.end(done, described(failure));
    }
  }

  private static boolean isInDoubt(Throwable failure) {
    return failure instanceof EngineException known
        && known.code() == ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN;
  }

  private EngineException described(Throwable failure) {
    if (failure instanceof RowConflict conflict) {
      if (conflict.kind() == RowConflict.Kind.PRESERVED) {
        return ConflictFailures.givesWay(transaction.environment(), conflict);
      }
      // A transaction that committed before has changed the reads of a serializable one.
      return ConflictFailures.readChanged(transaction.environment(), conflict);
    }
    return failure instanceof EngineException known
        ? known
        : new EngineException(
            ErrorCode.INTERNAL_ERROR, "could not commit: " + failure.getMessage(), failure);
  }
}
