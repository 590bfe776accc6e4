package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transaction of which only its end is known.
public final class EndedTransaction implements StoreTransaction {
  public static final StoreTransaction INSTANCE = new EndedTransaction();

  private EndedTransaction() {}

  @Override
  public long id() {
    return 0;
  }

  @Override
  public void reference(long number) {}

  @Override
  public long heldSnapshot() {
    return 0;
  }

  @Override
  public void refreshSnapshot() {}

  @Override
  public void advanceSnapshot() {}

  @Override
  public void letGoOfSnapshot() {}

  @Override
  public boolean mayBegin(Set<Long> tables, boolean viewsInUse, Runnable whenReady) {
    return true;
  }

  @Override
  public boolean hasSafeSnapshot(Runnable news) {
    return true;
  }

  @Override
  public List<Long> waitedFor() {
    return List.of();
  }

  @Override
  public boolean mayCommit(Runnable whenReady) {
    return true;
  }

  @Override
  public boolean logHasRoom(Runnable whenReady) {
    return true;
  }

  @Override
  public long epoch() {
    return 0;
  }

  @Override
  public ReadView beginLatest() {
    return beginStatement();
  }

  @Override
  public void endLatest() {}

  @Override
  public RowChanges changes(long tableId, long mark, int[] columns) {
    throw new UnsupportedOperationException("the transaction has ended");
  }

  @Override
  public void define(Store.CatalogChange change) {
    beginStatement();
  }

  @Override
  public QueueChanges queueChanges() {
    throw new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "transaction has ended");
  }

  @Override
  public List<Store.CatalogChange> definitions() {
    return List.of();
  }

  @Override
  public boolean knowsLocks() {
    return true;
  }

  @Override
  public Set<Long> changedTables() {
    return Set.of();
  }

  @Override
  public ReadView beginStatement(int command) {
    return beginStatement();
  }

  @Override
  public void changeFor(int command) {}

  @Override
  public ReadView beginStatement() {
    throw new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "transaction has ended");
  }

  @Override
  public long mark() {
    return 0;
  }

  @Override
  public void rollbackTo(long mark) {}

  @Override
  public boolean hasUndurableReads() {
    return false;
  }

  @Override
  public boolean hasWrites() {
    return false;
  }

  @Override
  public void reliesOn(long record) {}

  @Override
  public void commit(boolean stored, Consumer<@Nullable Throwable> done) {
    done.accept(new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "transaction has ended"));
  }

  @Override
  public void abort() {}

  @Override
  public void prepare(Preparation preparation, Consumer<@Nullable Throwable> done) {
    commit(true, done);
  }

  @Override
  public void rollbackPrepared(Consumer<@Nullable Throwable> done) {
    commit(true, done);
  }

  @Override
  public @Nullable Preparation preparation() {
    return null;
  }

  @Override
  public boolean isEnded() {
    return true;
  }

  @Override
  public void whenEnded(Runnable wake) {
    wake.run();
  }
}
