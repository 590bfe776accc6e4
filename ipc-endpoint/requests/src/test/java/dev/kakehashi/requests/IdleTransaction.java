package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transaction of an engine without rows: it is open, and nobody asks anything of it.
final class IdleTransaction implements EngineTransaction {
  @Override
  public long id() {
    return 1;
  }

  @Override
  public void reference(long number) {}

  @Override
  public void owner(Viewer viewer) {}

  @Override
  public BeginOptions options() {
    return BeginOptions.DEFAULT;
  }

  @Override
  public State state() {
    return State.ACTIVE;
  }

  @Override
  public boolean hasWrites() {
    return false;
  }

  @Override
  public boolean hasUndurableReads() {
    return false;
  }

  @Override
  public void commit(CommitResponse response, Consumer<@Nullable EngineException> done) {
    done.accept(null);
  }

  @Override
  public void rollback(Runnable done) {
    done.run();
  }

  @Override
  public void savepoint(int level, Consumer<@Nullable EngineException> done) {
    done.accept(null);
  }

  @Override
  public void releaseSavepoint(int level, Consumer<@Nullable EngineException> done) {
    done.accept(null);
  }

  @Override
  public void rollbackToSavepoint(int level, Consumer<@Nullable EngineException> done) {
    done.accept(null);
  }
}
