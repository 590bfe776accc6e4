package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/// A transaction that the platform has begun for code of an application, and ends.
final class HostTransaction extends PlatformCall implements DirectTransaction {
  private HostTransaction(EmbeddedEngine engine, StatementExecution call, String user) {
    super(engine, call, user);
  }

  /// @param isolation as in SQL
  /// @throws EngineException INVALID_PARAMETER_VALUE, TOO_MANY_SESSIONS, SHUTTING_DOWN
  static HostTransaction begin(EmbeddedEngine engine, String user, String isolation) {
    BeginOptions.Isolation level;
    try {
      level =
          BeginOptions.Isolation.valueOf(
              isolation.strip().replace(' ', '_').toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException none) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "\"" + isolation + "\" is no isolation of transactions",
          none);
    }
    ManagedTransaction transaction =
        engine.begin(new BeginOptions(BeginOptions.Kind.OCC, level, "application"));
    transaction.owner(new Viewer("", user, "", Viewer.Sight.USER));
    boolean begun = false;
    try {
      HostTransaction made = open(engine, transaction, user, HostTransaction::new);
      begun = true;
      return made;
    } finally {
      if (!begun) {
        transaction.rollback(() -> {});
      }
    }
  }

  @Override
  public void commit() {
    call().checkCanceled();
    if (!endCall()) {
      call().checkCanceled();
      throw new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "the transaction has ended");
    }
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transaction()
        .commit(
            CommitResponse.STORED,
            failure -> {
              if (failure == null) {
                done.complete(true);
              } else {
                done.completeExceptionally(failure);
              }
            });
    boolean ignored = join(done);
  }

  @Override
  public void rollback() {
    boolean ignored = endCall();
    awaitRollback();
  }

  private void awaitRollback() {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transaction().rollback(() -> done.complete(true));
    boolean ignored = done.join();
  }
}
