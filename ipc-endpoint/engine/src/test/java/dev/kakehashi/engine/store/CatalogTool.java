package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import java.util.List;

/// Changes of the catalogue, and of what it describes, in a transaction of their own.
public final class CatalogTool {
  private CatalogTool() {}

  /// Makes the changes and waits until they are durable; when one is refused, none is made.
  public static void change(Store store, List<? extends CatalogChange> changes) {
    StoreTransaction transaction = store.begin(false, false);
    try {
      transaction.beginStatement();
      changes.forEach(transaction::define);
      Rows.commit(transaction);
    } finally {
      transaction.abort();
    }
  }

  /// Makes a table in the same way.
  public static TableStore createTable(Store store, TableDefinition definition) {
    change(store, List.of(new CatalogChange.CreateTable(definition)));
    return store.table(definition.tableId());
  }

  /// Inserts a row without a look at what the catalogue says of its table.
  public static void insert(Store store, long tableId, Long... values) {
    StoreTransaction transaction = store.begin(false, false);
    try {
      transaction.beginStatement();
      Rows.insert(store.table(tableId), transaction, (Object[]) values);
      Rows.commit(transaction);
    } finally {
      transaction.abort();
    }
  }
}
