package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/// Rows about what belongs to one table: its columns, indexes and foreign keys.
final class TableRows {
  private TableRows() {}

  static void addColumns(Collection<@Nullable Object[]> rows, Table table) {
    Index key = table.primaryKey();
    long ordinal = 0;
    for (int i = 0; i < table.columns().size(); i++) {
      Column column = table.columns().get(i);
      if (column.hidden()) {
        continue;
      }
      ordinal++;
      int keyPosition = key == null ? -1 : key.columns().indexOf(i);
      rows.add(
          new Object[] {
            table.schema(),
            table.name(),
            column.name(),
            ordinal,
            (long) column.type().oid(),
            (long) column.type().typeModifier(),
            column.notNull(),
            column.defaultText(),
            keyPosition < 0 ? null : (Object) (keyPosition + 1L),
            generated(column),
            column.generation()
          });
    }
  }

  /// Where values of the column come from if none are given: from a sequence of its own or an expression, or null.
  private static @Nullable String generated(Column column) {
    if (column.generation() != null) {
      return "stored";
    }
    Column.Owned sequence = column.sequence();
    return sequence == null
        ? null
        : switch (sequence.generated()) {
          case SERIAL -> "serial";
          case BY_DEFAULT -> "by default";
          case ALWAYS -> "always";
        };
  }

  static void addIndexes(Collection<@Nullable Object[]> rows, Table table) {
    for (Index index : table.indexes()) {
      for (int k = 0; k < index.columns().size(); k++) {
        rows.add(
            new Object[] {
              table.schema(),
              table.name(),
              index.name(),
              index.unique(),
              index.primary(),
              table.columns().get(index.columns().get(k)).shownName(),
              k + 1L,
              index.descending().get(k),
              !index.predicate().isEmpty(),
              index.nullsFirst().get(k),
              index.nullsNotDistinct()
            });
      }
    }
  }

  static void addForeignKeys(
      Collection<@Nullable Object[]> rows, Table table, CatalogSnapshot catalog) {
    for (ForeignKey key : table.foreignKeys()) {
      Table referenced = catalog.table(key.referencedId());
      for (int k = 0; referenced != null && k < key.columns().size(); k++) {
        rows.add(
            new Object[] {
              table.schema(),
              table.name(),
              key.name(),
              table.columns().get(key.columns().get(k)).name(),
              k + 1L,
              referenced.schema(),
              referenced.name(),
              referenced.columns().get(key.referencedColumns().get(k)).name(),
              key.onUpdate().text(),
              key.onDelete().text(),
              key.matchFull() ? "FULL" : "NONE",
              key.timing() != ForeignKey.Timing.NOT_DEFERRABLE,
              key.timing() == ForeignKey.Timing.INITIALLY_DEFERRED,
              key.validated()
            });
      }
    }
  }
}
