package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows about constraints: `kakehashi_catalog.keys`, and `table_constraints`, `key_column_usage` and `referential_constraints` of the
/// information schema.
final class KeyRows {
  private static final String YES = "YES";
  private static final String NO = "NO";

  private KeyRows() {}

  /// A column of a key or foreign key each: table_schema, table_name, constraint_name, constraint_type, column_name, ordinal_position,
  /// is_deferrable, initially_deferred, referenced_schema, referenced_table, referenced_column, referenced_constraint, match_option,
  /// update_rule, delete_rule, nulls_distinct.
  static List<@Nullable Object[]> keys(CatalogNames names) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Table table : names.tables()) {
      for (Index index : table.indexes()) {
        for (int k = 0; index.constraint() && k < index.columns().size(); k++) {
          rows.add(
              new @Nullable Object[] {
                table.schema(),
                table.name(),
                index.name(),
                type(index),
                column(table, index.columns().get(k)),
                k + 1L,
                index.deferrable(),
                isDeferred(index.timing()),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                index.primary() ? null : (Boolean) !index.nullsNotDistinct()
              });
        }
      }
      for (ForeignKey key : table.foreignKeys()) {
        addForeignKey(rows, table, key, names.catalog());
      }
    }
    return rows;
  }

  private static void addForeignKey(
      List<@Nullable Object[]> rows, Table table, ForeignKey key, CatalogSnapshot catalog) {
    Table referenced = catalog.table(key.referencedId());
    for (int k = 0; referenced != null && k < key.columns().size(); k++) {
      Index unique = referencedKey(key, referenced);
      rows.add(
          new @Nullable Object[] {
            table.schema(),
            table.name(),
            key.name(),
            "FOREIGN KEY",
            column(table, key.columns().get(k)),
            k + 1L,
            key.timing() != ForeignKey.Timing.NOT_DEFERRABLE,
            isDeferred(key.timing()),
            referenced.schema(),
            referenced.name(),
            column(referenced, key.referencedColumns().get(k)),
            unique == null ? null : unique.name(),
            match(key),
            key.onUpdate().text(),
            key.onDelete().text(),
            null
          });
    }
  }

  /// Rows of `information_schema.table_constraints`.
  static List<@Nullable Object[]> constraints(
      CatalogNames names, InformationSight sight, String database) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Table table : names.tables()) {
      if (!sight.changes(table)) {
        continue;
      }
      for (Index index : table.indexes()) {
        if (index.constraint()) {
          String distinct = index.primary() ? null : yesOrNo(!index.nullsNotDistinct());
          rows.add(
              constraint(table, index.name(), type(index), index.timing(), distinct, database));
        }
      }
      for (ForeignKey key : table.foreignKeys()) {
        rows.add(constraint(table, key.name(), "FOREIGN KEY", key.timing(), null, database));
      }
      for (CheckConstraint check : table.checks()) {
        rows.add(
            constraint(
                table, check.name(), "CHECK", ForeignKey.Timing.NOT_DEFERRABLE, null, database));
      }
    }
    return rows;
  }

  private static @Nullable Object[] constraint(
      Table table,
      String name,
      String type,
      ForeignKey.Timing timing,
      @Nullable String nullsDistinct,
      String database) {
    return new @Nullable Object[] {
      database,
      table.schema(),
      name,
      database,
      table.schema(),
      table.name(),
      type,
      yesOrNo(timing != ForeignKey.Timing.NOT_DEFERRABLE),
      yesOrNo(isDeferred(timing)),
      YES,
      nullsDistinct
    };
  }

  /// Rows of `information_schema.key_column_usage`.
  static List<@Nullable Object[]> columns(
      CatalogNames names, InformationSight sight, String database) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Table table : names.tables()) {
      for (Index index : table.indexes()) {
        for (int k = 0; index.constraint() && k < index.columns().size(); k++) {
          if (sight.sees(table, table.columns().get(index.columns().get(k)))) {
            rows.add(column(table, index.name(), index.columns().get(k), k, null, database));
          }
        }
      }
      for (ForeignKey key : table.foreignKeys()) {
        Table referenced = names.catalog().table(key.referencedId());
        Index unique = referenced == null ? null : referencedKey(key, referenced);
        for (int k = 0; k < key.columns().size(); k++) {
          Long position =
              unique == null
                  ? null
                  : (Long) (unique.columns().indexOf(key.referencedColumns().get(k)) + 1L);
          if (sight.sees(table, table.columns().get(key.columns().get(k)))) {
            rows.add(column(table, key.name(), key.columns().get(k), k, position, database));
          }
        }
      }
    }
    return rows;
  }

  private static @Nullable Object[] column(
      Table table,
      String constraint,
      int column,
      int position,
      @Nullable Long uniquePosition,
      String database) {
    return new @Nullable Object[] {
      database,
      table.schema(),
      constraint,
      database,
      table.schema(),
      table.name(),
      column(table, column),
      position + 1L,
      uniquePosition
    };
  }

  /// Rows of `information_schema.referential_constraints`. The view names no table, so nothing narrows it but the schema.
  static List<@Nullable Object[]> references(
      CatalogNames names, InformationSight sight, String database) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Table table : names.tables()) {
      if (!sight.changes(table)) {
        continue;
      }
      for (ForeignKey key : table.foreignKeys()) {
        Table referenced = names.catalog().table(key.referencedId());
        Index unique = referenced == null ? null : referencedKey(key, referenced);
        rows.add(
            new @Nullable Object[] {
              database,
              table.schema(),
              key.name(),
              unique == null ? null : database,
              referenced == null || unique == null ? null : referenced.schema(),
              unique == null ? null : unique.name(),
              match(key),
              key.onUpdate().text(),
              key.onDelete().text()
            });
      }
    }
    return rows;
  }

  /// The key that a foreign key needs: its columns in any order; the primary key before others.
  private static @Nullable Index referencedKey(ForeignKey key, Table referenced) {
    Index found = null;
    for (Index index : referenced.indexes()) {
      boolean fits =
          index.isKey()
              && index.columns().size() == key.referencedColumns().size()
              && index.columns().containsAll(key.referencedColumns());
      if (fits && (found == null || index.primary())) {
        found = index;
      }
    }
    return found;
  }

  private static String column(Table table, int position) {
    return table.columns().get(position).name();
  }

  private static String type(Index index) {
    return index.primary() ? "PRIMARY KEY" : "UNIQUE";
  }

  private static String match(ForeignKey key) {
    return key.matchFull() ? "FULL" : "NONE";
  }

  private static boolean isDeferred(ForeignKey.Timing timing) {
    return timing == ForeignKey.Timing.INITIALLY_DEFERRED;
  }

  private static String yesOrNo(boolean value) {
    return value ? YES : NO;
  }
}
