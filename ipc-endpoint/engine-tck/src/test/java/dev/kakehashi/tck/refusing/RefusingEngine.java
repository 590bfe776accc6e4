package dev.kakehashi.tck.refusing;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import java.util.List;
import java.util.function.Supplier;

/// Another engine without what its capabilities lack.
final class RefusingEngine implements Engine {
  private final Engine behind;
  private final Capabilities capabilities;

  RefusingEngine(Engine behind, Capabilities capabilities) {
    this.behind = behind;
    this.capabilities = capabilities;
  }

  @Override
  public Capabilities capabilities() {
    return capabilities;
  }

  /// The refusal of what is lacking.
  EngineException lacking(Capability capability) {
    return EngineException.lacking(capabilities, capability);
  }

  @Override
  public EngineSession openSession(String userName, String owner) {
    return new RefusingSession(this, behind.openSession(userName, owner));
  }

  @Override
  public EngineTransaction begin(BeginOptions options) {
    require(options);
    return new RefusingTransaction(this, behind.begin(options));
  }

  @Override
  public List<PreparedTransaction> preparedTransactions() {
    return behind.preparedTransactions();
  }

  @Override
  public void preparedListener(PreparedTransaction.Listener listener) {
    behind.preparedListener(listener);
  }

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return behind.recoveredOutcomes();
  }

  @Override
  public void whenAllDurable(Runnable done) {
    behind.whenAllDurable(done);
  }

  @Override
  public void clientSessions(Supplier<List<ClientSession>> sessions) {
    behind.clientSessions(sessions);
  }

  @Override
  public void blockingExecutor(BlockingExecutor executor) {
    behind.blockingExecutor(executor);
  }

  @Override
  public Backup backup() {
    throw lacking(Capability.BACKUP);
  }

  @Override
  public List<String> definitions() {
    throw lacking(Capability.DEFINITIONS);
  }

  @Override
  public void close() {
    behind.close();
  }
}
