package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.BulkInsert.Duplicates;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Many rows that are inserted at once are rows like others, and their keys are as unique.
final class BulkInsertTest {
  private static final int PRIMARY = 0;
  private static final int BY_TEXT = 1;
  private static final int[] ALL = {0, 1};

  @TempDir Path directory;

  /// By tasks of a test, too.
  private final List<StoreTransaction> begun = Collections.synchronizedList(new ArrayList<>());

  private Store store;
  private TableStore table;

  @BeforeEach
  void open() {
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table =
        CatalogTool.createTable(
            store,
            new TableDefinition(
                store.nextObjectId(),
                List.of(ColumnKind.INTEGER, ColumnKind.VARLENA),
                List.of(true, false),
                List.of(
                    new IndexDefinition(
                        store.nextObjectId(), "pkey", List.of(0), List.of(false), true),
                    new IndexDefinition(
                        store.nextObjectId(), "by_text", List.of(1), List.of(false), true))));
  }

  @AfterEach
  void close() {
    endAll();
    store.close();
  }

  private void endAll() {
    List.copyOf(begun).forEach(StoreTransaction::abort);
    begun.clear();
  }

  @Test
  void shouldFindRowsOfAllPartsByEachIndexAndAfterARestart() throws InterruptedException {
    int rows = 50_000;
    StoreTransaction transaction = begin();
    try (BulkInsert insertion = table.bulkInsert(transaction)) {
      List<Thread> tasks = new ArrayList<>();
      for (int task = 0; task < 2; task++) {
        int first = task;
        tasks.add(
            Thread.ofPlatform()
                .start(() -> {
                  try (BulkInsert.Part part = insertion.newPart()) {
                    for (int i = first; i < rows; i += 2) {
                      insert(part, scattered(i), text(i));
                    }
                  }
                }));
      }
      for (Thread task : tasks) {
        task.join();
      }
      insertion.finish(Duplicates.FAIL);
      assertEquals(rows, insertion.rows());
    }
    assertEquals(0, count(begin(), PRIMARY));
    Rows.commit(transaction);
    assertAll(rows);
    endAll();
    store.close();
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = store.table(table.definition().tableId());
    assertAll(rows);
  }

  private void assertAll(int rows) {
    StoreTransaction reader = begin();
    TreeSet<Long> expected = new TreeSet<>();
    for (int i = 0; i < rows; i++) {
      expected.add(scattered(i));
    }
    List<Long> ids = new ArrayList<>();
    for (Rows.Row row : rows(reader, PRIMARY)) {
      ids.add((Long) row.values().getFirst());
    }
    assertEquals(new ArrayList<>(expected), ids);
    assertEquals(rows, count(reader, BY_TEXT));
    reader.abort();
  }

  private static long scattered(int i) {
    return i * 0x9E37_79B9_7F4A_7C15L;
  }

  /// Texts of rows. Some have no room in a leaf that is built of runs, some are null.
  private static @Nullable String text(int i) {
    if (i % 10 == 0) {
      return null;
    }
    return i % 1000 == 1 ? "long".repeat(1000) + i : "t" + i;
  }

  @Test
  void shouldAddToRowsThatAreThere() {
    StoreTransaction before = begin();
    for (int i = 0; i < 3000; i += 3) {
      Rows.insert(table, before, (long) i, "t" + i);
    }
    Rows.commit(before);
    StoreTransaction transaction = begin();
    try (BulkInsert insertion = table.bulkInsert(transaction);
        BulkInsert.Part part = insertion.newPart()) {
      for (int i = 2999; i >= 0; i--) {
        if (i % 3 != 0) {
          insert(part, i, "t" + i);
        }
      }
      insertion.finish(Duplicates.FAIL);
    }
    Rows.commit(transaction);
    assertEquals(3000, count(begin(), PRIMARY));
    assertEquals(3000, count(begin(), BY_TEXT));
  }

  @Test
  void shouldEnterTheSameKeysWhateverIsThere() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("BulkInsertTest seed " + seed);
    Random random = new Random(seed);
    TreeSet<Long> expected = new TreeSet<>();
    TreeSet<String> texts = new TreeSet<>();
    for (int round = 0; round < 6; round++) {
      StoreTransaction transaction = begin();
      int bits = 6 + random.nextInt(10);
      long base = (long) random.nextInt(4) << 20;
      try (BulkInsert insertion = table.bulkInsert(transaction)) {
        for (int p = 0; p < 2; p++) {
          try (BulkInsert.Part part = insertion.newPart()) {
            for (int i = 0; i < 3000; i++) {
              long id = base + random.nextInt(1 << bits);
              insert(part, id, random.nextInt(4) == 0 ? null : "t".repeat(i % 3) + id);
            }
          }
        }
        insertion.finish((failure, row, other) -> row);
      }
      Rows.commit(transaction);
      StoreTransaction reader = begin();
      List<Long> ids = new ArrayList<>();
      int withText = 0;
      for (Rows.Row row : rows(reader, PRIMARY)) {
        ids.add((Long) row.values().getFirst());
        withText += row.values().get(1) == null ? 0 : 1;
      }
      assertEquals(new ArrayList<>(new TreeSet<>(ids)), ids, "no key is there twice");
      assertTrue(ids.containsAll(expected), "what was there stays");
      expected.addAll(ids);
      texts.clear();
      for (Rows.Row row : rows(reader, BY_TEXT)) {
        Object text = row.values().get(1);
        assertTrue(text == null || texts.add((String) text), "no text is there twice");
      }
      assertEquals(withText, texts.size());
      assertEquals(ids.size(), count(reader, BY_TEXT));
      reader.abort();
    }
  }

  @Test
  void shouldInsertBesideOthersWhoInsertTheSameKeys() throws InterruptedException {
    int keys = 20_000;
    List<Thread> tasks = new ArrayList<>();
    for (int task = 0; task < 2; task++) {
      Random random = new Random(task);
      boolean bulk = task == 0;
      tasks.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int round = 0; round < 30; round++) {
                  StoreTransaction transaction = begin();
                  try {
                    long from = random.nextInt(keys);
                    if (bulk) {
                      try (BulkInsert insertion = table.bulkInsert(transaction);
                          BulkInsert.Part part = insertion.newPart()) {
                        for (int i = 0; i < 500; i++) {
                          insert(part, (from + i * 7L) % keys, null);
                        }
                        insertion.finish((failure, row, other) -> row);
                      }
                    } else {
                      for (int i = 0; i < 100; i++) {
                        Rows.insert(table, transaction, (from + i * 3L) % keys, null);
                      }
                    }
                    Rows.commit(transaction);
                  } catch (DuplicateKey | RowConflict conflict) {
                    transaction.abort();
                  }
                }
              }));
    }
    for (Thread task : tasks) {
      task.join();
    }
    StoreTransaction reader = begin();
    List<Long> ids = new ArrayList<>();
    rows(reader, PRIMARY).forEach(row -> ids.add((Long) row.values().getFirst()));
    assertEquals(new ArrayList<>(new TreeSet<>(ids)), ids, "no key is there twice");
    assertEquals(Rows.scan(table, reader.beginStatement()).size(), ids.size());
    assertTrue(ids.size() > 500);
  }

  @Test
  void shouldRefuseAKeyThatIsThereBeforeOrTwice() {
    StoreTransaction before = begin();
    Rows.insert(table, before, 5L, "five");
    Rows.commit(before);
    for (List<Long> ids : List.of(List.of(1L, 5L), List.of(1L, 2L, 1L))) {
      StoreTransaction transaction = begin();
      try (BulkInsert insertion = table.bulkInsert(transaction);
          BulkInsert.Part part = insertion.newPart()) {
        for (long id : ids) {
          insert(part, id, null);
        }
        DuplicateKey refused =
            assertThrows(DuplicateKey.class, () -> insertion.finish(Duplicates.FAIL));
        assertEquals("pkey", refused.index().name());
      }
      // Taken back, and the transaction goes on.
      Rows.insert(table, transaction, 1L, "one");
      transaction.abort();
    }
    assertEquals(1, count(begin(), PRIMARY));
  }

  @Test
  void shouldLeaveOutTheRowsThatTheCallerRefuses() {
    StoreTransaction before = begin();
    Rows.insert(table, before, 5L, "five");
    Rows.commit(before);
    for (int round = 0; round < 2; round++) {
      // With rows in the index, and without.
      TableStore target = table;
      StoreTransaction transaction = begin();
      List<String> told = new ArrayList<>();
      try (BulkInsert insertion = target.bulkInsert(transaction);
          BulkInsert.Part part = insertion.newPart()) {
        long a = insert(part, 1, "a");
        long b = insert(part, 5, "b");
        long c = insert(part, 1, "c");
        long d = insert(part, 2, "a");
        long e = insert(part, 1, "e");
        insertion.finish((failure, row, other) -> {
          told.add(failure.index().name());
          try (VectorBatch values = new VectorBatch(2)) {
            insertion.read(row, ALL, values);
            assertEquals(row == d ? 2 : row == b ? 5 : 1, values.columns[0].words[0]);
          }
          // The first of them stays.
          return other == Duplicates.NONE ? row : Math.max(row, other);
        });
        assertEquals(round == 0 ? 1 : 2, insertion.rows());
        assertTrue(a < c && c < e);
      }
      Rows.commit(transaction);
      List<Long> ids = new ArrayList<>();
      rows(begin(), PRIMARY).forEach(row -> ids.add((Long) row.values().getFirst()));
      assertEquals(List.of(1L, 5L), ids);
      assertEquals(2, count(begin(), BY_TEXT));
      assertEquals(
          round == 0
              ? List.of("pkey", "pkey", "pkey", "by_text")
              : List.of("pkey", "pkey", "by_text"),
          told);
      // Once more into an index without entries.
      StoreTransaction emptying = begin();
      rows(emptying, PRIMARY).forEach(row -> target.delete(emptying, row.rowId()));
      Rows.commit(emptying);
      Rows.collect(store);
    }
  }

  @Test
  void shouldMeetAnotherTransactionsKeyWhicheverComesFirst() {
    StoreTransaction other = begin();
    StoreTransaction transaction = begin();
    try (BulkInsert insertion = table.bulkInsert(transaction);
        BulkInsert.Part part = insertion.newPart()) {
      insert(part, 1, null);
      // Our entry is not there yet.
      Rows.insert(table, other, 1L, null);
      assertThrows(RowConflict.class, () -> insertion.finish(Duplicates.FAIL));
    }
    other.abort();
    try (BulkInsert insertion = table.bulkInsert(transaction);
        BulkInsert.Part part = insertion.newPart()) {
      insert(part, 1, null);
      insertion.finish(Duplicates.FAIL);
    }
    StoreTransaction late = begin();
    assertThrows(RowConflict.class, () -> Rows.insert(table, late, 1L, null));
    late.abort();
    Rows.commit(transaction);
    assertEquals(1, count(begin(), PRIMARY));
  }

  /// Beside readers that keep everything from being freed, and whether or not the rows had entries.
  @Test
  void shouldInsertTheSameKeysRightAfterARollback() {
    StoreTransaction before = begin();
    for (int round = 0; round < 4; round++) {
      boolean entered = round % 2 == 1;
      boolean whole = round < 2;
      StoreTransaction transaction = begin();
      long mark = transaction.mark();
      try (BulkInsert insertion = table.bulkInsert(transaction);
          BulkInsert.Part part = insertion.newPart()) {
        for (int i = 0; i < 5000; i++) {
          insert(part, i, "t" + i);
        }
        if (entered) {
          insertion.finish(Duplicates.FAIL);
        }
      }
      if (whole) {
        transaction.abort();
      } else {
        transaction.rollbackTo(mark);
      }
      assertEquals(0, count(transaction.isEnded() ? begin() : transaction, PRIMARY));
      assertEquals(0, count(begin(), BY_TEXT));
      StoreTransaction again = whole ? begin() : transaction;
      for (long i = 0; i < 5000; i += 7) {
        Rows.insert(table, again, i, "t" + i);
      }
      assertEquals(715, count(again, BY_TEXT));
      again.abort();
    }
    assertEquals(0, count(before, PRIMARY));
    CheckReport.ofIndexes(store).assertSound();
  }

  @Test
  void shouldGiveAllMemoryBack() {
    MemoryStore memory = (MemoryStore) store;
    long used = -1;
    for (int round = 0; round < 3; round++) {
      StoreTransaction transaction = begin();
      try (BulkInsert insertion = table.bulkInsert(transaction);
          BulkInsert.Part part = insertion.newPart()) {
        Random random = new Random(round);
        for (int i = 0; i < 20_000; i++) {
          insert(part, random.nextLong(), "t" + i);
        }
        if (round == 1) {
          insertion.finish(Duplicates.FAIL);
        }
      }
      transaction.abort();
      Rows.collect(store);
      Rows.collect(store);
      if (used >= 0) {
        assertEquals(used, memory.pool().usedBytes(), "round " + round);
      }
      used = memory.pool().usedBytes();
    }
  }

  @Test
  void shouldGiveAllMemoryBackWhereThereIsTooLittle() {
    store.memoryLimit(6 << 20);
    MemoryStore memory = (MemoryStore) store;
    long used = -1;
    for (int round = 0; round < 6; round++) {
      boolean failed = false;
      StoreTransaction transaction = begin();
      if (round % 2 == 1) {
        Rows.insert(table, transaction, -1L, null);
      }
      try (BulkInsert insertion = table.bulkInsert(transaction)) {
        Random random = new Random(round);
        try (BulkInsert.Part part = insertion.newPart()) {
          // As many as have room without their entries in the tree, or more.
          for (int i = 0; i < (round < 2 ? 1_000_000 : 20_000 + 8000 * round); i++) {
            insert(part, random.nextLong(), round % 3 == 0 ? "t" + i : null);
          }
        }
        insertion.finish(Duplicates.FAIL);
      } catch (EngineException full) {
        assertEquals(ErrorCode.OUT_OF_MEMORY, full.code());
        failed = true;
      }
      assertTrue(failed || round >= 2, "round " + round);
      transaction.abort();
      Rows.collect(store);
      Rows.collect(store);
      long now = memory.pool().usedBytes();
      assertTrue(used < 0 || Math.abs(used - now) <= 64 << 10, round + ": " + used + ", " + now);
      used = used < 0 ? now : used;
    }
  }

  private StoreTransaction begin() {
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    begun.add(transaction);
    return transaction;
  }

  private static long insert(BulkInsert.Part part, long id, @Nullable String text) {
    try (VectorBatch batch = Rows.batch(id, text)) {
      return part.insert(batch, 0);
    }
  }

  private List<Rows.Row> rows(StoreTransaction reader, int index) {
    return Rows.drain(
        table.indexScan(reader.beginStatement(), index, KeyRange.ALL, false, ALL, true), table);
  }

  private int count(StoreTransaction reader, int index) {
    return rows(reader, index).size();
  }
}
