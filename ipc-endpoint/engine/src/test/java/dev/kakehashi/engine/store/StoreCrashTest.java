package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.testing.KilledProcess;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process that writes is killed in the middle of it, again and again; what it had reported as stored must be there, each transaction
/// whole or not at all, and transactions of one writer without gaps.
final class StoreCrashTest {
  /// `-Dkakehashi.kills=200` makes a night of it.
  private static final int ROUNDS = Integer.getInteger("kakehashi.kills", 8);

  private static final int WRITERS = 3;
  private static final int MOST_ACKNOWLEDGED_BEFORE_KILL = 150;
  private static final int ROWS_PER_TABLE = 3;

  @TempDir Path directory;

  @Test
  @Timeout(3600)
  void shouldHaveEveryStoredCommitAfterAKill() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Set<String> acknowledged = new HashSet<>();
    for (int round = 0; round < ROUNDS; round++) {
      acknowledged.addAll(
          KilledProcess.run(
              Writer.class,
              1 + random.nextInt(MOST_ACKNOWLEDGED_BEFORE_KILL),
              directory.toString(),
              String.valueOf(round)));
      check(acknowledged);
    }
    System.out.println(acknowledged.size() + " acknowledged commits survived " + ROUNDS + " kills");
  }

  private void check(Set<String> acknowledged) {
    CheckReport.of(directory).assertSound();
    try (Store store = StoreFactory.open(new StoreConfig(directory, 1L << 30))) {
      StoreTransaction reader = store.begin(true, false);
      ReadView view = reader.beginStatement();
      Map<String, Integer> found = new HashMap<>();
      Map<String, Long> greatest = new HashMap<>();
      for (long tableId : tableIds(store)) {
        TableStore table = store.table(tableId);
        List<Rows.Row> rows = Rows.scan(table, view);
        assertEquals(rows.size(), table.rowCount());
        assertEquals(
            new HashSet<>(rows), new HashSet<>(Rows.indexScan(table, view, 0, KeyRange.ALL)));
        for (Rows.Row row : rows) {
          String transaction = (String) row.values().get(0);
          found.merge(transaction, 1, Integer::sum);
          int cut = transaction.lastIndexOf('-');
          greatest.merge(
              transaction.substring(0, cut),
              Long.parseLong(transaction.substring(cut + 1)),
              Math::max);
        }
      }
      reader.abort();
      found.forEach((name, rows) -> assertEquals(2 * ROWS_PER_TABLE, rows, name + " is not whole"));
      for (String name : acknowledged) {
        assertTrue(found.containsKey(name), name + " was reported as stored");
      }
      // Available commits may be lost, but only those after all that are there.
      greatest.forEach((writer, last) -> {
        for (long i = 0; i <= last; i++) {
          assertTrue(found.containsKey(writer + "-" + i), writer + " has a gap at " + i);
        }
      });
    }
  }

  private static long[] tableIds(Store store) {
    String ids = new String(store.catalog().get("tables"), StandardCharsets.UTF_8);
    return java.util.Arrays.stream(ids.split(",", -1)).mapToLong(Long::parseLong).toArray();
  }

  /// The process that is killed.
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) throws Exception {
      Store store = StoreFactory.open(new StoreConfig(Path.of(arguments[0]), 1L << 30));
      if (!store.catalog().containsKey("tables")) {
        createTables(store);
      }
      long[] tableIds = tableIds(store);
      List<Thread> threads = new ArrayList<>();
      for (int w = 0; w < WRITERS; w++) {
        String name = "round" + arguments[1] + "-writer" + w;
        Thread thread = new Thread(() -> write(store, tableIds, name));
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }

    private static void createTables(Store store) {
      List<CatalogChange> changes = new ArrayList<>();
      StringBuilder ids = new StringBuilder();
      for (int t = 0; t < 2; t++) {
        long tableId = store.nextObjectId();
        IndexDefinition index =
            new IndexDefinition(
                store.nextObjectId(), "key", List.of(0, 1), List.of(false, true), true);
        changes.add(
            new CatalogChange.CreateTable(
                new TableDefinition(
                    tableId,
                    List.of(ColumnKind.VARLENA, ColumnKind.INTEGER, ColumnKind.VARLENA),
                    List.of(true, true, false),
                    List.of(index))));
        ids.append(t == 0 ? "" : ",").append(tableId);
      }
      changes.add(new CatalogChange.Put("tables", ids.toString().getBytes(StandardCharsets.UTF_8)));
      CatalogTool.change(store, changes);
    }

    private static void write(Store store, long[] tableIds, String writer) {
      for (long i = 0; ; i++) {
        String name = writer + "-" + i;
        StoreTransaction transaction = store.begin(false, false);
        transaction.beginStatement();
        for (long tableId : tableIds) {
          for (long row = 0; row < ROWS_PER_TABLE; row++) {
            Rows.insert(
                store.table(tableId), transaction, name, row, row == 0 ? "v".repeat(5000) : null);
          }
        }
        // A row that is changed and one that goes again must not come back half.
        long victim = Rows.insert(store.table(tableIds[0]), transaction, name, 99L, "gone");
        store.table(tableIds[0]).delete(transaction, victim);
        boolean stored = i % 3 == 0;
        Rows.commit(transaction, stored);
        if (stored) {
          KilledProcess.acknowledge(name);
        }
      }
    }
  }
}
