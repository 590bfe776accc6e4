package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Says in a serialization failure which table and key it was about.
final class ConflictReport {
  private static final int PAGE_SHIFT = 16;

  private ConflictReport() {}

  /// Adds table and, as far as the row can still be seen, key.
  static EngineException describe(
      EngineException failure, RowConflict conflict, Store store, CatalogSnapshot catalog) {
    Table table =
        catalog.tables().stream()
            .filter(each -> each.tableId() == conflict.tableId())
            .findFirst()
            .orElse(null);
    if (table == null) {
      return failure;
    }
    if (conflict.kind() == RowConflict.Kind.PRESERVED) {
      return failure
          .withTable(table.schema(), table.name())
          .withDetail(
              "Table \"%s.%s\" is preserved for long transaction %s."
                  .formatted(table.schema(), table.name(), conflict.ownerName()));
    }
    String key;
    try {
      key = key(table, conflict.rowId(), store);
    } catch (EngineException | IllegalArgumentException gone) {
      key = null; // dropped meanwhile, or the store closes: the failure itself matters more
    }
    String where = "table \"" + table.schema() + "." + table.name() + "\"";
    return failure
        .withTable(table.schema(), table.name())
        .withDetail(
            (key == null ? "A row" : "Key " + key)
                + " of "
                + where
                + " was changed by a concurrent transaction.");
  }

  private static @Nullable String key(Table table, long rowId, Store store) {
    Index index = table.primaryKey();
    if (index == null || rowId < 0) {
      return null;
    }
    int[] columns = index.columns().stream().mapToInt(Integer::intValue).toArray();
    TableStore rows = store.table(table.tableId());
    StoreTransaction reader = store.begin(true, false);
    try (RowCursor cursor =
            rows.scan(
                reader.beginStatement(),
                rowId >>> PAGE_SHIFT,
                (rowId >>> PAGE_SHIFT) + 1,
                columns,
                true);
        VectorBatch batch = new VectorBatch(columns.length)) {
      while (cursor.next(batch)) {
        for (int row = 0; row < batch.size; row++) {
          if (batch.rowIds[row] == rowId) {
            return text(table, columns, batch, row);
          }
        }
      }
      return null;
    } finally {
      reader.abort();
    }
  }

  private static String text(Table table, int[] columns, VectorBatch batch, int row) {
    List<String> names = new ArrayList<>();
    List<String> values = new ArrayList<>();
    for (int i = 0; i < columns.length; i++) {
      names.add(table.columns().get(columns[i]).name());
      values.add(
          Values.toText(table.columns().get(columns[i]).type().oid(), batch.columns[i].words[row]));
    }
    return "(" + String.join(", ", names) + ")=(" + String.join(", ", values) + ")";
  }
}
