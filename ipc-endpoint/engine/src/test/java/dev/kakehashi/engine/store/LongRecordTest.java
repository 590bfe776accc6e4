package dev.kakehashi.engine.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.transaction.RowTransaction;
import dev.kakehashi.engine.testing.KilledProcess;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A transaction may change more than the heap has room for: it is written, and read again after a crash, a piece at a time.
final class LongRecordTest {
  private static final List<String> SMALL_HEAP = List.of("-Xmx96m", "-XX:+UseSerialGC");

  private static final int ROW_BYTES = 1000;

  /// More than the heap is.
  private static final int ROWS = 100_000;

  /// With an address and a size of 8 bytes for each value in one array it would be 64 MB, and half of it while that array grew.
  private static final int TAKEN_BACK_ROWS = 500_000;

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void shouldTakeAndRecoverMoreThanTheHeapHasRoomFor() throws Exception {
    assertEquals(
        List.of("row " + ROWS),
        KilledProcess.run(SMALL_HEAP, Writer.class, 1, directory.toString()));
    assertRecovered();
  }

  @Test
  @Timeout(300)
  void shouldPrepareAndCommitAsMuch() throws Exception {
    assertEquals(
        List.of("prepared", "committed"),
        KilledProcess.run(SMALL_HEAP, Preparer.class, 2, directory.toString()));
    assertRecovered();
  }

  @Test
  void shouldKnowHowLongARecordBecomes() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try (Store store = open(directory)) {
      TableStore table = createTable(store);
      for (int round = 0; round < 20; round++) {
        RowTransaction transaction = (RowTransaction) store.begin(false, false);
        transaction.beginStatement();
        for (int i = 0; i < 200; i++) {
          long row =
              Rows.insert(
                  table,
                  transaction,
                  random.nextLong() >> random.nextInt(64),
                  random.nextInt(5) == 0 ? null : "x".repeat(random.nextInt(20_000)),
                  random.nextBoolean() ? null : random.nextLong());
          if (random.nextInt(4) == 0) {
            table.delete(transaction, row);
          }
        }
        byte[] prefix = new byte[random.nextInt(40)];
        LogRecord record = new LogRecord(0);
        transaction.writes().encode(prefix, record);
        assertEquals(
            record.length(), transaction.writes().encodedBytes(prefix.length, Long.MAX_VALUE));
        transaction.abort();
      }
    }
  }

  @Test
  @Timeout(300)
  void shouldTakeBackARowsValuesInASmallHeap() throws Exception {
    assertEquals(
        List.of("nothing", "one row"),
        KilledProcess.run(SMALL_HEAP, TakenBack.class, 2, directory.toString()));
  }

  private void assertRecovered() throws Exception {
    assertEquals(
        List.of(ROWS + " rows"),
        KilledProcess.run(SMALL_HEAP, Reader.class, 1, directory.toString()));
    CheckReport.of(directory).assertSound();
  }

  private static Store open(Path directory) {
    return StoreFactory.open(new StoreConfig(directory, 1L << 30));
  }

  private static TableStore createTable(Store store, ColumnKind... kinds) {
    return CatalogTool.createTable(
        store,
        new TableDefinition(
            store.nextObjectId(),
            List.of(kinds),
            Collections.nCopies(kinds.length, false),
            List.of()));
  }

  /// `(id int8, text text, number int8)`, which the next process finds.
  private static TableStore createTable(Store store) {
    TableStore table =
        createTable(store, ColumnKind.INTEGER, ColumnKind.VARLENA, ColumnKind.INTEGER);
    byte[] id = Long.toString(table.definition().tableId()).getBytes(UTF_8);
    CatalogTool.change(store, List.of(new CatalogChange.Put("table", id)));
    return table;
  }

  /// Takes many rows back, of which each has several values outside of its page.
  static final class TakenBack {
    private static final int VALUES = 6;

    private TakenBack() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(Path.of(arguments[0]));
      ColumnKind[] kinds = new ColumnKind[VALUES];
      Arrays.fill(kinds, ColumnKind.VARLENA);
      TableStore table = createTable(store, kinds);
      Object[] values = new Object[VALUES];
      Arrays.fill(values, "a value that is not kept in the row's page");
      StoreTransaction transaction = store.begin(false, false);
      transaction.beginStatement();
      try (VectorBatch batch = Rows.batch(values)) {
        for (int i = 0; i < TAKEN_BACK_ROWS; i++) {
          table.insert(transaction, batch, 0);
        }
      }
      transaction.abort();
      if (table.rowCount() == 0) {
        KilledProcess.acknowledge("nothing");
      }
      StoreTransaction next = store.begin(false, false);
      next.beginStatement();
      Rows.insert(table, next, values);
      Rows.commit(next);
      KilledProcess.acknowledge("one row");
      KilledProcess.awaitKill();
    }
  }

  /// Commits.
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(Path.of(arguments[0]));
      TableStore table = createTable(store);
      insert(store, table, ROWS, "x".repeat(ROW_BYTES));
      KilledProcess.acknowledge("row " + ROWS);
      KilledProcess.awaitKill();
    }

    private static void insert(Store store, TableStore table, int rows, String text) {
      StoreTransaction transaction = store.begin(false, false);
      insertRows(transaction, table, rows, text);
      Rows.commit(transaction);
    }
  }

  private static void insertRows(
      StoreTransaction transaction, TableStore table, int rows, String text) {
    transaction.beginStatement();
    try (VectorBatch batch = Rows.batch(0L, text, null)) {
      for (int id = 0; id < rows; id++) {
        batch.columns[0].words[0] = id;
        table.insert(transaction, batch, 0);
      }
    }
  }

  /// Prepares and commits as much.
  static final class Preparer {
    private Preparer() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(Path.of(arguments[0]));
      TableStore table = createTable(store);
      StoreTransaction transaction = store.begin(false, false);
      insertRows(transaction, table, ROWS, "x".repeat(ROW_BYTES));
      CompletableFuture<Optional<Throwable>> prepared = new CompletableFuture<>();
      transaction.prepare(
          new Preparation("long", "owner", "user", 1, 0),
          failure -> prepared.complete(Optional.ofNullable(failure)));
      assertEquals(Optional.empty(), prepared.join());
      KilledProcess.acknowledge("prepared");
      Rows.commit(transaction);
      KilledProcess.acknowledge("committed");
      KilledProcess.awaitKill();
    }
  }

  /// Counts the rows.
  static final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(Path.of(arguments[0]));
      String tableId = new String(store.catalog().get("table"), UTF_8);
      KilledProcess.acknowledge(store.table(Long.parseLong(tableId)).rowCount() + " rows");
      KilledProcess.awaitKill();
    }
  }
}
