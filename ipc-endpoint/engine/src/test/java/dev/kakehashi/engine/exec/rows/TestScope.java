package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.plan.DeferrableConstraint;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.valuetext.time.Zone;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/// The scope of one statement in a transaction of the real store.
public final class TestScope implements StatementScope {
  public final StoreTransaction transaction;
  private final Store store;
  private final TaskScheduler scheduler;
  private final AtomicLong scanned = new AtomicLong();
  private final List<Runnable> wakes = new ArrayList<>();
  private volatile ReadView view;
  private volatile boolean canceled;
  long memoryLimit = Long.MAX_VALUE;
  private final TempSpace tempSpace =
      new TempSpace(Path.of(System.getProperty("java.io.tmpdir"), "kakehashi-no-spill"), 0);

  public TestScope(Store store, TaskScheduler scheduler, StoreTransaction transaction) {
    this.store = store;
    this.scheduler = scheduler;
    this.transaction = transaction;
    this.view = transaction.beginStatement();
  }

  @Override
  public Zone zone() {
    return Zone.UTC;
  }

  @Override
  public dev.kakehashi.engine.type.RandomNumbers random() {
    return NONE.random();
  }

  @Override
  public dev.kakehashi.engine.type.SequenceAccess sequences() {
    return dev.kakehashi.engine.type.SequenceAccess.NONE;
  }

  @Override
  public Store store() {
    return store;
  }

  @Override
  public StoreTransaction transaction() {
    return transaction;
  }

  @Override
  public ReadView view() {
    return view;
  }

  @Override
  public boolean defers(DeferrableConstraint constraint) {
    return false;
  }

  @Override
  public void restart() {
    transaction.refreshSnapshot();
    view = transaction.beginStatement();
  }

  @Override
  public boolean keepsSnapshot() {
    return false;
  }

  @Override
  public ReadView referenceView() {
    return transaction().beginLatest();
  }

  @Override
  public void nextRow() {
    view = transaction.beginStatement();
  }

  @Override
  public void changesMade() {}

  @Override
  public void undoFailed() {
    throw new UnsupportedOperationException("no test of single operators makes an undo fail");
  }

  @Override
  public void undoIfLast(long from, long to) {
    transaction.rollbackTo(from);
  }

  @Override
  public Condition onConflict(RowConflict conflict) {
    Condition ended = scheduler.condition();
    conflict.owner().whenEnded(ended::signal);
    return ended;
  }

  @Override
  public long statementTimestamp() {
    return 0;
  }

  @Override
  public long transactionTimestamp() {
    return 0;
  }

  @Override
  public long memoryLimitBytes() {
    return memoryLimit;
  }

  @Override
  public TempSpace tempSpace() {
    return tempSpace;
  }

  @Override
  public void checkCanceled() {
    if (canceled) {
      throw new EngineException(
          ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
    }
  }

  /// Waits until so many rows have been scanned.
  public void awaitScanned(long rows) {
    Await.until(rows + " rows have been scanned", () -> scanned.get() >= rows);
  }

  public void cancel() {
    List<Runnable> toWake;
    synchronized (wakes) {
      canceled = true;
      toWake = List.copyOf(wakes);
    }
    toWake.forEach(Runnable::run);
  }

  @Override
  public void onCancel(Runnable wake) {
    synchronized (wakes) {
      wakes.add(wake);
      if (!canceled) {
        return;
      }
    }
    wake.run();
  }

  @Override
  public void copying(CopyActivity activity) {}

  @Override
  public void scanning(ScanActivity activity) {}

  @Override
  public void scanned(long rows) {
    scanned.addAndGet(rows);
  }
}
