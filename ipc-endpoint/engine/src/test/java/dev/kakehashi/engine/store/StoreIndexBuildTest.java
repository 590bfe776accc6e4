package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Indexes that are made, and taken back, while others change the rows: in short and in long transactions, with rollbacks whole and to a
/// savepoint, some begun before the index and ended after it. Then each index has exactly the entries of the rows, whatever its snapshot
/// every reader finds by it what it finds without, and a unique one has no key twice.
final class StoreIndexBuildTest extends StoreTestBase {
  private static final int WRITERS = 3;
  private static final int ROUNDS = 12;
  private static final int ROWS = 1_500;
  private static final int AMOUNT = 2;

  /// Values that the writers set the indexed column to.
  enum Amounts {
    /// A few numbers, index not unique.
    REPEATED,
    /// Each number once, index unique: there is no reason to refuse it.
    DISTINCT,
    /// Numbers that are hardly ever there twice, index unique: it is made or refused, rightly.
    RARELY_TWICE
  }

  private final AtomicLong nextAmount = new AtomicLong();
  private final AtomicLong nextId = new AtomicLong();

  @ParameterizedTest
  @EnumSource(Amounts.class)
  void shouldBeExactWhileOthersWrite(Amounts amounts) throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of StoreIndexBuildTest, " + amounts + ": " + seed);
    Random random = new Random(seed);
    int made = 0;
    try (ExecutorService writers = Executors.newFixedThreadPool(WRITERS)) {
      for (int round = 0; round < ROUNDS; round++) {
        refill(random, amounts);
        made += makeIndexBesideWriters(writers, amounts, random) ? 1 : 0;
      }
    }
    assertTrue(made > 0 || amounts == Amounts.RARELY_TWICE, "no index was made");
  }

  private void refill(Random random, Amounts amounts) {
    StoreTransaction transaction = begin();
    ReadView view = transaction.beginStatement();
    for (Rows.Row row : Rows.scan(table, view)) {
      table.delete(transaction, row.rowId());
    }
    for (int i = 0; i < ROWS; i++) {
      insert(transaction, amount(random, amounts));
    }
    Rows.commit(transaction, false);
  }

  private long amount(Random random, Amounts amounts) {
    return switch (amounts) {
      case REPEATED -> random.nextInt(20);
      case DISTINCT -> nextAmount.incrementAndGet();
      case RARELY_TWICE -> random.nextInt(10_000_000);
    };
  }

  private long insert(StoreTransaction transaction, long amount) {
    return Rows.insert(table, transaction, nextId.incrementAndGet(), "row", amount);
  }

  private boolean makeIndexBesideWriters(ExecutorService writers, Amounts amounts, Random random)
      throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    Semaphore steps = new Semaphore(0);
    List<Future<Void>> running = new ArrayList<>();
    StoreTransaction reader = store.begin(true, false);
    ReadView before = reader.beginStatement();
    List<Rows.Row> expected = Rows.scan(table, before);
    for (int w = 0; w < WRITERS; w++) {
      Random own = new Random(random.nextLong());
      running.add(
          writers.submit(() -> {
            while (!stop.get()) {
              change(own, amounts, steps);
            }
            return null;
          }));
    }
    boolean made = false;
    try {
      await(steps);
      made = makeIndex(amounts, random.nextInt(4) == 0);
      await(steps);
    } finally {
      stop.set(true);
      for (Future<Void> writer : running) {
        writer.get(60, TimeUnit.SECONDS);
      }
    }
    if (made) {
      int index = table.definition().indexes().size() - 1;
      assertSameRows(expected, Rows.indexScan(table, before, index, KeyRange.ALL));
    }
    reader.abort();
    CheckReport.ofIndexes(store).assertSound();
    if (made) {
      IndexDefinition index = table.definition().indexes().getLast();
      List<Rows.Row> rows = rows();
      if (index.unique()) {
        assertEquals(
            rows.size(), rows.stream().map(row -> row.values().get(AMOUNT)).distinct().count());
      }
      CatalogTool.change(store, List.of(new CatalogChange.DropIndex(tableId, index.indexId())));
    }
    return made;
  }

  /// Until the writers have made some more changes.
  private static void await(Semaphore steps) throws InterruptedException {
    steps.drainPermits();
    assertTrue(steps.tryAcquire(100, 60, TimeUnit.SECONDS), "writers do not get on");
  }

  private static void assertSameRows(List<Rows.Row> expected, List<Rows.Row> found) {
    assertEquals(expected.size(), found.size());
    assertEquals(new HashSet<>(expected), new HashSet<>(found));
  }

  /// @param takenBack whether its transaction is rolled back in the end
  /// @return whether there is an index now
  private boolean makeIndex(Amounts amounts, boolean takenBack) {
    boolean unique = amounts != Amounts.REPEATED;
    IndexDefinition index =
        new IndexDefinition(
            store.nextObjectId(), "by_amount", List.of(AMOUNT), List.of(false), unique);
    StoreTransaction transaction = begin();
    try {
      transaction.beginStatement();
      transaction.define(new CatalogChange.CreateIndex(tableId, index));
      if (takenBack) {
        return false;
      }
      Rows.commit(transaction, false);
      return true;
    } catch (RowConflict | DuplicateKey refused) {
      assertEquals(Amounts.RARELY_TWICE, amounts, () -> "refused: " + refused);
      return false;
    } finally {
      transaction.abort();
    }
  }

  /// A transaction of some changes of random rows.
  private void change(Random random, Amounts amounts, Semaphore steps) {
    StoreTransaction transaction = begin();
    try {
      ReadView view = transaction.beginStatement();
      List<Rows.Row> rows = Rows.scan(table, view);
      long mark = transaction.mark();
      for (int i = random.nextInt(30); i >= 0; i--) {
        transaction.beginStatement();
        changeRow(transaction, rows.get(random.nextInt(rows.size())), random, amounts);
        steps.release();
        if (random.nextInt(6) == 0) {
          transaction.rollbackTo(mark);
        } else if (random.nextInt(6) == 0) {
          mark = transaction.mark();
        }
      }
      if (random.nextInt(3) > 0) {
        Rows.commit(transaction, false);
      }
    } catch (RowConflict | DuplicateKey refused) {
      assertTrue(
          amounts == Amounts.RARELY_TWICE || refused instanceof RowConflict,
          () -> "refused: " + refused);
    } finally {
      transaction.abort();
    }
  }

  private void changeRow(
      StoreTransaction transaction, Rows.Row row, Random random, Amounts amounts) {
    switch (random.nextInt(8)) {
      case 0 -> table.delete(transaction, row.rowId());
      case 1, 2 -> insert(transaction, amount(random, amounts));
      case 3 -> table.lock(transaction, row.rowId(), LockStrength.UPDATE);
      case 4 ->
          Rows.update(
              table,
              transaction,
              row.rowId(),
              row.values().get(0),
              "renamed " + random.nextInt(9),
              row.values().get(AMOUNT));
      default ->
          Rows.update(
              table,
              transaction,
              row.rowId(),
              row.values().get(0),
              row.values().get(1),
              amount(random, amounts));
    }
  }
}
