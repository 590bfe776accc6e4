package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SegmentedLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Columns come and go without a change of a row: rows of all widths are read alike.
final class StoreColumnsTest extends StoreTestBase {
  private static final int SEVERAL_PAGES = 4_000;

  private CatalogChange add(ColumnKind kind, @Nullable Object value) {
    return ColumnChanges.add(table.definition(), kind, value);
  }

  private CatalogChange drop(int column) {
    return ColumnChanges.drop(table.definition(), column);
  }

  private void change(CatalogChange change) {
    CatalogTool.change(store, List.of(change));
  }

  private void fill(int count) {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    for (long id = 0; id < count; id++) {
      Rows.insert(table, transaction, id, "name " + id, id % 3 == 0 ? null : id);
    }
    Rows.commit(transaction);
  }

  private void inTransaction(java.util.function.Consumer<StoreTransaction> work) {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    work.accept(transaction);
    Rows.commit(transaction);
  }

  @Test
  void shouldReadPagesOfBothWidthsInOneScan() {
    fill(SEVERAL_PAGES);
    long changes = table.changeCount();
    change(add(ColumnKind.VARLENA, "missing"));
    change(add(ColumnKind.INTEGER, null));
    assertEquals(changes, table.changeCount(), "rows written");
    List<Rows.Row> before = rows();
    assertEquals(SEVERAL_PAGES, before.size());
    for (Rows.Row row : before) {
      assertEquals(Arrays.asList("missing", null), row.values().subList(3, 5));
    }
    StoreTransaction reader = store.begin(true, false);
    ReadView view = reader.beginStatement();
    inTransaction(t -> {
      assertTrue(Rows.update(table, t, before.get(5).rowId(), 5L, "name 5", 5L, "own", 55L));
      assertTrue(Rows.update(table, t, before.get(6).rowId(), 6L, "six", 6L, "missing", null));
      assertTrue(table.delete(t, before.get(7).rowId()));
      Rows.insert(table, t, -1L, "new", -1L, null, 1L);
    });
    // Older versions come after the newest ones of their run.
    Map<Long, List<@Nullable Object>> older = new HashMap<>();
    Rows.scan(table, view).forEach(row -> older.put(row.rowId(), row.values()));
    assertEquals(SEVERAL_PAGES, older.size());
    for (Rows.Row row : before) {
      assertEquals(row.values(), older.get(row.rowId()), "the older snapshot");
    }
    reader.abort();
    for (int opened = 0; opened < 2; opened++) {
      Map<Long, List<@Nullable Object>> found = new HashMap<>();
      rows().forEach(row -> found.put((Long) row.values().getFirst(), row.values()));
      assertEquals(SEVERAL_PAGES, found.size());
      assertEquals(List.of(5L, "name 5", 5L, "own", 55L), found.get(5L));
      assertEquals(Arrays.asList(6L, "six", 6L, "missing", null), found.get(6L));
      assertEquals(null, found.get(7L));
      assertEquals(Arrays.asList(8L, "name 8", 8L, "missing", null), found.get(8L));
      assertEquals(Arrays.asList(-1L, "new", -1L, null, 1L), found.get(-1L));
      reopen();
    }
  }

  @Test
  void shouldFindRowsByAnIndexOfAnAddedColumnAfterAnotherIsDropped() {
    fill(SEVERAL_PAGES);
    change(add(ColumnKind.INTEGER, 7L));
    long rowId = byId(9).getFirst().rowId();
    inTransaction(t -> Rows.update(table, t, rowId, 9L, "nine", 9L, 8L));
    change(
        new CatalogChange.CreateIndex(
            tableId,
            new IndexDefinition(store.nextObjectId(), "added", List.of(3), List.of(false), false)));
    change(drop(2));
    for (int opened = 0; opened < 2; opened++) {
      StoreTransaction reader = store.begin(true, false);
      ReadView view = reader.beginStatement();
      assertEquals(
          List.of(List.of(9L, "nine", 8L)),
          Rows.values(Rows.indexScan(table, view, 2, KeyRange.equal(8))));
      assertEquals(SEVERAL_PAGES - 1, Rows.indexScan(table, view, 2, KeyRange.equal(7)).size());
      reader.abort();
      reopen();
    }
  }

  @Test
  void shouldTakeBackWhatIsRolledBack() {
    fill(10);
    List<Rows.Row> before = rows();
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    long mark = transaction.mark();
    transaction.define(add(ColumnKind.VARLENA, "first"));
    Rows.update(table, transaction, before.getFirst().rowId(), 0L, "zero", 0L, "written");
    transaction.rollbackTo(mark);
    assertEquals(before, rows());
    transaction.define(drop(2));
    transaction.define(add(ColumnKind.INTEGER, 3L));
    Rows.insert(table, transaction, 10L, "ten", 4L);
    Rows.commit(transaction);
    inTransaction(t -> Rows.insert(table, t, 11L, "eleven", null));
    for (int opened = 0; opened < 2; opened++) {
      assertEquals(List.of(List.of(0L, "name 0", 3L)), Rows.values(byId(0)));
      assertEquals(List.of(List.of(10L, "ten", 4L)), Rows.values(byId(10)));
      assertEquals(List.of(Arrays.asList(11L, "eleven", null)), Rows.values(byId(11)));
      reopen();
      change(add(ColumnKind.VARLENA, "later"));
      change(drop(3));
    }
  }

  @Test
  void shouldReadAndWriteATableOfAnOlderDirectory() throws IOException {
    store.close();
    LogRecord record = new LogRecord(256);
    TableDefinition older =
        new TableDefinition(
            tableId,
            List.of(ColumnKind.INTEGER, ColumnKind.VARLENA),
            List.of(false, false),
            List.of());
    record.put(StoreKeys.table(tableId), OlderFormat.definition(older));
    record.put(StoreKeys.row(tableId, 3), new byte[] {0, 10, 1, 'x'});
    record.put(StoreKeys.row(tableId, 4), new byte[] {0b10, 12});
    try (SegmentedLog log =
        SegmentedLog.open(DataDirectory.log(directory), DataDirectory.database(directory))) {
      log.write(List.of(record));
    }
    Files.writeString(DataDirectory.formatFile(directory), "kakehashi store 2\n");
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = store.table(tableId);
    assertEquals("kakehashi store 6\n", Files.readString(DataDirectory.formatFile(directory)));
    assertEquals(List.of(List.of(5L, "x"), Arrays.asList(6L, null)), Rows.values(rows()));
    inTransaction(t -> Rows.insert(table, t, 7L, "new"));
    CheckReport.of(directoryAfterClose()).assertSound();
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = store.table(tableId);
    assertEquals(
        Map.of(5L, "x", 7L, "new"),
        rows().stream()
            .map(Rows.Row::values)
            .filter(values -> values.get(1) != null)
            .collect(java.util.stream.Collectors.toMap(List::getFirst, List::getLast)));
  }

  @Test
  void shouldRefuseADefinitionOfAnUnknownFormat() {
    store.close();
    LogRecord record = new LogRecord(64);
    record.put(StoreKeys.table(tableId), new byte[] {5, 0});
    try (SegmentedLog log =
        SegmentedLog.open(DataDirectory.log(directory), DataDirectory.database(directory))) {
      log.write(List.of(record));
    }
    EngineException refused =
        assertThrows(EngineException.class, () -> StoreFactory.open(StoreConfig.of(directory)));
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
    assertTrue(
        String.valueOf(refused.getMessage()).contains("format 5, this version reads 1 to 4"));
  }

  private java.nio.file.Path directoryAfterClose() {
    store.close();
    return directory;
  }

  @Test
  void shouldPassTheCheckWithRowsOfSeveralWidths() {
    fill(SEVERAL_PAGES);
    change(add(ColumnKind.VARLENA, "missing"));
    inTransaction(t -> Rows.insert(table, t, -1L, "new", 1L, "own"));
    change(drop(2));
    inTransaction(t -> Rows.insert(table, t, -2L, "new", null));
    CheckReport.of(directoryAfterClose()).assertSound();
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
  }

  @Test
  void shouldEqualTheModel() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StoreColumnsTest seed " + seed);
    Random random = new Random(seed);
    ColumnsModel model = new ColumnsModel(table.definition().columns());
    for (int round = 0; round < 150; round++) {
      StoreTransaction transaction = begin();
      transaction.beginStatement();
      ColumnsModel next = model.copy();
      for (int step = random.nextInt(6); step >= 0; step--) {
        next.step(random, table, transaction);
      }
      if (random.nextInt(4) == 0) {
        transaction.abort();
      } else {
        Rows.commit(transaction);
        model = next;
      }
      if (random.nextInt(20) == 0) {
        reopen();
      }
      StoreTransaction reader = store.begin(true, false);
      model.assertEqual(table, reader.beginStatement(), "seed %d round %d".formatted(seed, round));
      reader.abort();
    }
  }
}
