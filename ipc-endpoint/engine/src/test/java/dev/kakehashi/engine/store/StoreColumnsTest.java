package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.Placement.Origin;
import dev.kakehashi.engine.store.Store.CatalogChange;
import dev.kakehashi.engine.store.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SegmentedLog;
import dev.kakehashi.engine.vector.VarHeap;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
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

  private static ByteBuffer missing(ColumnKind kind, Object value) {
    try (VarHeap heap = new VarHeap()) {
      return RowCodec.value(kind, Rows.word(heap, value));
    }
  }

  private static <T> List<T> without(List<T> list, int position) {
    List<T> rest = new ArrayList<>(list);
    rest.remove(position);
    return rest;
  }

  private static <T> List<T> with(List<T> list, T last) {
    List<T> more = new ArrayList<>(list);
    more.add(last);
    return more;
  }

  private static List<Origin> present(TableDefinition table) {
    List<Origin> origins = new ArrayList<>();
    for (int c = 0; c < table.columns().size(); c++) {
      origins.add(Origin.of(c));
    }
    return origins;
  }

  private CatalogChange add(ColumnKind kind, @Nullable Object value) {
    TableDefinition old = table.definition();
    return new CatalogChange.Reshape(
        new TableDefinition(
            tableId,
            with(old.columns(), kind),
            with(old.notNull(), false),
            old.indexes(),
            old.placement()),
        with(present(old), Origin.added(value == null ? null : missing(kind, value))));
  }

  private CatalogChange drop(int column) {
    TableDefinition old = table.definition();
    List<IndexDefinition> indexes = new ArrayList<>();
    for (IndexDefinition index : old.indexes()) {
      indexes.add(
          new IndexDefinition(
              index.indexId(),
              index.name(),
              index.columns().stream().map(c -> c > column ? c - 1 : c).toList(),
              index.descending(),
              index.unique()));
    }
    return new CatalogChange.Reshape(
        new TableDefinition(
            tableId,
            without(old.columns(), column),
            without(old.notNull(), column),
            indexes,
            old.placement()),
        without(present(old), column));
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
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(1);
      out.writeLong(tableId);
      out.writeInt(2);
      for (ColumnKind kind : List.of(ColumnKind.INTEGER, ColumnKind.VARLENA)) {
        out.writeUTF(kind.name());
        out.writeBoolean(false);
      }
      out.writeInt(0);
    }
    record.put(StoreKeys.table(tableId), bytes.toByteArray());
    record.put(StoreKeys.row(tableId, 3), new byte[] {0, 10, 1, 'x'});
    record.put(StoreKeys.row(tableId, 4), new byte[] {0b10, 12});
    try (SegmentedLog log =
        SegmentedLog.open(DataDirectory.log(directory), DataDirectory.database(directory))) {
      log.write(List.of(record));
    }
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = store.table(tableId);
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

  /// Random changes of rows and columns against lists.
  @Test
  void shouldEqualTheModel() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Map<Long, List<@Nullable Object>> model = new HashMap<>();
    Map<Long, Long> rowIds = new HashMap<>();
    long nextId = 0;
    for (int round = 0; round < 150; round++) {
      List<ColumnKind> kinds = table.definition().columns();
      StoreTransaction transaction = begin();
      transaction.beginStatement();
      Map<Long, List<@Nullable Object>> next = new HashMap<>();
      model.forEach((id, values) -> next.put(id, new ArrayList<>(values)));
      Map<Long, Long> nextRowIds = new HashMap<>(rowIds);
      for (int step = random.nextInt(6); step >= 0; step--) {
        kinds = table.definition().columns();
        switch (random.nextInt(8)) {
          case 0 -> {
            if (kinds.size() < 8) {
              ColumnKind kind = random.nextBoolean() ? ColumnKind.INTEGER : ColumnKind.VARLENA;
              Object value = value(kind, random);
              transaction.define(add(kind, value));
              next.values().forEach(values -> values.add(value));
            }
          }
          case 1 -> {
            int column = 2 + random.nextInt(Math.max(1, kinds.size() - 2));
            if (kinds.size() > 3) {
              transaction.define(drop(column));
              next.values().forEach(values -> values.remove(column));
            }
          }
          default -> {
            transaction.beginStatement();
            List<@Nullable Object> values = new ArrayList<>();
            List<Long> ids = new ArrayList<>(next.keySet());
            boolean inserts = ids.size() < 20 || random.nextInt(3) == 0;
            long id = inserts ? nextId++ : ids.get(random.nextInt(ids.size()));
            values.add(id);
            for (int c = 1; c < kinds.size(); c++) {
              values.add(value(kinds.get(c), random));
            }
            if (inserts) {
              nextRowIds.put(id, Rows.insert(table, transaction, values.toArray()));
              next.put(id, values);
            } else if (random.nextInt(4) == 0) {
              assertTrue(table.delete(transaction, nextRowIds.get(id)));
              next.remove(id);
            } else {
              assertTrue(Rows.update(table, transaction, nextRowIds.get(id), values.toArray()));
              next.put(id, values);
            }
          }
        }
      }
      if (random.nextInt(4) == 0) {
        transaction.abort();
      } else {
        Rows.commit(transaction);
        model = next;
        rowIds = nextRowIds;
      }
      if (random.nextInt(20) == 0) {
        reopen();
      }
      Map<Long, List<@Nullable Object>> found = new HashMap<>();
      rows().forEach(row -> found.put((Long) row.values().getFirst(), row.values()));
      assertEquals(model, found, "seed " + seed + " round " + round);
    }
  }

  private static @Nullable Object value(ColumnKind kind, Random random) {
    if (random.nextInt(4) == 0) {
      return null;
    }
    long number = random.nextInt(5);
    return kind == ColumnKind.INTEGER ? (Object) number : "text ".repeat((int) number) + number;
  }
}
