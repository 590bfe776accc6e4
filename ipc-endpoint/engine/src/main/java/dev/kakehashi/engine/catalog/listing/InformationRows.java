package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.InformationTables;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.type.Types;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of the information schema, which lists itself, too.
final class InformationRows {
  private static final String DATABASE = "kakehashi";

  private InformationRows() {}

  static List<@Nullable Object[]> of(int tableId, CatalogNames names, InformationSight sight) {
    return switch (tableId) {
      case InformationTables.SCHEMATA -> schemas(names, sight);
      case InformationTables.TABLE_NAMES -> tables(names, sight);
      case InformationTables.COLUMNS -> columns(names, sight);
      case InformationTables.TABLE_CONSTRAINTS -> KeyRows.constraints(names, sight, DATABASE);
      case InformationTables.KEY_COLUMN_USAGE -> KeyRows.columns(names, sight, DATABASE);
      default -> KeyRows.references(names, sight, DATABASE);
    };
  }

  private static List<@Nullable Object[]> schemas(CatalogNames names, InformationSight sight) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    names.schemas().stream()
        .filter(sight::seesSchema)
        .forEach(schema -> rows.add(new Object[] {DATABASE, schema}));
    return rows;
  }

  private static List<@Nullable Object[]> tables(CatalogNames names, InformationSight sight) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (View view : names.views()) {
      if (sight.sees(view.form())) {
        rows.add(new Object[] {DATABASE, view.schema(), view.name(), "VIEW"});
      }
    }
    for (Table each : names.tables()) {
      if (sight.sees(each)) {
        rows.add(
            new Object[] {
              DATABASE, each.schema(), each.name(), each.isSystem() ? "VIEW" : "BASE TABLE"
            });
      }
    }
    return rows;
  }

  private static List<@Nullable Object[]> columns(CatalogNames names, InformationSight sight) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    names.views().forEach(view -> addColumns(rows, view.form(), sight));
    names.tables().forEach(table -> addColumns(rows, table, sight));
    return rows;
  }

  private static void addColumns(
      Collection<@Nullable Object[]> rows, Table table, InformationSight sight) {
    long ordinal = 0;
    for (Column column : table.columns()) {
      if (column.hidden()) {
        continue;
      }
      ordinal++;
      if (!sight.sees(table, column)) {
        continue;
      }
      rows.add(
          new Object[] {
            DATABASE,
            table.schema(),
            table.name(),
            column.name(),
            ordinal,
            column.defaultText(),
            column.notNull() ? "NO" : "YES",
            Types.name(column.type().oid()),
            column.generation() == null ? "NEVER" : "ALWAYS",
            column.generation()
          });
    }
  }
}
