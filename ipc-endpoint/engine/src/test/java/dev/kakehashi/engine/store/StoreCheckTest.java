package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SegmentedLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.table.RowTable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A sound directory passes and stays as it is; each kind of damage is found and named.
final class StoreCheckTest extends StoreTestBase {
  /// The log's first frame comes after the header of its first segment.
  private static final int FIRST_FRAME_BYTES = 4096;

  private void fill(int from, int to) {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    for (long id = from; id < to; id++) {
      Rows.insert(table, transaction, id, id % 7 == 0 ? null : "name of " + id, 0L);
    }
    Rows.commit(transaction);
  }

  /// Copies the directory of the open store: what a kill would leave.
  private void copyAsKilled(Path target) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path to = target.resolve(directory.relativize(file).toString());
        Files.createDirectories(to.getParent());
        Files.copy(file, to);
      }
    }
  }

  private Map<String, Long> sizes() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        sizes.put(
            directory.relativize(file) + " " + Files.getLastModifiedTime(file), Files.size(file));
      }
    }
    return sizes;
  }

  /// Writes to the disk behind the store's back.
  private void write(LogRecord record) {
    try (SegmentedLog log =
        SegmentedLog.open(DataDirectory.log(directory), DataDirectory.database(directory))) {
      log.write(List.of(record));
    }
  }

  @Test
  void shouldPassASoundDirectoryWithoutChangingIt() throws IOException {
    fill(0, 5000);
    store.close();
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = store.table(tableId);
    StoreTransaction changer = begin();
    for (Rows.Row row : Rows.scan(table, changer.beginStatement())) {
      long id = (Long) row.values().getFirst();
      if (id % 3 == 0) {
        table.delete(changer, row.rowId());
      } else if (id % 3 == 1) {
        Rows.update(table, changer, row.rowId(), id + 10_000, "changed", null);
      }
    }
    Rows.commit(changer);
    store.close();
    Map<String, Long> before = sizes();
    CheckReport report = CheckReport.of(directory);
    report.assertSound();
    assertEquals(before, sizes());
    report.assertChecked("table %d: 3333 rows decode".formatted(tableId));
    report.assertChecked("table %d: index \"items_name\": 3333 entries".formatted(tableId));
  }

  @Test
  void shouldSeeWhatOnlyTheLogHas(@TempDir Path killed) throws IOException {
    fill(0, 1000);
    long dropped = store.nextObjectId();
    CatalogTool.change(store, List.of(new Store.CatalogChange.CreateTable(definition(dropped))));
    TableStore kept = table;
    table = store.table(dropped);
    fill(0, 10);
    CatalogTool.change(store, List.of(new Store.CatalogChange.DropTable(dropped)));
    table = kept;
    fill(1000, 1100);
    copyAsKilled(killed);
    CheckReport report = CheckReport.of(killed);
    report.assertSound();
    report.assertChecked("table %d: 1100 rows decode".formatted(tableId));
  }

  @Test
  void shouldFindADamagedSortedFile() throws IOException {
    fill(0, 3000);
    store.close();
    Path file;
    try (Stream<Path> files = Files.list(DataDirectory.database(directory))) {
      file = files.filter(each -> each.toString().endsWith(".sst")).findFirst().orElseThrow();
    }
    flip(file, Files.size(file) / 3);
    List<String> problems = CheckReport.of(directory).problems;
    assertTrue(
        problems.stream().anyMatch(problem -> problem.contains(file.getFileName().toString())),
        problems.toString());
  }

  @Test
  void shouldFindADamagedLog(@TempDir Path killed) throws IOException {
    fill(0, 100);
    fill(100, 200);
    copyAsKilled(killed);
    Path segment = DataDirectory.log(killed).resolve("0000000000000000.log");
    flip(segment, FIRST_FRAME_BYTES + 40);
    CheckReport.of(killed).assertProblem(segment.toString(), "is damaged");
  }

  @Test
  void shouldFindARowThatCannotBeDecoded() {
    fill(0, 10);
    store.close();
    LogRecord record = new LogRecord(64);
    record.put(StoreKeys.row(tableId, 77), new byte[] {3, 0, 10, 100, 'x'});
    write(record);
    CheckReport.of(directory).assertProblem("table " + tableId, "row 77", "is not there");
  }

  @Test
  void shouldFindANullWhereNoneMayBe() {
    store.close();
    LogRecord record = new LogRecord(64);
    record.put(StoreKeys.row(tableId, 5), new byte[] {3, 0b111});
    write(record);
    CheckReport.of(directory).assertProblem("row 5", "column 1 is null");
  }

  @Test
  void shouldFindADuplicateKey() {
    store.close();
    LogRecord record = new LogRecord(64);
    for (long row = 1; row <= 3; row++) {
      record.put(StoreKeys.row(tableId, row), new byte[] {3, 0b110, (byte) (row == 2 ? 8 : 10)});
    }
    write(record);
    CheckReport.of(directory).assertProblem("items_pkey", "rows 1 and 3");
  }

  @Test
  void shouldFindADefinitionThatCannotBeRead() {
    store.close();
    LogRecord record = new LogRecord(64);
    record.put(StoreKeys.table(9), new byte[] {99});
    write(record);
    CheckReport.of(directory).assertProblem("definition of table 9", "format 99");
  }

  @Test
  void shouldFindAnIndexThatDoesNotFitItsRows() {
    fill(0, 50);
    TableIndex index = ((RowTable) table).form.indexes()[PRIMARY];
    KeyBuffer key = keyOf(index, 7);
    KeyBuffer missing = new KeyBuffer(64);
    missing.set(key);
    index.tree.remove(missing);
    CheckReport.ofIndexes(store).assertProblem("items_pkey", "row 7 has no entry");
    index.tree.insert(key);
    KeyBuffer bogus = keyOf(index, 8);
    bogus.length -= 8;
    bogus.putLong(9);
    index.tree.insert(bogus);
    CheckReport.ofIndexes(store).assertProblem("items_pkey", "has no row 9");
    index.tree.remove(bogus);
    CheckReport.ofIndexes(store).assertSound();
  }

  private KeyBuffer keyOf(TableIndex index, int slot) {
    RowTable rows = (RowTable) table;
    Page page = java.util.Objects.requireNonNull(rows.page(0));
    RowVersion version = new RowVersion(rows.form.layout.columns);
    version.readHead(page, slot);
    KeyBuffer key = new KeyBuffer(64);
    index.encode(version, key);
    key.putLong(page.rowId(slot));
    return key;
  }

  private static void flip(Path file, long at) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(at);
      int value = bytes.read();
      bytes.seek(at);
      bytes.write(value ^ 0x55);
    }
  }
}
