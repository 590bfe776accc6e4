package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Threads move money between accounts, replace accounts by others, and look: every snapshot must see the same sum, by scan and by each
/// index, and every row must be whole (its text repeats its numbers).
final class StoreConcurrencyTest extends StoreTestBase {
  private static final int ACCOUNTS = 500;
  private static final long BALANCE = 1000;
  private static final long RUN_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final AtomicLong transfers = new AtomicLong();
  private final AtomicLong looks = new AtomicLong();
  private long deadline;

  /// A busy machine gets more time to do something worth checking.
  private long giveUp;

  @Test
  void shouldShowEverySnapshotTheSameSum() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    StoreTransaction filler = begin();
    filler.beginStatement();
    for (long id = 0; id < ACCOUNTS; id++) {
      Rows.insert(table, filler, id, text(id, BALANCE), BALANCE);
    }
    Rows.commit(filler);
    deadline = System.nanoTime() + RUN_NANOS;
    giveUp = deadline + TimeUnit.SECONDS.toNanos(60);
    List<Callable<Void>> work = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Random random = new Random(seed + i);
      work.add(() -> loop(() -> transfer(random)));
    }
    Random replacing = new Random(seed + 10);
    work.add(() -> loop(() -> replace(replacing)));
    for (int i = 0; i < 2; i++) {
      Random random = new Random(seed + 20 + i);
      work.add(() -> loop(() -> look(random)));
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(work.size())) {
      for (Future<Void> future : executor.invokeAll(work)) {
        future.get();
      }
    }
    System.out.println(transfers + " transfers, " + looks + " looks");
    assertTrue(transfers.get() > 100 && looks.get() > 10);
    checkSum(rows());
    Rows.collect(store);
    checkSum(rows());
    assertEquals(ACCOUNTS, table.rowCount());
    reopen();
    checkSum(rows());
    assertEquals(ACCOUNTS, table.rowCount());
  }

  private Void loop(Runnable action) {
    while (System.nanoTime() - deadline < 0
        || ((transfers.get() <= 100 || looks.get() <= 10) && System.nanoTime() - giveUp < 0)) {
      action.run();
    }
    return null;
  }

  private static String text(long id, long amount) {
    return id + ":" + amount + ":" + "z".repeat((int) Math.floorMod(amount, 300L));
  }

  private void transfer(Random random) {
    StoreTransaction transaction = begin();
    try {
      ReadView view = transaction.beginStatement();
      long from = random.nextInt(ACCOUNTS);
      long to = random.nextInt(ACCOUNTS);
      List<Rows.Row> a = Rows.indexScan(table, view, PRIMARY, KeyRange.equal(from));
      List<Rows.Row> b = Rows.indexScan(table, view, PRIMARY, KeyRange.equal(to));
      if (from == to || a.isEmpty() || b.isEmpty()) {
        transaction.abort();
        return;
      }
      long sum = 1L + random.nextInt(20);
      change(transaction, a.get(0), -sum);
      change(transaction, b.get(0), sum);
      if (random.nextInt(10) == 0) {
        transaction.abort();
      } else {
        Rows.commit(transaction, random.nextInt(20) == 0);
        transfers.incrementAndGet();
      }
    } catch (RowConflict e) {
      transaction.abort();
    }
  }

  private void change(StoreTransaction transaction, Rows.Row row, long by) {
    long id = (Long) row.values().get(0);
    long amount = (Long) row.values().get(2) + by;
    Rows.update(table, transaction, row.rowId(), id, text(id, amount), amount);
  }

  /// Deletes an account and opens one with the same number and sum.
  private void replace(Random random) {
    StoreTransaction transaction = begin();
    try {
      ReadView view = transaction.beginStatement();
      long id = random.nextInt(ACCOUNTS);
      List<Rows.Row> found = Rows.indexScan(table, view, PRIMARY, KeyRange.equal(id));
      assertEquals(1, found.size());
      long amount = (Long) found.get(0).values().get(2);
      table.delete(transaction, found.get(0).rowId());
      long mark = transaction.mark();
      Rows.insert(table, transaction, id, "wrong", 1L);
      transaction.rollbackTo(mark);
      Rows.insert(table, transaction, id, text(id, amount), amount);
      Rows.commit(transaction, false);
    } catch (RowConflict e) {
      transaction.abort();
    }
  }

  private void look(Random random) {
    StoreTransaction transaction = store.begin(true, false);
    ReadView view = transaction.beginStatement();
    checkSum(Rows.scan(table, view));
    switch (random.nextInt(3)) {
      case 0 -> checkSum(Rows.indexScan(table, view, PRIMARY, KeyRange.ALL));
      case 1 -> checkSum(Rows.indexScan(table, view, BY_NAME, KeyRange.ALL));
      default -> checkSum(Rows.scan(table, view));
    }
    transaction.abort();
    looks.incrementAndGet();
  }

  private static void checkSum(List<Rows.Row> rows) {
    assertEquals(ACCOUNTS, rows.size());
    long sum = 0;
    for (Rows.Row row : rows) {
      long id = (Long) row.values().get(0);
      long amount = (Long) row.values().get(2);
      assertEquals(text(id, amount), row.values().get(1));
      sum += amount;
    }
    assertEquals(BALANCE * ACCOUNTS, sum);
  }
}
