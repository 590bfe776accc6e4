package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.scheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Statistics of all tables of an engine, and when they are collected again.
///
/// Nothing is kept on disk: rows are in memory, a sample of a table takes milliseconds, so that at start it is cheaper to look than to
/// keep a record true through crashes. Until then plans are made with numbers of rows only, and made anew when the statistics are there.
///
/// Afterwards a table is looked at again when 50 rows and a tenth of it have changed, as PostgreSQL's autovacuum does. The first commit of
/// a transaction with changes arms a timer; when it fires, all tables are compared with their counts of changes. An engine without changes
/// has no timer.
///
/// Thread-safe. `byTable` is read by planners without a lock; publishing is under the monitor, so that an older sample does not replace a
/// newer one. `armed` is set by whoever ends a transaction and cleared before the counts are read: a change that is not seen arms the timer
/// again.
public final class StatisticsKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StatisticsKeeper.class);
  private static final Duration DELAY = Duration.ofSeconds(1);
  private static final long MIN_CHANGES = 50;
  private static final double CHANGED_FRACTION = 0.1;

  private final Store store;
  private final Supplier<CatalogSnapshot> catalog;
  private final TaskScheduler scheduler;
  private final ConcurrentHashMap<Long, TableStatistics> byTable = new ConcurrentHashMap<>();
  private final AtomicBoolean armed = new AtomicBoolean();

  /// Grows when a plan may not be the best any more.
  private volatile long planVersion;

  // ---- guarded by this ----

  /// Statistics that present plans were made with, by table.
  private final Map<Long, TableStatistics> planned = new HashMap<>();

  private boolean closed;
  private int running;
  private @Nullable Timer timer;

  public StatisticsKeeper(Store store, Supplier<CatalogSnapshot> catalog, TaskScheduler scheduler) {
    this.store = store;
    this.catalog = catalog;
    this.scheduler = scheduler;
  }

  /// Collects the statistics of all tables that have rows, in the background.
  public void start() {
    List<Table> filled = new ArrayList<>();
    for (Table table : catalog.get().tables()) {
      TableStore rows = storeOf(table);
      if (rows != null && rows.rowCount() > 0) {
        filled.add(table);
      }
    }
    collect(filled);
  }

  /// Statistics of a table, null if there are none. Statistics of a column stay when other columns come and go.
  public @Nullable TableStatistics of(Table table) {
    TableStatistics statistics = byTable.get(table.tableId());
    TableStore rows = statistics == null ? null : storeOf(table);
    if (statistics == null || rows == null) {
      return null;
    }
    List<Integer> positions = rows.definition().placement().positions();
    // Another transaction may be altering the table; our catalogue does not know it then.
    return positions.size() == table.columns().size() ? statistics.of(table, positions) : null;
  }

  /// As of a table's statistics; 0: none.
  public long planVersion(long tableId) {
    TableStatistics statistics = byTable.get(tableId);
    return statistics == null ? 0 : statistics.planVersion();
  }

  /// Plan version of all tables: while it is the same, so are the versions of the tables.
  public long planVersion() {
    return planVersion;
  }

  /// A transaction that has changed rows has ended.
  public void changed() {
    if (!armed.get() && armed.compareAndSet(false, true)) {
      synchronized (this) {
        if (!closed) {
          try {
            timer = scheduler.after(DELAY, this::look);
          } catch (SchedulerStoppedException stopping) {
            LOG.debug("no statistics are collected any more", stopping);
          }
        }
      }
    }
  }

  private @Nullable Task look(TaskContext context) {
    armed.set(false);
    List<Table> stale = new ArrayList<>();
    CatalogSnapshot snapshot = catalog.get();
    for (Table table : snapshot.tables()) {
      TableStore rows = storeOf(table);
      if (rows != null && isStale(rows, of(table))) {
        stale.add(table);
      }
    }
    forgetDropped(snapshot);
    collect(stale);
    return null;
  }

  /// A table without them may have rows of an earlier run.
  private static boolean isStale(TableStore rows, @Nullable TableStatistics statistics) {
    long changes = rows.changeCount();
    if (statistics == null || !statistics.isComplete()) {
      return changes > MIN_CHANGES || rows.rowCount() > MIN_CHANGES;
    }
    return changes - statistics.changeCount() > MIN_CHANGES + CHANGED_FRACTION * statistics.rows();
  }

  private void forgetDropped(CatalogSnapshot snapshot) {
    Set<Long> present = new HashSet<>();
    snapshot.tables().forEach(table -> present.add(table.tableId()));
    synchronized (this) {
      byTable.keySet().retainAll(present);
      planned.keySet().retainAll(present);
    }
  }

  private @Nullable TableStore storeOf(Table table) {
    if (table.isSystem()) {
      return null;
    }
    try {
      return store.table(table.tableId());
    } catch (IllegalArgumentException dropped) {
      return null;
    }
  }

  private void collect(List<Table> tables) {
    if (tables.isEmpty()) {
      return;
    }
    AnalyzeTask task =
        newTask(
            tables,
            () -> {},
            failure -> {
              if (failure != null && !isClosed()) {
                LOG.warn("could not collect statistics", failure);
              }
            });
    try {
      scheduler.job("analyze").submit(task);
    } catch (SchedulerStoppedException stopping) {
      task.giveUp(stopping);
    }
  }

  /// The task that collects the statistics of tables now.
  ///
  /// @param statement whose cancel ends it
  /// @param done called once, with the failure or null
  public Task analyze(
      List<Table> tables, Interrupts.Source statement, Consumer<@Nullable Throwable> done) {
    return newTask(tables, statement, done);
  }

  private AnalyzeTask newTask(
      List<Table> tables, Interrupts.Source statement, Consumer<@Nullable Throwable> done) {
    synchronized (this) {
      running++;
    }
    return new AnalyzeTask(
        this,
        tables,
        statement,
        failure -> {
          synchronized (this) {
            running--;
            notifyAll();
          }
          done.accept(failure);
        });
  }

  Store store() {
    return store;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /// Takes new statistics of a table.
  synchronized void publish(Table table, TableStatistics collected) {
    TableStatistics present = byTable.get(table.tableId());
    if (present != null && present.changeCount() > collected.changeCount()) {
      return;
    }
    // Compared with what plans were made with, not with the last ones: changes that creep add up.
    TableStatistics before = planned.get(table.tableId());
    if (before != null && collected.isSimilar(before)) {
      byTable.put(table.tableId(), collected.withPlanVersion(before.planVersion()));
      return;
    }
    long next = planVersion + 1;
    TableStatistics current = collected.withPlanVersion(next);
    byTable.put(table.tableId(), current);
    planned.put(table.tableId(), current);
    planVersion = next;
  }

  /// Waits until nothing is being collected; nothing is afterwards.
  @Override
  public void close() {
    boolean interrupted = false;
    synchronized (this) {
      closed = true;
      if (timer != null) {
        timer.cancel();
      }
      while (running > 0) {
        try {
          wait();
        } catch (InterruptedException e) {
          // The store must not be closed under a running task.
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
