package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.BulkInsert.Duplicates;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Inserts of several pages that are taken back are there for nobody, and in nobody's way, whether the collector has come to them or not.
@SuppressWarnings({
  "NullAway",
  "NonApiType",
  "ReferenceEquality"
}) // what is null fails the test; a model is sorted
final class TakenBackInsertsTest {
  private static final int TRANSACTIONS = Integer.getInteger("kakehashi.takenback.rounds", 12);
  private static final int KEYS = 6000;

  @TempDir Path directory;

  private Store store;
  private TableStore table;

  @BeforeEach
  void open() {
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = newTable();
  }

  private TableStore newTable() {
    return CatalogTool.createTable(
        store,
        new TableDefinition(
            store.nextObjectId(),
            List.of(ColumnKind.INTEGER, ColumnKind.VARLENA),
            List.of(true, false),
            List.of(index("pkey", 0, true), index("by_text", 1, false))));
  }

  private IndexDefinition index(String name, int column, boolean unique) {
    return new IndexDefinition(store.nextObjectId(), name, List.of(column), List.of(false), unique);
  }

  @AfterEach
  void close() {
    store.close();
  }

  /// Savepoints, statements that fail, and ends of both kinds, beside a reader whose snapshot is old and one who checks each new one.
  @Test
  void shouldAgreeWithAModelWhateverIsTakenBack() throws InterruptedException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("TakenBackInsertsTest seed " + seed);
    Random random = new Random(seed);
    TreeMap<Long, String> committed = new TreeMap<>();
    // States that a snapshot may have: the last one, and while a commit is under way the next one.
    AtomicReference<List<TreeMap<Long, String>>> possible =
        new AtomicReference<>(List.of(new TreeMap<>()));
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread checking = Thread.ofPlatform().start(() -> checkSnapshots(possible, failure));
    StoreTransaction old = begin();
    TreeMap<Long, String> ofOld = new TreeMap<>();
    try {
      for (int round = 0; round < TRANSACTIONS; round++) {
        StoreTransaction transaction = begin();
        TreeMap<Long, String> own = new TreeMap<>(committed);
        List<Long> marks = new ArrayList<>();
        List<TreeMap<Long, String>> states = new ArrayList<>();
        int steps = 2 + random.nextInt(6);
        for (int step = 0; step < steps; step++) {
          transaction.beginStatement();
          switch (random.nextInt(6)) {
            case 0, 1 -> load(transaction, own, random);
            case 2 -> insertEach(transaction, own, random);
            case 3 -> change(transaction, own, random);
            case 4 -> {
              marks.add(transaction.mark());
              states.add(new TreeMap<>(own));
            }
            default -> {
              if (!marks.isEmpty()) {
                int to = random.nextInt(marks.size());
                transaction.rollbackTo(marks.get(to));
                own = new TreeMap<>(states.get(to));
                marks.subList(to + 1, marks.size()).clear();
                states.subList(to + 1, states.size()).clear();
              }
            }
          }
          assertState(own, transaction, seed);
        }
        if (random.nextInt(3) > 0) {
          possible.set(List.of(committed, own));
          Rows.commit(transaction);
          committed = own;
          possible.set(List.of(own));
        } else {
          transaction.abort();
        }
        assertState(ofOld, old, seed);
        if (random.nextInt(3) == 0) {
          old.abort();
          old = begin();
          ofOld = new TreeMap<>(committed);
        }
        if (random.nextInt(4) == 0) {
          Rows.collect(store);
        }
      }
    } finally {
      possible.set(List.of());
      checking.join();
      old.abort();
    }
    assertEquals(null, failure.get(), "seed " + seed);
    CheckReport.ofIndexes(store).assertSound();
    assertEquals(committed.size(), table.rowCount());
    store.close();
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = store.table(table.definition().tableId());
    StoreTransaction after = begin();
    assertState(committed, after, seed);
    after.abort();
  }

  private void checkSnapshots(
      AtomicReference<List<TreeMap<Long, String>>> possible, AtomicReference<Throwable> failure) {
    try {
      List<TreeMap<Long, String>> before = possible.get();
      while (!before.isEmpty()) {
        StoreTransaction reader = begin();
        TreeMap<Long, String> seen = byIndex(reader, 0);
        TreeMap<Long, String> scanned = new TreeMap<>();
        Rows.scan(table, reader.beginStatement()).forEach(row -> put(scanned, row));
        reader.abort();
        List<TreeMap<Long, String>> after = possible.get();
        assertEquals(scanned, seen);
        if (before == after && !before.contains(seen)) {
          throw new AssertionError("a snapshot of " + seen.size() + " rows that never was");
        }
        before = after;
      }
    } catch (Throwable wrong) {
      failure.set(wrong);
    }
  }

  /// A load of consecutive keys; it fails if one of them is there, and is sometimes given up before.
  private void load(StoreTransaction transaction, TreeMap<Long, String> own, Random random) {
    long from = random.nextInt(KEYS);
    int size = 50 + random.nextInt(3000);
    boolean givenUp = random.nextInt(4) == 0;
    TreeMap<Long, String> next = new TreeMap<>(own);
    try (BulkInsert insertion = table.bulkInsert(transaction);
        BulkInsert.Part part = insertion.newPart()) {
      boolean twice = false;
      for (long id = from; id < from + size; id++) {
        String text = text(id, random);
        try (VectorBatch batch = Rows.batch(id, text)) {
          part.insert(batch, 0);
        }
        twice |= next.put(id, text) != null;
      }
      if (givenUp) {
        return;
      }
      if (twice) {
        assertThrows(DuplicateKey.class, () -> insertion.finish(Duplicates.FAIL));
        return;
      }
      insertion.finish(Duplicates.FAIL);
    }
    own.putAll(next);
  }

  /// One row after another; all are taken back if a key is there.
  private void insertEach(StoreTransaction transaction, TreeMap<Long, String> own, Random random) {
    long mark = transaction.mark();
    long from = random.nextInt(KEYS);
    int size = 1 + random.nextInt(1500);
    TreeMap<Long, String> next = new TreeMap<>(own);
    for (long id = from; id < from + size; id++) {
      String text = text(id, random);
      long inserted = id;
      if (next.put(id, text) != null) {
        assertThrows(DuplicateKey.class, () -> Rows.insert(table, transaction, inserted, text));
        transaction.rollbackTo(mark);
        return;
      }
      Rows.insert(table, transaction, id, text);
    }
    own.putAll(next);
  }

  private void change(StoreTransaction transaction, TreeMap<Long, String> own, Random random) {
    for (Rows.Row row : rows(transaction, 0)) {
      Long id = (Long) row.values().getFirst();
      switch (random.nextInt(8)) {
        case 0, 1 -> {
          table.delete(transaction, row.rowId());
          own.remove(id);
        }
        case 2 -> {
          String text = text(id, random);
          Rows.update(table, transaction, row.rowId(), id, text);
          own.put(id, text);
        }
        default -> {} // stays
      }
    }
  }

  private static String text(long id, Random random) {
    return "some text of more than a word " + id % 100 + "/" + random.nextInt(3);
  }

  private void assertState(
      TreeMap<Long, String> expected, StoreTransaction transaction, long seed) {
    assertEquals(expected, byIndex(transaction, 0), "seed " + seed);
    assertEquals(expected, byIndex(transaction, 1), "seed " + seed);
  }

  private TreeMap<Long, String> byIndex(StoreTransaction transaction, int index) {
    TreeMap<Long, String> found = new TreeMap<>();
    rows(transaction, index).forEach(row -> put(found, row));
    return found;
  }

  private static void put(TreeMap<Long, String> to, Rows.Row row) {
    assertEquals(null, to.put((Long) row.values().get(0), (String) row.values().get(1)), "twice");
  }

  private List<Rows.Row> rows(StoreTransaction transaction, int index) {
    return Rows.indexScan(table, transaction.beginStatement(), index, KeyRange.ALL);
  }

  private StoreTransaction begin() {
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    return transaction;
  }

  /// The collector comes to the rows when the table has another form, has lost an index, or is gone.
  @Test
  void shouldGiveAllMemoryBackWhateverBecomesOfTheTable() {
    MemoryStore memory = (MemoryStore) store;
    long used = -1;
    for (int round = 0; round < 8; round++) {
      table = newTable();
      long tableId = table.definition().tableId();
      StoreTransaction transaction = begin();
      TreeMap<Long, String> own = new TreeMap<>();
      load(transaction, own, new Random(1));
      insertEach(transaction, own, new Random(2));
      transaction.abort();
      switch (round % 4) {
        case 0 ->
            CatalogTool.change(
                store,
                List.of(
                    ColumnChanges.add(table.definition(), ColumnKind.VARLENA, "x".repeat(100))));
        case 1 ->
            CatalogTool.change(
                store,
                List.of(
                    new CatalogChange.DropIndex(
                        tableId, table.definition().indexes().getFirst().indexId())));
        case 2 -> CatalogTool.change(store, List.of(ColumnChanges.drop(table.definition(), 1)));
        default -> {} // dropped at once
      }
      CatalogTool.change(store, List.of(new CatalogChange.DropTable(tableId)));
      // A table of a transaction that goes on, and its rows, go with a savepoint.
      StoreTransaction making = begin();
      long mark = making.mark();
      TableDefinition definition =
          new TableDefinition(
              store.nextObjectId(),
              List.of(ColumnKind.INTEGER, ColumnKind.VARLENA),
              List.of(true, false),
              List.of(index("pkey", 0, true)));
      making.define(new CatalogChange.CreateTable(definition));
      table = store.table(definition.tableId());
      insertEach(making, new TreeMap<>(), new Random(2));
      making.rollbackTo(mark);
      Rows.commit(making);
      Rows.collect(store);
      Rows.collect(store);
      long now = memory.pool().usedBytes();
      if (round >= 4) {
        assertEquals(used, now, "round " + round);
      } else if (round == 3) {
        used = now;
      }
    }
  }
}
