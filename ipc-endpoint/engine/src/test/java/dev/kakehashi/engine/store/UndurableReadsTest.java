package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A transaction that has read what a crash could still take back is not reported as ended before it cannot. It does not wait for changes
/// that it has not read.
///
/// The table has the rows 1, in the first page, and 9, in another; the disk is held before a transaction of its own changes row 1.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
final class UndurableReadsTest {
  private final TestLog log = new TestLog();
  private final CountDownLatch gate = new CountDownLatch(1);
  private MemoryStore store;
  private TableStore table;
  private long first;
  private long other;

  @BeforeEach
  void openWithRows() {
    store = MemoryStore.open(log, 1L << 28);
    table = createTable("items_pkey");
    first = insert(1);
    long page = first >>> Page.SLOT_BITS;
    long last = first;
    for (long id = 10; last >>> Page.SLOT_BITS == page; id++) {
      last = insert(id);
    }
    other = insert(9);
  }

  private TableStore createTable(String index) {
    long id = store.nextObjectId();
    TableDefinition definition =
        new TableDefinition(
            id,
            List.of(ColumnKind.INTEGER, ColumnKind.INTEGER),
            List.of(true, false),
            List.of(
                new IndexDefinition(
                    store.nextObjectId(), index, List.of(0), List.of(false), true)));
    return CatalogTool.createTable(store, definition);
  }

  @AfterEach
  void close() {
    log.full = false;
    gate.countDown();
    store.close();
  }

  private long insert(long id) {
    StoreTransaction transaction = begin();
    long rowId = Rows.insert(table, transaction, id, 0L);
    Rows.commit(transaction, false);
    return rowId;
  }

  private StoreTransaction begin() {
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    return transaction;
  }

  /// Makes all durable that was committed, and holds the disk from now on.
  private void holdDisk() {
    StoreTransaction last = begin();
    Rows.update(table, last, other, 9L, 1L);
    Rows.commit(last);
    log.gate = gate;
  }

  private CompletableFuture<Optional<Throwable>> updateFirst() {
    StoreTransaction writer = begin();
    Rows.update(table, writer, first, 1L, 1L);
    return commit(writer, true);
  }

  private static CompletableFuture<Optional<Throwable>> commit(
      StoreTransaction transaction, boolean stored) {
    CompletableFuture<Optional<Throwable>> result = new CompletableFuture<>();
    transaction.commit(stored, failure -> result.complete(Optional.ofNullable(failure)));
    return result;
  }

  /// A read-only transaction that has looked for a key, and found that many rows.
  private StoreTransaction readerOf(long id, int rows) {
    StoreTransaction reader = store.begin(true, false);
    assertEquals(
        rows, Rows.indexScan(table, reader.beginStatement(), 0, KeyRange.equal(id)).size());
    return reader;
  }

  private void assertWaits(CompletableFuture<Optional<Throwable>> end) throws Exception {
    assertFalse(end.isDone());
    gate.countDown();
    assertEquals(Optional.empty(), end.get(60, TimeUnit.SECONDS));
  }

  /// A way to read the first row.
  interface Look {
    void at(UndurableReadsTest test, StoreTransaction transaction, ReadView view);
  }

  record Way(String name, Look look) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Way way(String name, Look look) {
    return new Way(name, look);
  }

  static Stream<Way> ways() {
    return Stream.of(
        way("scan", (test, transaction, view) -> Rows.scan(test.table, view)),
        way(
            "index",
            (test, transaction, view) -> Rows.indexScan(test.table, view, 0, KeyRange.equal(1L))),
        way(
            "sample",
            (test, transaction, view) ->
                Rows.drain(test.table.sample(view, 0.999999, 1, new int[] {0, 1}), test.table)),
        way(
            "row identifier",
            (test, transaction, view) -> {
              try (var batch = Rows.batch(0L, 0L)) {
                test.table.read(view, test.first, new int[] {0, 1}, batch);
              }
            }),
        way(
            "duplicate key",
            (test, transaction, view) -> {
              long mark = transaction.mark();
              assertThrows(DuplicateKey.class, () -> Rows.insert(test.table, transaction, 1L, 0L));
              transaction.rollbackTo(mark);
            }));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void shouldWaitForACommitThatWasRead(Way way) throws Exception {
    holdDisk();
    assertFalse(updateFirst().isDone());
    StoreTransaction reader = store.begin(false, false);
    assertFalse(reader.hasUndurableReads());
    way.look.at(this, reader, reader.beginStatement());
    assertTrue(reader.hasUndurableReads());
    assertWaits(commit(reader, true));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void shouldWaitForACommitBelowOneThatIsNotSeen(Way way) throws Exception {
    holdDisk();
    assertFalse(updateFirst().isDone());
    StoreTransaction reader = store.begin(false, false);
    ReadView view = reader.beginStatement();
    StoreTransaction later = begin();
    if (!way.name.equals("duplicate key")) { // that waits for who has the row
      Rows.update(table, later, first, 1L, 2L);
    }
    way.look.at(this, reader, view);
    later.abort();
    assertWaits(commit(reader, true));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void shouldNotWaitForACommitThatIsNotSeen(Way way) throws Exception {
    holdDisk();
    StoreTransaction reader = store.begin(false, false);
    ReadView view = reader.beginStatement();
    if (!way.name.equals("duplicate key")) { // that sees the newest row
      assertFalse(updateFirst().isDone());
    }
    way.look.at(this, reader, view);
    assertEquals(Optional.empty(), commit(reader, true).get(60, TimeUnit.SECONDS));
  }

  @Test
  void shouldNotWaitForACommitOfAnotherPage() throws Exception {
    holdDisk();
    assertFalse(updateFirst().isDone());
    StoreTransaction reader = store.begin(true, false);
    ReadView view = reader.beginStatement();
    assertEquals(1, Rows.indexScan(table, view, 0, KeyRange.equal(9L)).size());
    long page = other >>> Page.SLOT_BITS;
    try (RowCursor pages = table.scan(view, page, page + 1, new int[] {0, 1}, false);
        var batch = Rows.batch(0L, 0L)) {
      assertEquals(true, pages.next(batch));
    }
    assertEquals(Optional.empty(), commit(reader, true).get(60, TimeUnit.SECONDS));
  }

  @Test
  void shouldWaitForADeletionWhoseRowTheCollectorMayHaveTaken() throws Exception {
    holdDisk();
    StoreTransaction deleter = begin();
    table.delete(deleter, first);
    assertFalse(commit(deleter, true).isDone());
    store.collector().collect();
    StoreTransaction reader = readerOf(1, 0);
    assertWaits(commit(reader, true));
    store.collector().collect();
    assertEquals(0, store.usage().queuedWrites());
  }

  @Test
  void shouldWaitForACommitThatHasRefusedAChange() throws Exception {
    holdDisk();
    StoreTransaction late = begin();
    assertFalse(updateFirst().isDone());
    long mark = late.mark();
    assertThrows(RowConflict.class, () -> Rows.update(table, late, first, 1L, 2L));
    late.rollbackTo(mark);
    assertWaits(commit(late, true));
  }

  @Test
  void shouldWaitForAPositionOfASequence() throws Exception {
    holdDisk();
    StoreTransaction reader = begin();
    reader.reliesOn(store.putSequencePosition(77, new SequencePosition(5, true)));
    assertTrue(reader.hasUndurableReads());
    assertWaits(commit(reader, true));
  }

  @Test
  void shouldFreeWhatAbortedTransactionsLeaveAlthoughNothingIsDurable() {
    holdDisk();
    assertFalse(updateFirst().isDone());
    for (long id = 0; id < 100; id++) {
      StoreTransaction aborted = begin();
      Rows.update(table, aborted, other, 9L, id);
      aborted.abort();
    }
    store.collector().collect();
    // The update of the first row alone is left.
    assertTrue(store.usage().queuedWrites() <= 2, store.usage().toString());
  }

  /// Where memory is needed what is not durable goes, too, and who reads anything waits for it.
  @Test
  void shouldWaitForADeletionThatWasCollectedBecauseMemoryWasNeeded() throws Exception {
    holdDisk();
    StoreTransaction deleter = begin();
    table.delete(deleter, first);
    assertFalse(commit(deleter, true).isDone());
    store.collector().collectForMemory();
    assertEquals(0, store.usage().queuedWrites());
    StoreTransaction reader = readerOf(1, 0);
    assertWaits(commit(reader, true));
  }

  @Test
  void shouldWaitForAChangeOfTheCatalogue() throws Exception {
    holdDisk();
    StoreTransaction creator = begin();
    creator.define(new CatalogChange.Put("t", new byte[] {1}));
    assertFalse(commit(creator, true).isDone());
    StoreTransaction reader = store.begin(true, false);
    reader.beginStatement();
    assertWaits(commit(reader, true));
  }

  @Test
  void shouldNotWaitWhereTheAnswerPromisesNothing() throws Exception {
    holdDisk();
    assertFalse(updateFirst().isDone());
    StoreTransaction reader = readerOf(1, 1);
    assertEquals(Optional.empty(), commit(reader, false).get(60, TimeUnit.SECONDS));
  }

  @Test
  void shouldSayThatWhatWasReadCannotBeMadeDurable() throws Exception {
    holdDisk();
    log.full = true;
    var written = updateFirst();
    StoreTransaction reader = readerOf(1, 1);
    var read = commit(reader, true);
    gate.countDown();
    EngineException inDoubt = (EngineException) written.get(60, TimeUnit.SECONDS).orElseThrow();
    assertEquals(ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN, inDoubt.code());
    EngineException failure = (EngineException) read.get(60, TimeUnit.SECONDS).orElseThrow();
    assertEquals(ErrorCode.DISK_FULL, failure.code());
    StoreTransaction elsewhere = readerOf(9, 1);
    assertEquals(Optional.empty(), commit(elsewhere, true).get(60, TimeUnit.SECONDS));
  }
}
