package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.Store.CatalogChange;
import java.util.List;

/// Changes of the catalogue in a transaction of their own.
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
}
