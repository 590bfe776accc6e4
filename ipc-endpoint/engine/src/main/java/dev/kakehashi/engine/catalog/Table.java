package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.store.TableDefinition;
import dev.kakehashi.engine.type.Types;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A table as of one version of the catalogue.
///
/// @param tableId the store's number; negative for system tables, which the store does not have
/// @param indexes the primary key first when there is one, positions as in the store
public record Table(
    String schema, String name, long tableId, List<Column> columns, List<Index> indexes) {

  public boolean isSystem() {
    return tableId < 0;
  }

  /// Position of a column, or -1.
  public int columnIndex(String columnName) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(columnName)) {
        return i;
      }
    }
    return -1;
  }

  public @Nullable Index primaryKey() {
    return !indexes.isEmpty() && indexes.getFirst().primary() ? indexes.getFirst() : null;
  }

  /// The physical side.
  public TableDefinition definition() {
    List<ColumnKind> kinds = new ArrayList<>();
    List<Boolean> notNull = new ArrayList<>();
    for (Column column : columns) {
      kinds.add(Types.kind(column.type().oid()));
      notNull.add(column.notNull());
    }
    return new TableDefinition(
        tableId, kinds, notNull, indexes.stream().map(Index::definition).toList());
  }

  /// The same table with other indexes.
  public Table withIndexes(List<Index> newIndexes) {
    return new Table(schema, name, tableId, columns, List.copyOf(newIndexes));
  }
}
