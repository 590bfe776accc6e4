package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.valuetext.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Collects the statistics of some tables, one after another: a batch of rows or a column at a time, giving way to other work in between.
///
/// Each table is read in a transaction of its own, which ends when its rows are copied. It takes no lock: a table that gets other columns
/// while its reading is opened is left to the next time. Confined to one thread at a time; the scheduler orders one run before the next.
final class AnalyzeTask implements Task {
  /// Rows of a sample, PostgreSQL's 300 for each of the most common values that are looked for.
  static final int SAMPLE_ROWS = 300 * ColumnAnalyzer.TARGET;

  private final StatisticsKeeper keeper;
  private final List<Table> tables;
  private final Interrupts.Source statement;
  private final Consumer<@Nullable Throwable> done;
  private final AtomicBoolean ended = new AtomicBoolean();
  private int next;
  private @Nullable Reading reading;

  /// State that is open while a table is read and analysed.
  private static final class Reading {
    final Table table;
    final TableSample sample;
    final VectorBatch batch;
    final List<ColumnStatistics> columns = new ArrayList<>();
    double rows;
    long changeCount;
    List<Integer> positions = List.of();
    @Nullable StoreTransaction transaction;
    @Nullable RowCursor cursor;

    Reading(Table table) {
      this.table = table;
      this.sample = new TableSample(table);
      this.batch = new VectorBatch(table.columns().size());
    }

    /// Begins to read the table. Whatever comes of it, [#close] ends the transaction.
    ///
    /// @return false: the table is gone, or has not the columns that the catalogue says
    @SuppressWarnings("ReferenceEquality") // an equal one may have been there twice
    boolean open(Store store) {
      // Before the table is looked up: a table that a transaction can have seen is not freed.
      StoreTransaction reader = store.begin(true, false);
      transaction = reader;
      TableStore stored;
      try {
        stored = store.table(table.tableId());
      } catch (IllegalArgumentException dropped) {
        return false;
      }
      TableDefinition definition = stored.definition();
      if (!definition.columns().equals(table.definition().columns())) {
        return false;
      }
      rows = stored.rowCount();
      changeCount = stored.changeCount();
      positions = definition.placement().positions();
      int[] all = IntStream.range(0, table.columns().size()).toArray();
      double fraction = rows <= SAMPLE_ROWS ? 1 : SAMPLE_ROWS / rows;
      // A change replaces the definition before anything can be opened with other columns.
      try {
        cursor =
            stored.sample(
                reader.beginStatement(), fraction, ThreadLocalRandom.current().nextLong(), all);
      } catch (IndexOutOfBoundsException fewerColumns) {
        if (stored.definition() == definition) {
          throw fewerColumns;
        }
        return false;
      }
      return stored.definition() == definition;
    }

    /// Reads a batch; there is no cursor any more after the last one.
    void read() {
      RowCursor open = cursor;
      if (open != null && open.next(batch)) {
        sample.add(batch);
      } else {
        endReading();
      }
    }

    private void endReading() {
      if (cursor != null) {
        cursor.close();
        cursor = null;
      }
      if (transaction != null) {
        transaction.abort();
        transaction = null;
      }
    }

    void close() {
      endReading();
      batch.close();
      sample.close();
    }
  }

  /// @param statement whose cancel ends it
  AnalyzeTask(
      StatisticsKeeper keeper,
      List<Table> tables,
      Interrupts.Source statement,
      Consumer<@Nullable Throwable> done) {
    this.statement = statement;
    this.keeper = keeper;
    this.tables = tables;
    this.done = done;
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(statement);
    try {
      while (!keeper.isClosed() && step()) {
        if (context.workerIndex() < 0) {
          context.submit(this);
          return null;
        }
        if (context.shouldYield()) {
          return context.resubmit(this);
        }
      }
    } catch (Throwable failed) {
      giveUp(failed);
      return null;
    } finally {
      Interrupts.leave(before);
    }
    giveUp(null);
    return null;
  }

  /// One step; false after the last one.
  private boolean step() {
    Interrupts.check();
    Reading current = reading;
    if (current == null) {
      if (next == tables.size()) {
        return false;
      }
      begin(tables.get(next++));
      return true;
    }
    if (current.cursor != null) {
      current.read();
      return true;
    }
    int column = current.columns.size();
    if (column < current.table.columns().size()) {
      current.columns.add(
          ColumnAnalyzer.analyze(
              current.sample.columns().get(column), current.sample.rows(), current.rows));
      return true;
    }
    keeper.publish(
        current.table,
        new TableStatistics(
            current.rows,
            current.sample.rows(),
            current.changeCount,
            Clock.now(),
            List.copyOf(current.columns),
            current.positions,
            0));
    closeReading();
    return true;
  }

  private void begin(Table table) {
    Reading begun = new Reading(table);
    reading = begun;
    if (!begun.open(keeper.store())) {
      closeReading();
    }
  }

  private void closeReading() {
    if (reading != null) {
      reading.close();
      reading = null;
    }
  }

  /// Ends the task, once.
  void giveUp(@Nullable Throwable failure) {
    if (ended.compareAndSet(false, true)) {
      try {
        closeReading();
      } finally {
        done.accept(failure);
      }
    }
  }

  @Override
  public void discarded(Job job) {
    giveUp(new java.util.concurrent.CancellationException("the job was discarded"));
  }
}
