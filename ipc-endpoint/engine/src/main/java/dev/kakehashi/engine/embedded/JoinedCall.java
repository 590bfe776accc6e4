package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.ApplicationHost.JoinedAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.protocol.ErrorCode;

/// A part of a transaction that another client begins and ends. The next statement of that client waits until the part is closed.
final class JoinedCall extends PlatformCall implements JoinedAccess {
  private JoinedCall(EmbeddedEngine engine, StatementExecution call, String user) {
    super(engine, call, user);
  }

  /// @throws EngineException NO_SUCH_TRANSACTION
  static JoinedCall join(EmbeddedEngine engine, String user, String token) {
    ManagedTransaction transaction = engine.transaction(user, token);
    if (transaction == null) {
      throw new EngineException(
          ErrorCode.NO_SUCH_TRANSACTION, "there is no transaction of this token");
    }
    return open(engine, transaction, user, JoinedCall::new);
  }

  @Override
  public void close() {
    boolean ignored = endCall();
  }
}
