package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.TableGuard;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Readers of a standby who use a table that the primary has dropped, emptied or given another form. They may use it for a while longer, in
/// which nothing is applied; then they get SERIALIZATION_FAILURE. Used by the thread that applies the log.
public final class RecoveryConflicts implements TableGuard {
  private static final Logger LOG = LoggerFactory.getLogger(RecoveryConflicts.class);

  /// No transaction has it.
  private static final long OWNER = -1;

  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final TableLocks locks;
  private final Supplier<Collection<ManagedTransaction>> open;
  private final LongFunction<String> tableName;
  private final LongSupplier delayNanos;
  private final Runnable changed;

  /// @param open transactions of clients
  /// @param delayNanos how long they may use such a table
  /// @param changed called when something was applied
  public RecoveryConflicts(
      TableLocks locks,
      Supplier<Collection<ManagedTransaction>> open,
      LongFunction<String> tableName,
      LongSupplier delayNanos,
      Runnable changed) {
    this.locks = locks;
    this.open = open;
    this.tableName = tableName;
    this.delayNanos = delayNanos;
    this.changed = changed;
  }

  @Override
  public Runnable exclude(Set<Long> tables) throws InterruptedException {
    TableLocks.Owner owner = new TableLocks.Owner(OWNER);
    long deadline = System.nanoTime() + delayNanos.getAsLong();
    boolean complete = false;
    try {
      for (long table : tables) {
        take(owner, table, deadline);
      }
      complete = true;
      return () -> locks.releaseAll(owner);
    } finally {
      if (!complete) {
        locks.releaseAll(owner);
      }
    }
  }

  private void take(TableLocks.Owner owner, long table, long deadline) throws InterruptedException {
    while (true) {
      TableLocks.Wait wait;
      try {
        wait = locks.acquire(owner, table, TableLocks.Mode.EXCLUSIVE);
      } catch (EngineException deadlock) {
        LOG.debug("a reader waits for a table that is held here", deadlock);
        end(table);
        TimeUnit.NANOSECONDS.sleep(STEP_NANOS);
        continue;
      }
      if (wait != null) {
        await(wait, table, deadline);
      }
      return;
    }
  }

  private void await(TableLocks.Wait wait, long table, long deadline) throws InterruptedException {
    Semaphore news = new Semaphore(0);
    wait.onNews(news::release);
    boolean granted = false;
    try {
      while (!locks.isGranted(wait)) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          end(table);
        }
        if (news.tryAcquire(Math.max(STEP_NANOS, left), TimeUnit.NANOSECONDS)) {
          LOG.debug("table {} is free", table);
        }
      }
      granted = true;
    } finally {
      if (!granted) {
        locks.withdraw(wait);
      }
    }
  }

  /// Ends those who have a table.
  private void end(long table) {
    for (TableLocks.Held held : locks.list()) {
      if (held.name() == null && held.tableId() == table && held.granted()) {
        open.get().stream()
            .filter(each -> each.id() == held.transactionId())
            .forEach(each -> {
              EngineException reason = conflict(tableName.apply(table));
              if (each.endBecauseOf(reason)) {
                LOG.info("transaction {} is ended: {}", each.id(), reason.getMessage());
              }
            });
      }
    }
  }

  /// The failure of a reader who would see such a table.
  public static EngineException conflict(String table) {
    return new EngineException(
            ErrorCode.SERIALIZATION_FAILURE, "canceling statement due to conflict with recovery")
        .withDetail(
            "The primary has dropped, emptied or rewritten table %s, which the transaction would have to see as it was."
                .formatted(table))
        .withHint("Retry the transaction.");
  }

  @Override
  public void applied() {
    changed.run();
  }
}
