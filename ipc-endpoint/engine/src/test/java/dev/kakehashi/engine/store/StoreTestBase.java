package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// A store in a directory of its own, and a table `(id int8 primary key, name text, amount int8)` with an index on name.
@SuppressWarnings("NullAway.Init")
abstract class StoreTestBase {
  static final int PRIMARY = 0;
  static final int BY_NAME = 1;

  @TempDir Path directory;
  Store store;
  TableStore table;
  long tableId;

  @BeforeEach
  void openWithTable() {
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    tableId = store.nextObjectId();
    table = CatalogTool.createTable(store, definition(tableId));
  }

  TableDefinition definition(long id) {
    return new TableDefinition(
        id,
        List.of(ColumnKind.INTEGER, ColumnKind.VARLENA, ColumnKind.INTEGER),
        List.of(true, false, false),
        List.of(
            new IndexDefinition(
                store.nextObjectId(), "items_pkey", List.of(0), List.of(false), true),
            new IndexDefinition(
                store.nextObjectId(), "items_name", List.of(1), List.of(false), false)));
  }

  @AfterEach
  void closeStore() {
    store.close();
  }

  void reopen() {
    store.close();
    store = StoreFactory.open(new StoreConfig(directory, 1L << 30));
    table = store.table(tableId);
  }

  StoreTransaction begin() {
    return store.begin(false, false);
  }

  /// Inserts a row in a transaction of its own.
  long insertCommitted(Object... values) {
    StoreTransaction transaction = begin();
    transaction.beginStatement();
    long rowId = Rows.insert(table, transaction, values);
    Rows.commit(transaction);
    return rowId;
  }

  /// All rows that a new snapshot sees.
  List<Rows.Row> rows() {
    StoreTransaction transaction = store.begin(true, false);
    try {
      return Rows.scan(table, transaction.beginStatement());
    } finally {
      transaction.abort();
    }
  }

  /// Rows with a key of the primary key, seen by a new snapshot.
  List<Rows.Row> byId(long id) {
    StoreTransaction transaction = store.begin(true, false);
    try {
      return Rows.indexScan(table, transaction.beginStatement(), PRIMARY, KeyRange.equal(id));
    } finally {
      transaction.abort();
    }
  }
}
