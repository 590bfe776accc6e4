package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Placement.Origin;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Changes that add a column to a table's present form, or drop one.
final class ColumnChanges {
  private ColumnChanges() {}

  /// @param value what the rows present have, as in [Rows]
  static CatalogChange add(TableDefinition table, ColumnKind kind, @Nullable Object value) {
    List<ColumnKind> kinds = new ArrayList<>(table.columns());
    List<Boolean> notNull = new ArrayList<>(table.notNull());
    List<Origin> origins = present(table);
    kinds.add(kind);
    notNull.add(false);
    try (VarHeap heap = new VarHeap()) {
      origins.add(
          Origin.added(value == null ? null : ValueCodec.value(kind, Rows.word(heap, value))));
    }
    return new CatalogChange.Reshape(
        new TableDefinition(table.tableId(), kinds, notNull, table.indexes(), table.placement()),
        origins);
  }

  static CatalogChange drop(TableDefinition table, int column) {
    List<ColumnKind> kinds = new ArrayList<>(table.columns());
    List<Boolean> notNull = new ArrayList<>(table.notNull());
    List<Origin> origins = present(table);
    kinds.remove(column);
    notNull.remove(column);
    origins.remove(column);
    List<IndexDefinition> indexes =
        table.indexes().stream()
            .map(index ->
                new IndexDefinition(
                    index.indexId(),
                    index.name(),
                    index.columns().stream().map(c -> c > column ? c - 1 : c).toList(),
                    index.descending(),
                    index.unique()))
            .toList();
    return new CatalogChange.Reshape(
        new TableDefinition(table.tableId(), kinds, notNull, indexes, table.placement()), origins);
  }

  private static List<Origin> present(TableDefinition table) {
    return new ArrayList<>(
        IntStream.range(0, table.columns().size()).mapToObj(Origin::of).toList());
  }
}
