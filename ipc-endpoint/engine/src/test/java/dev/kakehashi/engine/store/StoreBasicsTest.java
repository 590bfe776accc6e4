package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.PageCursor;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class StoreBasicsTest extends StoreTestBase {
  @Test
  void shouldReadBackCommittedRows() {
    insertCommitted(1L, "one", 10L);
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    Rows.insert(table, transaction, 2L, null, null);
    Rows.commit(transaction);

    assertEquals(
        List.of(Arrays.asList(1L, "one", 10L), Arrays.asList(2L, null, null)), Rows.values(rows()));
    assertEquals(2, table.rowCount());
    assertEquals(List.of(List.of(1L, "one", 10L)), Rows.values(byId(1)));
    assertEquals(List.of(), byId(3));
  }

  @Test
  void shouldNotShowUncommittedRowsToOthers() {
    StoreTransaction writer = begin();
    writer.beginStatement();
    Rows.insert(table, writer, 1L, "one", 10L);
    assertEquals(List.of(), rows());
    assertEquals(List.of(), byId(1));
    Rows.commit(writer);
    assertEquals(1, rows().size());
  }

  @Test
  void shouldKeepTheSnapshotWhileOthersCommit() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction reader = store.begin(true, false);
    ReadView view = reader.beginStatement();

    StoreTransaction writer = begin();
    writer.beginStatement();
    Rows.update(table, writer, rowId, 1L, "uno", 11L);
    Rows.insert(table, writer, 2L, "two", 20L);
    Rows.commit(writer);
    StoreTransaction deleter = begin();
    deleter.beginStatement();
    table.delete(deleter, rowId);
    Rows.commit(deleter);

    assertEquals(List.of(List.of(1L, "one", 10L)), Rows.values(Rows.scan(table, view)));
    assertEquals(
        List.of(List.of(1L, "one", 10L)),
        Rows.values(Rows.indexScan(table, view, PRIMARY, KeyRange.ALL)));
    assertEquals(
        List.of(List.of(1L, "one", 10L)),
        Rows.values(Rows.indexScan(table, view, BY_NAME, KeyRange.ALL)));
    reader.refreshSnapshot();
    assertEquals(
        List.of(List.of(2L, "two", 20L)), Rows.values(Rows.scan(table, reader.beginStatement())));
    reader.abort();
  }

  @Test
  void shouldGoOnWithOtherPagesFromTheirFirstRow() {
    StoreTransaction writer = begin();
    writer.beginStatement();
    for (long id = 0; id < 5_000; id++) {
      Rows.insert(table, writer, id, "name of " + id, id);
    }
    Rows.commit(writer);
    StoreTransaction reader = begin();
    ReadView view = reader.beginStatement();
    List<Rows.Row> all = Rows.scan(table, view);
    assertTrue(table.pageCount() > 1, "one page would show nothing");

    PageCursor cursor = table.scan(view, 0, 1, Rows.allColumns(table), true);
    try (VectorBatch batch = new VectorBatch(3)) {
      assertTrue(cursor.next(batch), "stands in the midst of the first page");
    }
    cursor.moveTo(1, table.pageCount());
    List<Rows.Row> rest = Rows.drain(cursor, table);

    List<Rows.Row> first = Rows.drain(table.scan(view, 0, 1, Rows.allColumns(table), true), table);
    assertEquals(all.subList(first.size(), all.size()), rest);
    assertThrows(IllegalStateException.class, () -> cursor.moveTo(0, 1));
    reader.abort();
  }

  @Test
  void shouldHideAStatementsOwnChangesFromItself() {
    StoreTransaction transaction = begin();
    ReadView first = transaction.beginStatement();
    long rowId = Rows.insert(table, transaction, 1L, "one", 10L);
    assertEquals(List.of(), Rows.scan(table, first));
    ReadView second = transaction.beginStatement();
    assertEquals(1, Rows.scan(table, second).size());
    Rows.update(table, transaction, rowId, 1L, "uno", 11L);
    assertEquals(List.of(List.of(1L, "one", 10L)), Rows.values(Rows.scan(table, second)));
    assertEquals(
        List.of(List.of(1L, "one", 10L)),
        Rows.values(Rows.indexScan(table, second, BY_NAME, KeyRange.ALL)));
    ReadView third = transaction.beginStatement();
    assertEquals(List.of(List.of(1L, "uno", 11L)), Rows.values(Rows.scan(table, third)));
    assertTrue(table.delete(transaction, rowId));
    assertFalse(table.delete(transaction, rowId));
    assertFalse(Rows.update(table, transaction, rowId, 1L, "x", 1L));
    assertEquals(1, Rows.scan(table, third).size());
    assertEquals(0, Rows.scan(table, transaction.beginStatement()).size());
    Rows.commit(transaction);
    assertEquals(0, table.rowCount());
  }

  @Test
  void shouldRollBackToMarks() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    Rows.update(table, transaction, rowId, 1L, "uno", 11L);
    long mark = transaction.mark();
    transaction.beginStatement();
    Rows.insert(table, transaction, 2L, "two", 20L);
    Rows.update(table, transaction, rowId, 5L, "cinque", 50L);
    table.delete(transaction, rowId);
    transaction.rollbackTo(mark);
    ReadView view = transaction.beginStatement();
    assertEquals(List.of(List.of(1L, "uno", 11L)), Rows.values(Rows.scan(table, view)));
    assertEquals(List.of(), Rows.indexScan(table, view, PRIMARY, KeyRange.equal(5L)));
    transaction.abort();
    transaction.abort();
    assertTrue(transaction.isEnded());
    assertEquals(List.of(List.of(1L, "one", 10L)), Rows.values(rows()));
    assertEquals(1, table.rowCount());
  }

  @Test
  void shouldReportWriteConflicts() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction first = begin();
    StoreTransaction second = begin();
    first.beginStatement();
    second.beginStatement();
    Rows.update(table, first, rowId, 1L, "uno", 11L);
    RowConflict active =
        assertThrows(RowConflict.class, () -> Rows.update(table, second, rowId, 1L, "eins", 12L));
    assertEquals(RowConflict.Kind.OWNER_ACTIVE, active.kind());
    assertEquals(first, active.owner());
    List<String> woken = new ArrayList<>();
    active.owner().whenEnded(() -> woken.add("woken"));
    Rows.commit(first);
    assertEquals(List.of("woken"), woken);
    RowConflict changed = assertThrows(RowConflict.class, () -> table.delete(second, rowId));
    assertEquals(RowConflict.Kind.CHANGED_SINCE_SNAPSHOT, changed.kind());
    second.refreshSnapshot();
    assertTrue(table.delete(second, rowId));
    Rows.commit(second);
    assertEquals(List.of(), rows());
  }

  @Test
  void shouldRefuseDuplicateKeys() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    assertThrows(DuplicateKey.class, () -> Rows.insert(table, transaction, 1L, "x", 1L));
    Rows.insert(table, transaction, 2L, "x", 1L);
    assertThrows(DuplicateKey.class, () -> Rows.insert(table, transaction, 2L, "x", 1L));
    StoreTransaction other = begin();
    other.beginStatement();
    RowConflict conflict =
        assertThrows(RowConflict.class, () -> Rows.insert(table, other, 2L, "y", 1L));
    assertEquals(transaction, conflict.owner());
    // A deletion that is not decided keeps the key taken.
    table.delete(transaction, rowId);
    assertThrows(RowConflict.class, () -> Rows.insert(table, other, 1L, "y", 1L));
    Rows.insert(table, transaction, 1L, "again", 1L);
    Rows.commit(transaction);
    assertThrows(DuplicateKey.class, () -> Rows.insert(table, other, 1L, "y", 1L));
    other.abort();
    assertEquals(
        Set.of("again", "x"),
        rows().stream().map(row -> row.values().get(1)).collect(Collectors.toSet()));
    assertEquals(2, table.rowCount());
  }

  @Test
  void shouldFindRowsByRangesInOrder() {
    for (long id = 0; id < 3000; id++) {
      insertUncommitted(id);
    }
    Rows.commit(open());
    StoreTransaction reader = store.begin(true, false);
    ReadView view = reader.beginStatement();
    KeyRange range = new KeyRange(0, new long[0], true, 500, false, true, 2500, true);
    List<Long> forward =
        ids(table.indexScan(view, PRIMARY, range, false, new int[] {0, 1, 2}, true));
    assertEquals(2000, forward.size());
    assertEquals(501L, forward.get(0));
    assertEquals(2500L, forward.get(1999));
    List<Long> backward =
        ids(table.indexScan(view, PRIMARY, range, true, new int[] {0, 1, 2}, true));
    assertEquals(forward.reversed(), backward);
    assertEquals(
        3000,
        ids(table.indexScan(view, PRIMARY, KeyRange.ALL, true, new int[] {0, 1, 2}, true)).size());
    reader.abort();
  }

  private @Nullable StoreTransaction current;

  private StoreTransaction open() {
    StoreTransaction present = current;
    if (present == null) {
      present = begin();
      present.beginStatement();
      current = present;
    }
    return present;
  }

  private void insertUncommitted(long id) {
    Rows.insert(table, open(), id, "name " + id % 7, id);
  }

  private List<Long> ids(RowCursor cursor) {
    return Rows.drain(cursor, table).stream().map(row -> (Long) row.values().get(0)).toList();
  }

  @Test
  void shouldKeepRowsOverReopen() {
    String large = "x".repeat(16 << 20);
    insertCommitted(1L, "one", 10L);
    long rowId = insertCommitted(2L, "two", 20L);
    insertCommitted(3L, "three", 30L);
    long largeTable = store.nextObjectId();
    CatalogTool.change(
        store,
        List.of(
            new CatalogChange.Put("large", new byte[] {1, 2, 3}),
            new CatalogChange.CreateTable(
                new TableDefinition(
                    largeTable, List.of(ColumnKind.VARLENA), List.of(false), List.of()))));
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    table.delete(transaction, rowId);
    Rows.insert(store.table(largeTable), transaction, large);
    Rows.insert(store.table(largeTable), transaction, "");
    Rows.commit(transaction);
    long nextId = store.nextObjectId();

    reopen();

    assertEquals(List.of(List.of(1L, "one", 10L), List.of(3L, "three", 30L)), Rows.values(rows()));
    assertEquals(List.of(List.of(3L, "three", 30L)), Rows.values(byId(3)));
    assertEquals(2, table.rowCount());
    assertArrayEquals(new byte[] {1, 2, 3}, store.catalog().get("large"));
    assertTrue(store.nextObjectId() > nextId);
    TableStore second = store.table(largeTable);
    StoreTransaction reader = store.begin(true, false);
    List<Rows.Row> found = Rows.scan(second, reader.beginStatement());
    assertEquals(List.of(List.of(large), List.of("")), Rows.values(found));
    reader.abort();
  }

  @Test
  void shouldBuildAndDropIndexesOnExistingRows() {
    long rowId = insertCommitted(1L, "one", 10L);
    insertCommitted(2L, "two", 10L);
    StoreTransaction old = store.begin(true, false);
    ReadView view = old.beginStatement();
    StoreTransaction writer = begin();
    writer.beginStatement();
    Rows.update(table, writer, rowId, 1L, "one", 11L);
    Rows.commit(writer);
    IndexDefinition unique =
        new IndexDefinition(
            store.nextObjectId(), "items_name_key", List.of(1), List.of(true), true);
    IndexDefinition byAmount =
        new IndexDefinition(store.nextObjectId(), "items_amount", List.of(2), List.of(true), false);
    CatalogTool.change(
        store,
        List.of(
            new CatalogChange.CreateIndex(tableId, unique),
            new CatalogChange.CreateIndex(tableId, byAmount)));
    assertEquals(4, table.definition().indexes().size());
    // The old snapshot finds the old version by the new index.
    assertEquals(2, Rows.indexScan(table, view, 3, KeyRange.equal(10L)).size());
    old.abort();
    try (VarHeap heap = new VarHeap()) {
      StoreTransaction reader = store.begin(true, false);
      assertEquals(
          List.of(List.of(2L, "two", 10L)),
          Rows.values(
              Rows.indexScan(
                  table, reader.beginStatement(), 2, KeyRange.equal(Rows.text(heap, "two")))));
      reader.abort();
    }
    StoreTransaction duplicate = begin();
    duplicate.beginStatement();
    assertThrows(DuplicateKey.class, () -> Rows.insert(table, duplicate, 3L, "two", 1L));
    duplicate.abort();
    CatalogTool.change(store, List.of(new CatalogChange.DropIndex(tableId, unique.indexId())));
    insertCommitted(3L, "two", 1L);
    reopen();
    assertEquals(3, table.definition().indexes().size());
    assertEquals(3, rows().size());
  }

  @Test
  void shouldChangeNothingWhenAUniqueIndexMeetsDuplicates() {
    insertCommitted(1L, "same", 10L);
    insertCommitted(2L, "same", 10L);
    IndexDefinition unique =
        new IndexDefinition(
            store.nextObjectId(), "items_name_key", List.of(1), List.of(false), true);
    List<CatalogChange> changes =
        List.of(
            new CatalogChange.Put("entry", new byte[1]),
            new CatalogChange.CreateIndex(tableId, unique));
    DuplicateKey refused =
        assertThrows(DuplicateKey.class, () -> CatalogTool.change(store, changes));
    assertEquals("items_name_key", refused.index().name());
    assertEquals(2, table.definition().indexes().size());
    assertFalse(store.catalog().containsKey("entry"));
    reopen();
    assertFalse(store.catalog().containsKey("entry"));
    assertEquals(2, table.definition().indexes().size());
  }

  @Test
  void shouldForgetDroppedTables() {
    insertCommitted(1L, "one", 10L);
    CatalogTool.change(store, List.of(new CatalogChange.DropTable(tableId)));
    assertThrows(IllegalArgumentException.class, () -> store.table(tableId));
    StoreTransaction late = begin();
    late.beginStatement();
    EngineException refused =
        assertThrows(EngineException.class, () -> Rows.insert(table, late, 2L, "two", 1L));
    assertEquals(ErrorCode.UNDEFINED_TABLE, refused.code());
    late.abort();
    store.close();
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    assertThrows(IllegalArgumentException.class, () -> store.table(tableId));
  }

  @Test
  void shouldRefuseWritesOfReadOnlyTransactions() {
    StoreTransaction reader = store.begin(true, false);
    reader.beginStatement();
    EngineException refused =
        assertThrows(EngineException.class, () -> Rows.insert(table, reader, 1L, "one", 1L));
    assertEquals(ErrorCode.READ_ONLY_TRANSACTION, refused.code());
    reader.abort();
  }

  @Test
  void shouldFailClearlyWhenMemoryIsUsedUp() {
    store.close();
    store = StoreFactory.open(new StoreConfig(directory, 8 << 20));
    table = store.table(tableId);
    insertCommitted(1L, "one", 10L);
    StoreTransaction writer = begin();
    writer.beginStatement();
    String large = "y".repeat(1 << 20);
    long mark = writer.mark();
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> {
              for (long id = 2; id < 100; id++) {
                // Not indexed by its name, which is too long for that.
                Rows.update(table, writer, byId(1).get(0).rowId(), 1L, large + id, id);
              }
            });
    assertEquals(ErrorCode.LIMIT_EXCEEDED, refused.code());
    writer.rollbackTo(mark);
    EngineException full =
        assertThrows(
            EngineException.class,
            () -> {
              for (long id = 2; id < 1_000_000; id++) {
                Rows.insert(table, writer, id, "name of " + id, id);
              }
            });
    assertEquals(ErrorCode.OUT_OF_MEMORY, full.code());
    assertEquals(1, rows().size());
    writer.abort();
    assertEquals(List.of(List.of(1L, "one", 10L)), Rows.values(byId(1)));
    // Memory that the abort has left is reused.
    for (int round = 0; round < 3; round++) {
      Rows.collect(store);
      StoreTransaction again = begin();
      again.beginStatement();
      for (long id = 2; id < 10_000; id++) {
        Rows.insert(table, again, id, "name of " + id, id);
      }
      again.abort();
    }
    assertEquals(1, rows().size());
  }

  @Test
  void shouldRefuseADirectoryOfAnotherFormat() throws Exception {
    store.close();
    java.nio.file.Files.writeString(directory.resolve("FORMAT"), "kakehashi store 99\n");
    EngineException refused =
        assertThrows(EngineException.class, () -> StoreFactory.open(StoreConfig.of(directory)));
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
    java.nio.file.Files.writeString(directory.resolve("FORMAT"), "kakehashi store 1\n");
    store = StoreFactory.open(StoreConfig.of(directory));
  }

  @Test
  void shouldRefuseASecondOpening() {
    EngineException refused =
        assertThrows(EngineException.class, () -> StoreFactory.open(StoreConfig.of(directory)));
    assertEquals(ErrorCode.CANNOT_CONNECT, refused.code());
  }
}
