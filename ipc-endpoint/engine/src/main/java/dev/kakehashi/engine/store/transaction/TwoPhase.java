package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.Preparation;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Two-phase commit of one transaction: its preparation, and the decision on it. Used by its own thread until it is prepared, then by
/// whoever decides, one at a time.
final class TwoPhase {
  /// Bytes that the removal of a prepared transaction takes in a record, with the longest global id.
  private static final int REMOVAL_BYTES = 1024;

  private final RowTransaction transaction;
  private final StoreTransactions store;
  private final Preparation how;

  /// Room in the log that is kept for the decision; 0: none.
  private int decisionBytes;

  TwoPhase(RowTransaction transaction, Preparation how) {
    this.transaction = transaction;
    this.store = transaction.store;
    this.how = how;
  }

  Preparation how() {
    return how;
  }

  /// See [dev.kakehashi.engine.store.api.StoreTransaction#prepare].
  void prepare(Consumer<@Nullable Throwable> done) {
    Committer.Outcome outcome =
        CommitRecords.place(
            transaction,
            () -> CommitRecords.preparation(transaction, how),
            record -> {
              transaction.committing(true);
              // The decision has the same rows without the transaction's key, and removes that.
              int room = Math.addExact(record.length(), REMOVAL_BYTES);
              decisionBytes = room;
              return store
                  .committer()
                  .prepare(transaction, record, room, failure -> prepared(failure, done));
            },
            CommitErrors::notCommitted);
    Throwable refused = outcome.refused();
    if (refused != null) {
      decisionBytes = 0;
      transaction.committing(false);
      transaction.abort();
      done.accept(refused);
      return;
    }
    transaction.prepared(this);
    transaction.endClaim();
    store.committer().finished(outcome);
  }

  /// The log has the preparation, or could not take it: then nobody may rely on it, and its removal follows it in the log.
  private void prepared(@Nullable Throwable failure, Consumer<@Nullable Throwable> done) {
    if (failure == null) {
      done.accept(null);
      return;
    }
    int kept = decisionBytes;
    decisionBytes = 0;
    Committer.Outcome removal =
        store
            .committer()
            .forgetPrepared(transaction, CommitRecords.removal(how), kept, false, ignored -> {});
    abort();
    store.committer().finished(removal);
    done.accept(CommitErrors.notCommitted(failure));
  }

  /// See [dev.kakehashi.engine.store.api.StoreTransaction#commit].
  void commit(boolean stored, Consumer<@Nullable Throwable> done) {
    Committer.Outcome outcome =
        CommitRecords.place(
            transaction,
            () -> CommitRecords.commit(transaction, how),
            record ->
                store
                    .committer()
                    .commitPrepared(
                        transaction, record, decisionBytes, stored, CommitErrors.inDoubt(done)),
            CommitErrors::stillPrepared);
    Throwable refused = outcome.refused();
    if (refused != null) {
      done.accept(refused);
      return;
    }
    decisionBytes = 0;
    store.prepared().remove(transaction);
    transaction.committed(outcome);
  }

  /// See [dev.kakehashi.engine.store.api.StoreTransaction#rollbackPrepared].
  void rollback(Consumer<@Nullable Throwable> done) {
    // The removal is in the log before anybody can change a row that this transaction gives back.
    Committer.Outcome outcome =
        store
            .committer()
            .forgetPrepared(
                transaction,
                CommitRecords.removal(how),
                decisionBytes,
                true,
                failure ->
                    done.accept(failure == null ? null : CommitErrors.rollbackInDoubt(failure)));
    Throwable refused = outcome.refused();
    if (refused != null) {
      done.accept(CommitErrors.stillPrepared(refused));
      return;
    }
    decisionBytes = 0;
    abort();
    store.committer().finished(outcome);
  }

  private void abort() {
    store.prepared().remove(transaction);
    transaction.undoAll();
  }
}
