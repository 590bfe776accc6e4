package dev.kakehashi.tck.refusing;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capability;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transaction without what its engine lacks.
final class RefusingTransaction implements EngineTransaction {
  private final RefusingEngine engine;
  private final EngineTransaction behind;
  private final AtomicReference<@Nullable RefusingSession> user = new AtomicReference<>();
  private volatile boolean ofOneStatement;

  RefusingTransaction(RefusingEngine engine, EngineTransaction behind) {
    this.engine = engine;
    this.behind = behind;
  }

  EngineTransaction behind() {
    return behind;
  }

  /// Whether no other session has used it.
  boolean isUsedBy(RefusingSession session) {
    return user.compareAndSet(null, session) || user.get() == session;
  }

  boolean isOfOneStatement() {
    return ofOneStatement;
  }

  @Override
  public long id() {
    return behind.id();
  }

  @Override
  public void reference(long number) {
    behind.reference(number);
  }

  @Override
  public void owner(Viewer viewer) {
    behind.owner(viewer);
  }

  @Override
  public void ofOneStatement() {
    ofOneStatement = true;
    behind.ofOneStatement();
  }

  @Override
  public BeginOptions options() {
    return behind.options();
  }

  @Override
  public State state() {
    return behind.state();
  }

  @Override
  public @Nullable EngineException failure() {
    return behind.failure();
  }

  @Override
  public boolean hasWrites() {
    return behind.hasWrites();
  }

  @Override
  public boolean hasUndurableReads() {
    return engine.capabilities().has(Capability.UNDURABLE_READS) && behind.hasUndurableReads();
  }

  /// Nobody sees a commit here before it is stored.
  @Override
  public void commit(CommitResponse response, Consumer<@Nullable EngineException> done) {
    behind.commit(
        engine.capabilities().has(Capability.UNDURABLE_READS) ? response : CommitResponse.STORED,
        done);
  }

  @Override
  public void rollback(Runnable done) {
    behind.rollback(done);
  }

  @Override
  public void savepoint(int level, Consumer<@Nullable EngineException> done) {
    ifSavepoints(done, () -> behind.savepoint(level, done));
  }

  @Override
  public void releaseSavepoint(int level, Consumer<@Nullable EngineException> done) {
    ifSavepoints(done, () -> behind.releaseSavepoint(level, done));
  }

  @Override
  public void rollbackToSavepoint(int level, Consumer<@Nullable EngineException> done) {
    ifSavepoints(done, () -> behind.rollbackToSavepoint(level, done));
  }

  private void ifSavepoints(Consumer<@Nullable EngineException> done, Runnable operation) {
    if (engine.capabilities().has(Capability.SAVEPOINTS)) {
      operation.run();
    } else {
      done.accept(engine.lacking(Capability.SAVEPOINTS));
    }
  }
}
