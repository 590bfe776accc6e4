package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.index.EntryBatch;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.transaction.RowTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A transaction that takes back many changes of keys drops their index entries while it goes on: entries that are needed stay.
///
/// A row has one of three pairs of keys, so that keys come back all the time. Its amount is its number, and stays.
@Timeout(120)
final class StaleEntriesTest extends StoreTestBase {
  private static final int ROWS = 400;
  private static final int STATES = 3;

  /// So long that a transaction drops the entries of some 250 rows, and keeps those of fewer.
  private static final String LONG = "x".repeat(200);

  private static final int FEW = 20;

  private final List<Long> rowIds = new ArrayList<>();

  @BeforeEach
  void fill() {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    for (int row = 0; row < ROWS; row++) {
      rowIds.add(Rows.insert(table, transaction, id(row, 0), name(row, 0), (long) row));
    }
    Rows.commit(transaction);
  }

  private static Long id(int row, int state) {
    return (long) state * ROWS + row;
  }

  private static String name(int row, int state) {
    return "row %d in state %d %s".formatted(row, state, LONG);
  }

  private void update(StoreTransaction transaction, int row, int state) {
    Rows.update(table, transaction, rowIds.get(row), id(row, state), name(row, state), (long) row);
  }

  private void updateRows(StoreTransaction transaction, int from, int to, int state) {
    transaction.beginStatement();
    for (int row = from; row < to; row++) {
      update(transaction, row, state);
    }
  }

  private void commitAll(int state) {
    StoreTransaction transaction = begin();
    updateRows(transaction, 0, ROWS, state);
    Rows.commit(transaction, false);
  }

  private static List<Rows.Row> byRow(List<Rows.Row> rows) {
    return rows.stream().sorted(Comparator.comparingLong(Rows.Row::rowId)).toList();
  }

  /// All rows of a view, once each, whichever way they are found.
  private List<Rows.Row> look(ReadView view) {
    List<Rows.Row> rows = byRow(Rows.scan(table, view));
    assertEquals(ROWS, rows.size());
    assertEquals(rows, byRow(Rows.indexScan(table, view, PRIMARY, KeyRange.ALL)));
    assertEquals(rows, byRow(Rows.indexScan(table, view, BY_NAME, KeyRange.ALL)));
    return rows;
  }

  private void assertState(int state) {
    StoreTransaction reader = store.begin(true, false);
    for (Rows.Row row : look(reader.beginStatement())) {
      int number = Math.toIntExact((Long) row.values().get(2));
      assertEquals(List.of(id(number, state), name(number, state), (long) number), row.values());
    }
    reader.abort();
  }

  private void assertNothingIsLeft() {
    CheckReport report = CheckReport.ofIndexes(store);
    report.assertSound();
    assertEquals(
        2,
        report.checked.stream()
            .filter(what -> what.endsWith(": %d entries".formatted(ROWS)))
            .count(),
        report.checked.toString());
  }

  @Test
  void shouldKeepEntriesOfVersionsThatAnOlderReaderSees() {
    StoreTransaction old = store.begin(true, false);
    ReadView view = old.beginStatement();
    List<Rows.Row> before = look(view);
    commitAll(1);
    StoreTransaction transaction = begin();
    updateRows(transaction, 0, ROWS, 0);
    transaction.abort();
    assertEquals(before, look(view));
    assertState(1);
    old.abort();
    assertNothingIsLeft();
  }

  @Test
  void shouldKeepEntriesOfKeysThatHaveComeBackAfterASavepoint() {
    StoreTransaction transaction = begin();
    long mark = transaction.mark();
    updateRows(transaction, 0, FEW, 1);
    transaction.rollbackTo(mark);
    updateRows(transaction, 0, FEW, 1);
    long between = transaction.mark();
    // Drops what was noted before, too.
    updateRows(transaction, FEW, ROWS, 2);
    transaction.rollbackTo(between);
    updateRows(transaction, FEW, ROWS, 1);
    look(transaction.beginStatement());
    Rows.commit(transaction);
    assertState(1);
    assertNothingIsLeft();
  }

  @Test
  void shouldKeepEntriesOfKeysThatAnotherTransactionHasMadeMeanwhile() {
    StoreTransaction first = begin();
    long mark = first.mark();
    updateRows(first, 0, FEW, 1);
    first.rollbackTo(mark);
    StoreTransaction second = begin();
    updateRows(second, 0, FEW, 1);
    updateRows(first, FEW, ROWS, 1);
    first.abort();
    look(second.beginStatement());
    updateRows(second, FEW, ROWS, 1);
    Rows.commit(second);
    assertState(1);
    assertNothingIsLeft();
  }

  @Test
  void shouldDropEntriesWhileTheirTransactionRuns() {
    RowTransaction transaction = (RowTransaction) begin();
    long mark = transaction.mark();
    updateRows(transaction, 0, ROWS, 1);
    assertEquals(4 * ROWS, entries());
    transaction.rollbackTo(mark);
    assertTrue(entries() < 3 * ROWS, entries() + " entries");
    transaction.abort();
    assertNothingIsLeft();
  }

  @Test
  void shouldNotWaitForTheCollectorsLockButNoteTheEntries() throws Exception {
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    StoreTransaction transaction = begin();
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      Future<?> holder =
          other.submit(() ->
              ((MemoryStore) store)
                  .collector()
                  .whileNothingIsFreed(horizon -> {
                    held.complete(true);
                    assertTrue(done.join());
                  }));
      try {
        assertTrue(held.get(60, TimeUnit.SECONDS));
        long mark = transaction.mark();
        for (int state : new int[] {1, 2, 1}) {
          updateRows(transaction, 0, ROWS, state);
          transaction.rollbackTo(mark);
        }
        assertEquals(2 * STATES * ROWS, entries());
      } finally {
        done.complete(true);
      }
      holder.get(60, TimeUnit.SECONDS);
    }
    long mark = transaction.mark();
    updateRows(transaction, 0, 1, 2);
    transaction.rollbackTo(mark);
    assertEquals(2 * ROWS, entries());
    updateRows(transaction, 0, ROWS, 2);
    Rows.commit(transaction);
    assertState(2);
    assertNothingIsLeft();
  }

  /// In both indexes, of whatever versions.
  private int entries() {
    EntryBatch batch = new EntryBatch();
    int count = 0;
    for (TableIndex index : ((RowTable) table).form.indexes()) {
      KeyBuffer position = new KeyBuffer(64);
      boolean inclusive = true;
      boolean more = true;
      while (more) {
        more = index.tree.fetchForward(position, inclusive, null, ROWS, batch);
        inclusive = batch.inclusive;
        count += batch.count();
      }
    }
    return count;
  }

  /// Readers of all ages, and writers that take most of what they do back, in parts or as a whole, while the collector takes out what it
  /// can.
  @Test
  void shouldNeverHideARowFromAReader() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StaleEntriesTest seed " + seed);
    AtomicBoolean stop = new AtomicBoolean();
    List<Future<?>> work = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(5)) {
      List<Future<?>> writers = new ArrayList<>();
      for (int w = 0; w < 2; w++) {
        Random random = new Random(seed + w);
        writers.add(threads.submit(() -> write(random)));
      }
      for (int r = 0; r < 2; r++) {
        Random random = new Random(seed + 10 + r);
        work.add(threads.submit(() -> readAgain(random, stop)));
      }
      work.add(
          threads.submit(() -> {
            while (!stop.get()) {
              ((MemoryStore) store).collector().collect();
            }
          }));
      try {
        for (Future<?> writer : writers) {
          writer.get(100, TimeUnit.SECONDS);
        }
      } finally {
        stop.set(true);
      }
      for (Future<?> each : work) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
    assertNothingIsLeft();
    assertEquals(0, store.usage().queuedWrites());
  }

  private void write(Random random) {
    for (int i = 0; i < 250; i++) {
      StoreTransaction transaction = begin();
      try {
        int from = random.nextInt(ROWS);
        int to = Math.min(ROWS, from + 1 + random.nextInt(ROWS));
        for (int part = random.nextInt(3); part >= 0; part--) {
          long mark = transaction.mark();
          updateRows(transaction, from, to, random.nextInt(STATES));
          if (random.nextBoolean()) {
            transaction.rollbackTo(mark);
          }
        }
        if (random.nextBoolean()) {
          look(transaction.beginStatement());
        }
        if (random.nextInt(3) == 0) {
          Rows.commit(transaction, false);
        } else {
          transaction.abort();
        }
      } catch (RowConflict conflict) {
        transaction.abort();
      }
    }
  }

  private void readAgain(Random random, AtomicBoolean stop) {
    while (!stop.get()) {
      StoreTransaction reader = store.begin(true, false);
      try {
        ReadView view = reader.beginStatement();
        List<Rows.Row> first = look(view);
        for (int again = random.nextInt(30); again > 0 && !stop.get(); again--) {
          assertEquals(first, look(view));
          Rows.Row one = first.get(random.nextInt(ROWS));
          long id = (Long) one.values().get(0);
          assertEquals(List.of(one), Rows.indexScan(table, view, PRIMARY, KeyRange.equal(id)));
        }
      } finally {
        reader.abort();
      }
    }
  }
}
