package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Versions that are not needed any more go, needed ones stay, and damage is found.
final class StoreCollectionTest extends StoreTestBase {
  private MemoryStore memoryStore() {
    return (MemoryStore) store;
  }

  private long reserved() {
    return memoryStore().pool().reservedBytes();
  }

  private void updateAll(int rows, int rounds) {
    for (int round = 0; round < rounds; round++) {
      StoreTransaction transaction = begin();
      ReadView view = transaction.beginStatement();
      for (Rows.Row row : Rows.scan(table, view)) {
        long id = (Long) row.values().get(0);
        Rows.update(table, transaction, row.rowId(), id, "name " + round + "-" + id, (long) round);
      }
      Rows.commit(transaction, false);
      Rows.collect(store);
    }
    assertEquals(rows, rows().size());
  }

  private void fill(int rows) {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    for (long id = 0; id < rows; id++) {
      Rows.insert(table, transaction, id, "name of " + id, 0L);
    }
    Rows.commit(transaction);
  }

  @Test
  void shouldReuseTheMemoryOfOldVersions() {
    fill(2000);
    updateAll(2000, 3);
    long before = reserved();
    updateAll(2000, 40);
    assertTrue(reserved() <= before + (2 << 20), "grew from " + before + " to " + reserved());
  }

  @Test
  void shouldReuseSlotsAndEntriesOfDeletedRows() {
    fill(5000);
    long pages = 0;
    for (int round = 0; round < 20; round++) {
      StoreTransaction deleter = begin();
      for (Rows.Row row : Rows.scan(table, deleter.beginStatement())) {
        assertTrue(table.delete(deleter, row.rowId()));
      }
      Rows.commit(deleter, false);
      Rows.collect(store);
      assertEquals(0, table.rowCount());
      fill(5000);
      assertEquals(5000, table.rowCount());
      if (round == 1) {
        pages = table.pageCount();
      }
    }
    assertEquals(pages, table.pageCount());
    assertEquals(5000, rows().size());
    assertEquals(1, byId(4321).size());
  }

  @Test
  void shouldKeepWhatAnOldSnapshotNeeds() {
    fill(300);
    StoreTransaction old = store.begin(true, false);
    ReadView view = old.beginStatement();
    List<Rows.Row> before = Rows.scan(table, view);
    updateAll(300, 10);
    StoreTransaction deleter = begin();
    for (Rows.Row row : Rows.scan(table, deleter.beginStatement())) {
      table.delete(deleter, row.rowId());
    }
    Rows.commit(deleter);
    Rows.collect(store);
    assertEquals(0, rows().size());
    assertEquals(before, Rows.scan(table, view));
    assertEquals(before, Rows.indexScan(table, view, PRIMARY, KeyRange.ALL));
    assertEquals(300, Rows.indexScan(table, view, BY_NAME, KeyRange.ALL).size());
    old.abort();
  }

  @Test
  void shouldFreeTheMemoryOfDroppedTables() {
    long before = 0;
    for (int round = 0; round < 12; round++) {
      long id = store.nextObjectId();
      CatalogTool.change(store, List.of(new CatalogChange.CreateTable(definition(id))));
      table = store.table(id);
      fill(5000);
      CatalogTool.change(store, List.of(new CatalogChange.DropTable(id)));
      Rows.collect(store);
      if (round == 2) {
        before = reserved();
      }
    }
    assertTrue(reserved() <= before + (2 << 20), "grew from " + before + " to " + reserved());
  }

  @Test
  void shouldNotCountWhatADroppedTableHad() {
    long used = memoryStore().pool().usedBytes();
    long id = store.nextObjectId();
    CatalogTool.change(store, List.of(new CatalogChange.CreateTable(definition(id))));
    table = store.table(id);
    fill(50_000);
    long before = reserved();
    CatalogTool.change(store, List.of(new CatalogChange.DropTable(id)));
    Rows.collect(store);
    assertTrue(
        memoryStore().pool().usedBytes() <= used,
        "used %d, %d".formatted(used, memoryStore().pool().usedBytes()));
    long again = store.nextObjectId();
    CatalogTool.change(store, List.of(new CatalogChange.CreateTable(definition(again))));
    table = store.table(again);
    fill(50_000);
    assertTrue(reserved() <= before, "grew from " + before + " to " + reserved());
    assertEquals(50_000, rows().size());
  }

  @Test
  void shouldRefuseADamagedImage() throws IOException {
    fill(3000);
    store.close();
    // Opening turns the log into a sorted file; its blocks are what we damage.
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    store.close();
    for (Path file : sortedFiles()) {
      try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
        long middle = bytes.length() / 3;
        bytes.seek(middle);
        int value = bytes.read();
        bytes.seek(middle);
        bytes.write(value ^ 0x55);
      }
    }
    EngineException refused =
        assertThrows(
            EngineException.class, () -> StoreFactory.open(new StoreConfig(directory, 1L << 30)));
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
  }

  private List<Path> sortedFiles() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      List<Path> found = files.filter(file -> file.toString().endsWith(".sst")).toList();
      assertTrue(!found.isEmpty(), "no sorted files");
      return found;
    }
  }
}
