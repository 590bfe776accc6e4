package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Versions that lie between the snapshots in use go, while old readers stay.
@Timeout(120)
final class StorePruningTest extends StoreTestBase {
  private static final int ROWS = 100;
  private static final int ROUNDS = 1000;

  private MemoryStore memoryStore() {
    return (MemoryStore) store;
  }

  private void fill() {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    for (long id = 0; id < ROWS; id++) {
      Rows.insert(table, transaction, id, "name of " + id, 0L);
    }
    Rows.commit(transaction);
  }

  /// Changes every row: its name, which is a key, in every other round.
  private void updateAll(long round) {
    StoreTransaction transaction = begin();
    for (Rows.Row row : Rows.scan(table, transaction.beginStatement())) {
      long id = (Long) row.values().get(0);
      String name = "name %d of %d %s".formatted(round / 2, id, "x".repeat(200));
      Rows.update(table, transaction, row.rowId(), id, name, round);
    }
    Rows.commit(transaction, false);
  }

  /// In the order of row identifiers: those that are found as old versions come later.
  private List<Rows.Row> scan(ReadView view) {
    return Rows.scan(table, view).stream()
        .sorted(Comparator.comparingLong(Rows.Row::rowId))
        .toList();
  }

  private long reserved() {
    return memoryStore().pool().reservedBytes();
  }

  @Test
  void shouldStayBoundedWhileAnOldReaderIsOpenForAHundredThousandUpdates() {
    fill();
    StoreTransaction old = store.begin(true, false);
    ReadView view = old.beginStatement();
    List<Rows.Row> before = scan(view);
    for (int round = 0; round < ROUNDS / 2; round++) {
      updateAll(round);
    }
    Rows.collect(store);
    long bound = reserved() + (8 << 20);
    StoreTransaction middle = store.begin(true, false);
    ReadView middleView = middle.beginStatement();
    List<Rows.Row> middleRows = scan(middleView);
    for (int round = ROUNDS / 2; round < ROUNDS; round++) {
      updateAll(round);
      if (round % 100 == 99) {
        assertEquals(before, scan(view));
      }
    }
    Rows.collect(store);
    // 100,000 versions of some 300 bytes were made.
    assertTrue(reserved() <= bound, "grew to " + reserved() + ", expected at most " + bound);
    long held = store.usage().queuedWrites();
    assertTrue(held <= 10 * ROWS, held + " changes are still held");
    assertEquals(before, scan(view));
    assertEquals(before, Rows.indexScan(table, view, PRIMARY, KeyRange.ALL));
    assertEquals(ROWS, Rows.indexScan(table, view, BY_NAME, KeyRange.ALL).size());
    assertEquals(middleRows, scan(middleView));
    assertEquals(ROWS, rows().size());
    CheckReport.ofIndexes(store).assertSound();
    old.abort();
    middle.abort();
    Rows.collect(store);
    assertEquals(0, store.usage().queuedWrites());
    CheckReport.ofIndexes(store).assertSound();
  }

  @Test
  void shouldGiveSlotsOfShortLivedRowsBackWhileAnOldReaderIsOpen() {
    fill();
    StoreTransaction old = store.begin(true, false);
    ReadView view = old.beginStatement();
    List<Rows.Row> before = scan(view);
    for (long round = 0; round < 300; round++) {
      StoreTransaction inserter = begin();
      inserter.beginStatement();
      for (long id = 0; id < ROWS; id++) {
        Rows.insert(table, inserter, 1000 + id, "short " + round, null);
      }
      Rows.commit(inserter, false);
      StoreTransaction deleter = begin();
      for (Rows.Row row : Rows.scan(table, deleter.beginStatement())) {
        if ((Long) row.values().get(0) >= 1000) {
          assertTrue(table.delete(deleter, row.rowId()));
        }
      }
      Rows.commit(deleter, false);
      Rows.collect(store);
    }
    assertTrue(table.pageCount() <= 2, table.pageCount() + " pages");
    assertEquals(before, scan(view));
    assertEquals(ROWS, rows().size());
    old.abort();
    CheckReport.ofIndexes(store).assertSound();
  }

  @Test
  void shouldKeepWhatASavepointMayBringBack() {
    long rowId = insertCommitted(1L, "first", 0L);
    StoreTransaction old = store.begin(true, false);
    ReadView view = old.beginStatement();
    StoreTransaction changer = begin();
    changer.beginStatement();
    Rows.update(table, changer, rowId, 1L, "second", 1L);
    Rows.commit(changer);
    StoreTransaction running = begin();
    running.beginStatement();
    Rows.update(table, running, rowId, 1L, "third", 2L);
    long mark = running.mark();
    running.beginStatement();
    Rows.update(table, running, rowId, 1L, "fourth", 3L);
    Rows.collect(store);
    running.rollbackTo(mark);
    Rows.collect(store);
    running.abort();
    Rows.collect(store);
    assertEquals(List.of(List.of(1L, "second", 1L)), Rows.values(rows()));
    assertEquals(List.of(List.of(1L, "first", 0L)), Rows.values(scan(view)));
    old.abort();
    CheckReport.ofIndexes(store).assertSound();
  }

  /// Writers and readers of all ages while the collector takes out what it can: a reader sees the same each time, and the sum of amounts
  /// never changes.
  @Test
  void shouldNeverTakeAwayWhatAConcurrentReaderNeeds() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StorePruningTest seed " + seed);
    fill();
    AtomicBoolean stop = new AtomicBoolean();
    List<Future<?>> work = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(5)) {
      List<Future<?>> writers = new ArrayList<>();
      for (int w = 0; w < 2; w++) {
        Random random = new Random(seed + w);
        writers.add(threads.submit(() -> transfer(random)));
      }
      for (int r = 0; r < 2; r++) {
        Random random = new Random(seed + 10 + r);
        work.add(threads.submit(() -> readAgain(random, stop)));
      }
      work.add(
          threads.submit(() -> {
            while (!stop.get()) {
              memoryStore().collector().collect();
            }
          }));
      try {
        for (Future<?> writer : writers) {
          writer.get(60, TimeUnit.SECONDS);
        }
      } finally {
        stop.set(true);
      }
      for (Future<?> each : work) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
    Rows.collect(store);
    assertEquals(0, store.usage().queuedWrites());
    CheckReport.ofIndexes(store).assertSound();
  }

  private void transfer(Random random) {
    for (int i = 0; i < 1500; i++) {
      StoreTransaction transaction = begin();
      List<Rows.Row> rows = Rows.scan(table, transaction.beginStatement());
      Rows.Row from = rows.get(random.nextInt(rows.size()));
      Rows.Row to = rows.get(random.nextInt(rows.size()));
      long amount = random.nextInt(100);
      transaction.beginStatement();
      try {
        if (from.rowId() != to.rowId()) {
          change(transaction, from, -amount, random);
          change(transaction, to, amount, random);
        }
        if (random.nextInt(10) == 0) {
          transaction.abort();
        } else {
          Rows.commit(transaction, false);
        }
      } catch (RowConflict conflict) {
        transaction.abort();
      }
    }
  }

  private void change(StoreTransaction transaction, Rows.Row row, long by, Random random) {
    Object name = random.nextBoolean() ? row.values().get(1) : "n".repeat(random.nextInt(300)) + by;
    Rows.update(
        table,
        transaction,
        row.rowId(),
        row.values().get(0),
        name,
        (Long) row.values().get(2) + by);
  }

  private void readAgain(Random random, AtomicBoolean stop) {
    while (!stop.get()) {
      StoreTransaction reader = store.begin(true, false);
      try {
        ReadView view = reader.beginStatement();
        List<Rows.Row> first = scan(view);
        assertEquals(ROWS, first.size());
        assertEquals(0, first.stream().mapToLong(row -> (Long) row.values().get(2)).sum());
        for (int again = random.nextInt(50); again > 0 && !stop.get(); again--) {
          assertEquals(first, scan(view));
          assertEquals(first, Rows.indexScan(table, view, PRIMARY, KeyRange.ALL));
        }
      } finally {
        reader.abort();
      }
    }
  }
}
