package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.log.ProgramLog;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A store over a log in memory, with a table `(id int8 primary key, amount int8)`.
public final class ProgramStore implements AutoCloseable {
  private static final int[] COLUMNS = {0, 1};

  public final Store store;
  final TableStore table;

  /// @param queues whose changes are in its log; null: there are none
  public ProgramStore(@Nullable QueueSystem queues) throws InterruptedException {
    store = MemoryStore.open(new ProgramLog(queues), 1L << 30);
    long tableId = store.nextObjectId();
    StoreTransaction transaction = begin();
    transaction.define(
        new CatalogChange.CreateTable(
            new TableDefinition(
                tableId,
                List.of(ColumnKind.INTEGER, ColumnKind.INTEGER),
                List.of(true, false),
                List.of(
                    new IndexDefinition(
                        store.nextObjectId(), "pkey", List.of(0), List.of(false), true)))));
    commit(transaction, true);
    table = store.table(tableId);
  }

  /// A transaction with its first statement.
  public StoreTransaction begin() {
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    return transaction;
  }

  /// Commits and waits for the answer.
  public static void commit(StoreTransaction transaction, boolean stored)
      throws InterruptedException {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    CountDownLatch told = new CountDownLatch(1);
    transaction.commit(
        stored,
        reason -> {
          failure.set(reason);
          told.countDown();
        });
    told.await();
    Throwable reason = failure.get();
    if (reason != null) {
      throw new IllegalStateException(reason);
    }
  }

  /// @return the row's number
  long insert(long id, long amount) throws InterruptedException {
    StoreTransaction transaction = begin();
    long rowId;
    try (VectorBatch batch = batch(id, amount)) {
      rowId = table.insert(transaction, batch, 0);
    }
    commit(transaction, true);
    return rowId;
  }

  /// Adds to the amount of a row, in a transaction that waits for others and begins again after them.
  void add(long rowId, long id, long more, boolean stored) throws InterruptedException {
    while (true) {
      StoreTransaction transaction = begin();
      try {
        long amount = amount(transaction.beginStatement(), rowId);
        try (VectorBatch batch = batch(id, amount + more)) {
          check(table.update(transaction, rowId, batch, 0), "no row");
        }
        commit(transaction, stored);
        return;
      } catch (RowConflict conflict) {
        transaction.abort();
        await(conflict);
      }
    }
  }

  /// Waits for the owners of a row.
  static void await(RowConflict conflict) throws InterruptedException {
    if (conflict.kind() == RowConflict.Kind.OWNER_ACTIVE) {
      for (StoreTransaction owner : conflict.owners()) {
        CountDownLatch ended = new CountDownLatch(1);
        owner.whenEnded(ended::countDown);
        ended.await();
      }
    }
  }

  /// Amount of a row that the view sees.
  long amount(ReadView view, long rowId) {
    try (VectorBatch to = new VectorBatch(2)) {
      check(table.read(view, rowId, COLUMNS, to), "the view has lost the row");
      return to.columns[1].words[0];
    }
  }

  private static VectorBatch batch(long id, long amount) {
    VectorBatch batch = new VectorBatch(2);
    batch.size = 1;
    batch.columns[0].words[0] = id;
    batch.columns[1].words[0] = amount;
    return batch;
  }

  static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
