package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.testing.KilledProcess;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process that changes columns and rows of a table is killed again and again. Its transactions follow from the seed, so that after each
/// kill the table is compared with what the first so many of them make of it.
final class StoreColumnsCrashTest {
  /// `-Dkakehashi.kills=200` makes a night of it.
  private static final int ROUNDS = Integer.getInteger("kakehashi.kills", 9) / 3;

  private static final int MOST_ACKNOWLEDGED_BEFORE_KILL = 80;
  private static final String TABLE = "table";
  private static final String COUNT = "count";
  private static final List<ColumnKind> COLUMNS = List.of(ColumnKind.INTEGER, ColumnKind.VARLENA);

  @TempDir Path directory;

  @Test
  @Timeout(3600)
  void shouldHaveWholeTransactionsAfterAKill() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StoreColumnsCrashTest seed " + seed);
    Random random = new Random(seed);
    long last = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<String> acknowledged =
          KilledProcess.run(
              Alterer.class,
              1 + random.nextInt(MOST_ACKNOWLEDGED_BEFORE_KILL),
              directory.toString(),
              String.valueOf(seed));
      last = check(seed, Math.max(last, Long.parseLong(acknowledged.getLast())));
    }
    System.out.println(last + " transactions, " + ROUNDS + " kills");
  }

  /// @return transactions that are there
  private long check(long seed, long acknowledged) {
    CheckReport.of(directory).assertSound();
    try (Store store = open(directory)) {
      long count = number(store, COUNT);
      assertTrue(count >= acknowledged, count + " are there, " + acknowledged + " were reported");
      TableStore table = store.table(number(store, TABLE));
      ColumnsModel model = new ColumnsModel(COLUMNS);
      for (long i = 0; i < count; i++) {
        model = transaction(seed, i, model, table, null);
      }
      StoreTransaction reader = store.begin(true, false);
      model.assertEqual(table, reader.beginStatement(), "seed %d, %d".formatted(seed, count));
      reader.abort();
      return count;
    }
  }

  private static Store open(Path directory) {
    return StoreFactory.open(new StoreConfig(directory, 1L << 30));
  }

  private static long number(Store store, String key) {
    return ByteBuffer.wrap(store.catalog().get(key)).getLong();
  }

  private static CatalogChange put(String key, long number) {
    return new CatalogChange.Put(key, ByteBuffer.allocate(8).putLong(number).array());
  }

  /// Makes the changes of the i-th transaction, some of which are taken back by a savepoint.
  ///
  /// @param transaction null: in the model only
  private static ColumnsModel transaction(
      long seed,
      long i,
      ColumnsModel before,
      TableStore table,
      @Nullable StoreTransaction transaction) {
    Random random = new Random(seed * 31 + i);
    ColumnsModel model = before;
    for (int part = random.nextInt(3); part >= 0; part--) {
      ColumnsModel next = model.copy();
      long mark = transaction == null ? 0 : transaction.mark();
      for (int step = random.nextInt(5); step >= 0; step--) {
        next.step(random, table, transaction);
      }
      if (random.nextInt(4) > 0) {
        model = next;
      } else if (transaction != null) {
        transaction.rollbackTo(mark);
      }
    }
    return model;
  }

  /// The process that is killed.
  static final class Alterer {
    private Alterer() {}

    public static void main(String[] arguments) {
      long seed = Long.parseLong(arguments[1]);
      try (Store store = open(Path.of(arguments[0]))) {
        if (!store.catalog().containsKey(TABLE)) {
          create(store);
        }
        TableStore table = store.table(number(store, TABLE));
        long count = number(store, COUNT);
        ColumnsModel model = new ColumnsModel(COLUMNS);
        for (long i = 0; ; i++) {
          if (i < count) {
            model = transaction(seed, i, model, table, null);
            continue;
          }
          StoreTransaction transaction = store.begin(false, false);
          transaction.beginStatement();
          model = transaction(seed, i, model, table, transaction);
          transaction.define(put(COUNT, i + 1));
          boolean stored = i % 3 != 0;
          Rows.commit(transaction, stored);
          if (stored) {
            KilledProcess.acknowledge(i + 1);
          }
        }
      }
    }

    private static void create(Store store) {
      long tableId = store.nextObjectId();
      IndexDefinition key =
          new IndexDefinition(store.nextObjectId(), "key", List.of(0), List.of(false), true);
      CatalogTool.change(
          store,
          List.of(
              new CatalogChange.CreateTable(
                  new TableDefinition(tableId, COLUMNS, List.of(true, false), List.of(key))),
              put(TABLE, tableId),
              put(COUNT, 0)));
    }
  }
}
