package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Threads that make the same unique keys at the same moment: one of them gets each key, and nobody is refused for nothing.
final class StoreUniqueKeyTest extends StoreTestBase {
  private static final int THREADS = 3;
  private static final int ROUNDS = 300;
  private static final int KEYS_PER_ROUND = 20;

  @Test
  void shouldGiveEachKeyToExactlyOneWriter() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    CyclicBarrier start = new CyclicBarrier(THREADS);
    AtomicInteger won = new AtomicInteger();
    List<Callable<Void>> work = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      Random random = new Random(seed + t);
      work.add(() -> {
        for (int round = 0; round < ROUNDS; round++) {
          start.await();
          for (int i = 0; i < KEYS_PER_ROUND; i++) {
            long key = (long) round * KEYS_PER_ROUND + i;
            // Some are made by an update of another row, some are given back first.
            won.addAndGet(take(key, random.nextInt(3)) ? 1 : 0);
          }
        }
        return null;
      });
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
      for (Future<Void> future : executor.invokeAll(work)) {
        future.get();
      }
    }
    List<Rows.Row> rows = rows();
    long keys = rows.stream().map(row -> row.values().get(0)).distinct().count();
    assertEquals(rows.size(), keys, "a unique key is there twice");
    assertEquals(won.get(), rows.size());
    assertEquals(rows.size(), table.rowCount());
    assertTrue(keys > ROUNDS * KEYS_PER_ROUND / 2, "only " + keys + " keys were taken");
    reopen();
    assertEquals(rows, rows());
  }

  private boolean take(long key, int way) {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    try {
      switch (way) {
        case 0 -> Rows.insert(table, transaction, key, "inserted", 1L);
        case 1 -> {
          long own = -1 - key * THREADS - Thread.currentThread().threadId() % 97 * 1_000_000L;
          long rowId = Rows.insert(table, transaction, own, "updated", 1L);
          transaction.beginStatement();
          Rows.update(table, transaction, rowId, key, "updated", 1L);
        }
        default -> {
          long mark = transaction.mark();
          Rows.insert(table, transaction, key, "given back", 1L);
          transaction.rollbackTo(mark);
          Rows.insert(table, transaction, key, "inserted again", 1L);
        }
      }
      Rows.commit(transaction, false);
      return true;
    } catch (RowConflict | DuplicateKey e) {
      transaction.abort();
      return false;
    }
  }
}
