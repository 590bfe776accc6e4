package dev.kakehashi.engine.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.ColumnKind;
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

/// A transaction has no limit by rows.
///
/// With `-Dkakehashi.transaction.rows=20000000 -Dkakehashi.transaction.heap=1g` as many as are promised.
final class ManyRowsTest {
  private static final int ROWS = Integer.getInteger("kakehashi.transaction.rows", 1_500_000);
  private static final String HEAP = System.getProperty("kakehashi.transaction.heap", "128m");

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void shouldCommitAndRecoverMoreRowsThanTheHeapHasRoomFor() throws Exception {
    List<String> options = List.of("-Xmx" + HEAP, "-XX:+UseSerialGC");
    assertEquals(
        List.of("committed"),
        KilledProcess.run(options, Writer.class, 1, directory.toString(), Integer.toString(ROWS)));
    assertEquals(
        List.of(ROWS + " rows"), KilledProcess.run(options, Reader.class, 1, directory.toString()));
  }

  private static Store open(String directory) {
    return StoreFactory.open(new StoreConfig(Path.of(directory), 8L << 30));
  }

  /// Commits rows in one transaction.
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(arguments[0]);
      int rows = Integer.parseInt(arguments[1]);
      TableStore table =
          CatalogTool.createTable(
              store,
              new TableDefinition(
                  store.nextObjectId(),
                  List.of(ColumnKind.INTEGER, ColumnKind.INTEGER),
                  List.of(true, true),
                  List.of(
                      new IndexDefinition(
                          store.nextObjectId(), "pkey", List.of(0), List.of(false), true))));
      byte[] id = Long.toString(table.definition().tableId()).getBytes(UTF_8);
      CatalogTool.change(store, List.of(new CatalogChange.Put("table", id)));
      StoreTransaction transaction = store.begin(false, false);
      transaction.beginStatement();
      try (BulkInsert insertion = table.bulkInsert(transaction);
          BulkInsert.Part part = insertion.newPart();
          VectorBatch batch = Rows.batch(0L, 0L)) {
        for (int i = 0; i < rows; i++) {
          batch.columns[0].words[0] = i;
          batch.columns[1].words[0] = -i;
          part.insert(batch, 0);
        }
        insertion.finish(BulkInsert.Duplicates.FAIL);
      }
      Rows.commit(transaction);
      KilledProcess.acknowledge("committed");
      KilledProcess.awaitKill();
    }
  }

  /// Counts the rows.
  static final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = open(arguments[0]);
      String tableId = new String(store.catalog().get("table"), UTF_8);
      KilledProcess.acknowledge(store.table(Long.parseLong(tableId)).rowCount() + " rows");
      KilledProcess.awaitKill();
    }
  }
}
