package dev.kakehashi.engine.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.EngineException;
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
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A transaction's record is in the heap once: when it is written, and when it is read again after a crash. What has no room there is an error of the transaction's.
final class LongRecordTest {
  /// Of it a record may take 32 MB.
  private static final List<String> SMALL_HEAP = List.of("-Xmx96m", "-XX:+UseSerialGC");

  private static final int ROW_BYTES = 1000;
  private static final int ROWS = 28_000;
  private static final int TOO_LONG_ROWS = 80_000;

  /// Whose list of changes has no room.
  private static final int TOO_MANY_ROWS = 5_000_000;

  /// With an address and a size of 8 bytes for each value in one array it would be 64 MB, and half of it while that array grew.
  private static final int TAKEN_BACK_ROWS = 500_000;

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void shouldTakeAndRecoverARecordOfMoreThanHalfOfTheHeapsRoom() throws Exception {
    assertEquals(
        List.of("53200", "row 28000"),
        KilledProcess.run(SMALL_HEAP, Writer.class, 2, directory.toString()));
    assertRecovered();
  }

  @Test
  @Timeout(300)
  void shouldPrepareAndCommitSuchARecord() throws Exception {
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
        if (prefix.length == 0) {
          transaction.writes().encode(record);
        } else {
          transaction.writes().encodePrepared(prefix, record);
        }
        assertEquals(record.length(), transaction.writes().encodedBytes(prefix.length));
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

  /// Commits what fits, after what does not.
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(Path.of(arguments[0]));
      TableStore table = createTable(store);
      EngineException tooLong =
          assertThrows(
              EngineException.class,
              () -> insert(store, table, TOO_LONG_ROWS, "x".repeat(ROW_BYTES)));
      assertEquals(ErrorCode.OUT_OF_MEMORY, tooLong.code());
      EngineException tooMany =
          assertThrows(EngineException.class, () -> insert(store, table, TOO_MANY_ROWS, null));
      assertEquals(ErrorCode.OUT_OF_MEMORY, tooMany.code());
      KilledProcess.acknowledge("53200");
      insert(store, table, ROWS, "x".repeat(ROW_BYTES));
      KilledProcess.acknowledge("row " + ROWS);
      KilledProcess.awaitKill();
    }

    private static void insert(Store store, TableStore table, int rows, @Nullable String text) {
      StoreTransaction transaction = store.begin(false, false);
      try {
        insertRows(transaction, table, rows, text);
      } catch (EngineException e) {
        transaction.abort();
        throw e;
      }
      Rows.commit(transaction);
    }
  }

  private static void insertRows(
      StoreTransaction transaction, TableStore table, int rows, @Nullable String text) {
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
      while (!transaction.isEnded()) {
        try {
          Rows.commit(transaction);
        } catch (EngineException e) {
          // Until the base image has what was prepared; it can be asked for again.
          assertEquals(ErrorCode.OUT_OF_MEMORY, e.code());
        }
      }
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
