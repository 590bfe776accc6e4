package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.version.SlotOwner;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Anomalies that snapshots alone allow and serializable transactions must not have.
final class StoreSerializableTest extends StoreTestBase {
  private StoreTransaction beginSerializable() {
    StoreTransaction transaction = store.begin(false, true);
    transaction.beginStatement();
    return transaction;
  }

  private List<Rows.Row> find(StoreTransaction transaction, long id) {
    return Rows.indexScan(table, transaction.beginStatement(), PRIMARY, KeyRange.equal(id));
  }

  private static void assertRefused(StoreTransaction transaction) {
    RowConflict refused = assertThrows(RowConflict.class, () -> Rows.commit(transaction));
    assertEquals(RowConflict.Kind.CHANGED_SINCE_SNAPSHOT, refused.kind());
    assertTrue(transaction.isEnded());
  }

  @Test
  void shouldRefuseWriteSkewByScans() {
    long one = insertCommitted(1L, "one", 10L);
    long two = insertCommitted(2L, "two", 10L);
    StoreTransaction a = beginSerializable();
    StoreTransaction b = beginSerializable();
    Rows.scan(table, a.beginStatement());
    Rows.scan(table, b.beginStatement());
    Rows.update(table, a, one, 1L, "one", 0L);
    Rows.update(table, b, two, 2L, "two", 0L);
    Rows.commit(a);
    assertRefused(b);
    assertEquals(List.of(List.of(1L, "one", 0L), List.of(2L, "two", 10L)), Rows.values(rows()));
  }

  @Test
  void shouldRefuseWriteSkewByKeys() {
    long one = insertCommitted(1L, "one", 10L);
    long two = insertCommitted(2L, "two", 10L);
    StoreTransaction a = beginSerializable();
    StoreTransaction b = beginSerializable();
    find(a, 2);
    find(b, 1);
    Rows.update(table, a, one, 1L, "one", 0L);
    Rows.update(table, b, two, 2L, "two", 0L);
    Rows.commit(b);
    assertRefused(a);
  }

  @Test
  void shouldRefusePhantoms() {
    StoreTransaction a = beginSerializable();
    StoreTransaction b = beginSerializable();
    assertEquals(List.of(), find(a, 7));
    assertEquals(List.of(), find(b, 8));
    Rows.insert(table, a, 8L, "by a", 1L);
    Rows.insert(table, b, 7L, "by b", 1L);
    Rows.commit(a);
    assertRefused(b);
  }

  @Test
  void shouldSeeChangesByTransactionsOfOtherIsolation() {
    long one = insertCommitted(1L, "one", 10L);
    StoreTransaction a = beginSerializable();
    find(a, 1);
    Rows.insert(table, a, 5L, "five", 1L);
    StoreTransaction other = begin();
    other.beginStatement();
    // Moves the row out of what was read: the version before counts too.
    Rows.update(table, other, one, 100L, "one", 10L);
    Rows.commit(other);
    // Has seen the other, and not what is to come before that.
    StoreTransaction reader = beginSerializable();
    assertEquals(1, find(reader, 100).size());
    assertEquals(List.of(), find(reader, 5));
    Rows.commit(reader);
    assertRefused(a);
  }

  @Test
  void shouldCommitBeforeWhatHasChangedItsReadsIfNobodyHasSeenThat() {
    long one = insertCommitted(1L, "one", 10L);
    StoreTransaction a = beginSerializable();
    find(a, 1);
    Rows.insert(table, a, 5L, "five", 1L);
    StoreTransaction other = beginSerializable();
    Rows.update(table, other, one, 1L, "one", 11L);
    Rows.commit(other);
    StoreTransaction reader = beginSerializable();
    assertEquals(1, find(reader, 1).size());
    Rows.commit(reader);
    Rows.commit(a);
    assertEquals(2, rows().size());
  }

  @Test
  void shouldNotCountRowsThatWereOnlyLockedAsChanged() {
    long one = insertCommitted(1L, "one", 10L);
    StoreTransaction a = beginSerializable();
    StoreTransaction b = beginSerializable();
    find(a, 1);
    find(b, 5);
    Rows.insert(table, a, 5L, "five", 1L);
    table.lock(b, one, LockStrength.UPDATE);
    Rows.commit(b);
    Rows.commit(a);
    assertEquals(2, rows().size());
  }

  /// The batch of receipts: a report that shows the next batch, and not all receipts of the one before, contradicts a receipt that comes
  /// later.
  @Test
  void shouldRefuseWhoWouldComeBeforeWhatAReaderHasSeen() {
    for (boolean readOnly : List.of(true, false)) {
      for (boolean ended : List.of(true, false)) {
        long batch = insertCommitted(1L, "batch", 1L);
        StoreTransaction receipt = beginSerializable();
        StoreTransaction close = beginSerializable();
        find(receipt, 1);
        Rows.update(table, close, batch, 1L, "batch", 2L);
        Rows.commit(close);
        StoreTransaction report = store.begin(readOnly, true);
        report.beginStatement();
        assertEquals(1, Rows.scan(table, report.beginStatement()).size());
        if (ended) {
          Rows.commit(report);
        }
        Rows.insert(table, receipt, 5L, "receipt", 1L);
        assertRefused(receipt);
        Rows.commit(ended ? begin() : report);
        StoreTransaction clear = begin();
        clear.beginStatement();
        table.delete(clear, batch);
        Rows.commit(clear);
      }
    }
  }

  @Test
  void shouldRefuseAReaderOfTransactionsThatComeBeforeWhatItHasSeen() {
    long batch = insertCommitted(1L, "batch", 1L);
    StoreTransaction receipt = beginSerializable();
    StoreTransaction close = beginSerializable();
    find(receipt, 1);
    Rows.update(table, close, batch, 1L, "batch", 2L);
    Rows.commit(close);
    StoreTransaction report = beginSerializable();
    find(report, 1);
    Rows.insert(table, receipt, 5L, "receipt", 1L);
    Rows.commit(receipt);
    find(report, 5);
    assertRefused(report);
  }

  /// As above, but the report waits.
  @Test
  void shouldMakeADeferrableReaderWaitInsteadOfRefusingOthers() {
    long batch = insertCommitted(1L, "batch", 1L);
    StoreTransaction receipt = beginSerializable();
    StoreTransaction close = beginSerializable();
    find(receipt, 1);
    Rows.update(table, close, batch, 1L, "batch", 2L);
    Rows.commit(close);
    StoreTransaction report = store.beginDeferrable();
    AtomicInteger news = new AtomicInteger();
    assertFalse(report.hasSafeSnapshot(news::incrementAndGet));
    assertEquals(List.of(receipt.id()), report.waitedFor());
    Rows.insert(table, receipt, 5L, "receipt", 1L);
    StoreTransaction later = beginSerializable();
    find(later, 1);
    Rows.commit(receipt);
    assertEquals(1, news.get());

    // That snapshot is unsafe: one that shows the receipt is taken, while another one runs that
    // nobody has overtaken.
    assertFalse(report.hasSafeSnapshot(news::incrementAndGet));
    assertEquals(List.of(later.id()), report.waitedFor());
    Rows.insert(table, later, 6L, "receipt of the next batch", 1L);
    Rows.commit(later);
    assertEquals(2, news.get());
    StoreTransaction afterwards = beginSerializable();
    assertTrue(report.hasSafeSnapshot(news::incrementAndGet));
    assertEquals(List.of(), report.waitedFor());
    assertEquals(2, Rows.scan(table, report.beginStatement()).size());
    afterwards.abort();
    Rows.commit(report);
  }

  @Test
  void shouldNotWaitForTransactionsThatNobodyCanOvertake() {
    StoreTransaction other = begin();
    StoreTransaction reader = store.begin(true, true);
    StoreTransaction nightly =
        store.beginLong(true, new StoreTransaction.LongArea("", 0, Set.of(tableId), Set.of()));
    StoreTransaction report = store.beginDeferrable();
    assertTrue(report.hasSafeSnapshot(() -> {}));
    List.of(report, nightly, reader, other).forEach(StoreTransaction::abort);
  }

  @Test
  void shouldForgetAReaderThatEndsWhileItWaits() {
    StoreTransaction writer = beginSerializable();
    StoreTransaction report = store.beginDeferrable();
    AtomicInteger news = new AtomicInteger();
    assertFalse(report.hasSafeSnapshot(news::incrementAndGet));
    report.abort();
    writer.abort();
    assertEquals(0, news.get());
  }

  @Test
  void shouldStopNotingWhatAReaderReadsWhenItsSnapshotIsSafe() {
    insertCommitted(1L, "one", 10L);
    StoreTransaction writer = beginSerializable();
    SlotOwner report = (SlotOwner) store.begin(true, true);
    Rows.scan(table, report.beginStatement());
    assertNotNull(report.noted());
    StoreTransaction later = beginSerializable();
    Rows.commit(writer);
    assertNull(report.noted());
    Rows.scan(table, report.beginStatement());
    Rows.insert(table, later, 5L, "five", 1L);
    Rows.commit(later);
    Rows.commit(report);
  }

  @Test
  void shouldCommitWhenOthersChangedWhatWasNotRead() {
    insertCommitted(1L, "one", 10L);
    long two = insertCommitted(2L, "two", 10L);
    StoreTransaction a = beginSerializable();
    find(a, 1);
    Rows.insert(table, a, 5L, "five", 1L);
    StoreTransaction other = begin();
    other.beginStatement();
    Rows.update(table, other, two, 2L, "two", 11L);
    Rows.insert(table, other, 3L, "three", 1L);
    Rows.commit(other);
    Rows.commit(a);
    assertEquals(4, rows().size());
  }

  @Test
  void shouldLetReadersCommitWhateverOthersDo() {
    long one = insertCommitted(1L, "one", 10L);
    StoreTransaction a = beginSerializable();
    Rows.scan(table, a.beginStatement());
    StoreTransaction other = begin();
    other.beginStatement();
    Rows.update(table, other, one, 1L, "one", 11L);
    Rows.commit(other);
    Rows.commit(a);
  }

  /// Pairs of rows whose sum may not fall below 0: each transaction reads both and takes from one. Under snapshot isolation alone two of
  /// them would together take too much.
  @Test
  void shouldKeepAnInvariantOverTwoRowsUnderConcurrency() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    int pairs = 4;
    long[] rowIds = new long[2 * pairs];
    for (int i = 0; i < rowIds.length; i++) {
      rowIds[i] = insertCommitted((long) i, "pair " + i / 2, 50L);
    }
    AtomicLong commits = new AtomicLong();
    AtomicLong refusals = new AtomicLong();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    // A busy machine gets more time to meet a conflict.
    long giveUp = deadline + TimeUnit.SECONDS.toNanos(60);
    List<Callable<Void>> work = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Random random = new Random(seed + t);
      boolean byIndex = t % 2 == 0;
      work.add(() -> {
        while (System.nanoTime() - deadline < 0
            || ((commits.get() <= 20 || refusals.get() == 0) && System.nanoTime() - giveUp < 0)) {
          int victim = random.nextInt(rowIds.length);
          (change(rowIds, victim, random, byIndex) ? commits : refusals).incrementAndGet();
        }
        return null;
      });
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(work.size())) {
      for (Future<Void> future : executor.invokeAll(work)) {
        future.get();
      }
    }
    System.out.println(commits + " commits, " + refusals + " refusals");
    assertTrue(commits.get() > 20 && refusals.get() > 0);
    long[] sums = new long[pairs];
    for (Rows.Row row : rows()) {
      sums[(int) ((Long) row.values().get(0) / 2)] += (Long) row.values().get(2);
    }
    for (long sum : sums) {
      assertTrue(sum >= 0, "sum of a pair is " + sum);
    }
  }

  private boolean change(long[] rowIds, int victim, Random random, boolean byIndex) {
    StoreTransaction transaction = beginSerializable();
    try {
      ReadView view = transaction.beginStatement();
      int other = victim ^ 1;
      long[] amounts = new long[2];
      List<Rows.Row> found =
          byIndex
              ? Rows.indexScan(
                  table,
                  view,
                  PRIMARY,
                  new KeyRange(0, new long[0], true, victim & ~1, true, true, victim | 1, true))
              : Rows.scan(table, view);
      for (Rows.Row row : found) {
        long id = (Long) row.values().get(0);
        if (id == victim || id == other) {
          amounts[id == victim ? 0 : 1] = (Long) row.values().get(2);
        }
      }
      long sum = amounts[0] + amounts[1];
      // Takes all there is, or gives some: two who take from different rows of a pair would bring
      // it below 0.
      long by = random.nextBoolean() ? -sum : 1L + random.nextInt(10);
      Rows.update(
          table, transaction, rowIds[victim], (long) victim, "pair " + victim / 2, amounts[0] + by);
      Thread.onSpinWait();
      Rows.commit(transaction, false);
      return true;
    } catch (RowConflict e) {
      transaction.abort();
      return false;
    }
  }
}
