package dev.kakehashi.engine.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.testing.KilledProcess;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The keys of updates that are taken back do not stay in the heap until the transaction ends.
final class LongRollbackTest {
  /// As the endpoint's, which does not go on without memory.
  private static final List<String> SMALL_HEAP =
      List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError");

  private static final int ROWS = 100_000;

  /// Two keys of each row change in each. Kept as an object and an array each, these keys alone would be 76 MB.
  private static final int ROUNDS = 5;

  private static final int BY_MIXED = 1;
  private static final int BY_NUMBER = 2;

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void shouldTakeBackChangedKeysInASmallHeap() throws Exception {
    assertEquals(
        List.of("savepoint", "nothing", "committed"),
        KilledProcess.run(SMALL_HEAP, Changer.class, 3, directory.toString()));
    CheckReport.of(directory).assertSound();
    try (Store store = open(directory)) {
      TableStore table =
          store.table(Long.parseLong(new String(store.catalog().get("table"), UTF_8)));
      assertRound(store, table, ROUNDS);
    }
  }

  private static Store open(Path directory) {
    return StoreFactory.open(new StoreConfig(directory, 1L << 30));
  }

  /// Whether every row has the keys of a round, and its entries.
  private static void assertRound(Store store, TableStore table, int round) {
    StoreTransaction reader = store.begin(true, false);
    ReadView view = reader.beginStatement();
    int[] columns = Rows.allColumns(table);
    for (int index : new int[] {BY_MIXED, BY_NUMBER}) {
      int rows = 0;
      try (RowCursor cursor = table.indexScan(view, index, KeyRange.ALL, false, columns, true);
          VectorBatch batch = new VectorBatch(columns.length)) {
        while (cursor.next(batch)) {
          for (int r = 0; r < batch.size; r++) {
            long id = batch.columns[0].words[r];
            assertEquals(mixed(id, round), batch.columns[1].words[r]);
            assertEquals(number(id, round), batch.columns[2].words[r]);
          }
          rows += batch.size;
        }
      }
      assertEquals(ROWS, rows);
    }
    reader.abort();
  }

  /// In no order.
  private static long mixed(long id, int round) {
    return (id * 31 + round) * 0x9E37_79B9_7F4A_7C15L;
  }

  private static long number(long id, int round) {
    return (long) round * ROWS + id;
  }

  /// Changes the keys of all rows in the table `(id int8, mixed int8, number int8 unique)` and takes that back, a part of a transaction and
  /// all of it, before it commits such a change.
  static final class Changer {
    private Changer() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(Path.of(arguments[0]));
      TableStore table = CatalogTool.createTable(store, definition(store));
      byte[] id = Long.toString(table.definition().tableId()).getBytes(UTF_8);
      CatalogTool.change(store, List.of(new CatalogChange.Put("table", id)));
      long[] rowIds = new long[ROWS];
      StoreTransaction filler = store.begin(false, false);
      filler.beginStatement();
      try (VectorBatch batch = Rows.batch(0L, 0L, 0L)) {
        for (int i = 0; i < ROWS; i++) {
          put(batch, i, 0);
          rowIds[i] = table.insert(filler, batch, 0);
        }
      }
      Rows.commit(filler);
      StoreTransaction transaction = store.begin(false, false);
      long mark = transaction.mark();
      for (int round = 1; round <= ROUNDS; round++) {
        updateAll(transaction, table, rowIds, round);
        transaction.rollbackTo(mark);
      }
      KilledProcess.acknowledge("savepoint");
      // The keys of the last round come back.
      updateAll(transaction, table, rowIds, ROUNDS);
      transaction.abort();
      assertRound(store, table, 0);
      KilledProcess.acknowledge("nothing");
      StoreTransaction next = store.begin(false, false);
      updateAll(next, table, rowIds, ROUNDS);
      Rows.commit(next);
      assertRound(store, table, ROUNDS);
      KilledProcess.acknowledge("committed");
      KilledProcess.awaitKill();
    }

    private static TableDefinition definition(Store store) {
      return new TableDefinition(
          store.nextObjectId(),
          List.of(ColumnKind.INTEGER, ColumnKind.INTEGER, ColumnKind.INTEGER),
          List.of(true, true, true),
          List.of(
              new IndexDefinition(store.nextObjectId(), "pkey", List.of(0), List.of(false), true),
              new IndexDefinition(store.nextObjectId(), "mixed", List.of(1), List.of(false), false),
              new IndexDefinition(
                  store.nextObjectId(), "number", List.of(2), List.of(false), true)));
    }

    private static void updateAll(
        StoreTransaction transaction, TableStore table, long[] rowIds, int round) {
      transaction.beginStatement();
      try (VectorBatch batch = Rows.batch(0L, 0L, 0L)) {
        for (int i = 0; i < ROWS; i++) {
          put(batch, i, round);
          table.update(transaction, rowIds[i], batch, 0);
        }
      }
    }

    private static void put(VectorBatch batch, long id, int round) {
      batch.columns[0].words[0] = id;
      batch.columns[1].words[0] = mixed(id, round);
      batch.columns[2].words[0] = number(id, round);
    }
  }
}
