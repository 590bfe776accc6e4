package dev.kakehashi.engine.catalog;

import java.util.List;
import java.util.stream.Stream;

/// Tables that describe the catalogue and the running engine; their rows are made when they are read.
public final class SystemTables {
  static final String CATALOG_SCHEMA = "kakehashi_catalog";
  static final String INFORMATION_SCHEMA = "information_schema";

  static final List<Table> TABLES =
      Stream.of(
              ObjectTables.TABLES,
              InformationTables.TABLES,
              ActivityTables.TABLES,
              QueueTables.TABLES,
              ApplicationTables.TABLES)
          .flatMap(List::stream)
          .toList();

  private SystemTables() {}

  /// Whether the rows show the state of the engine; those of the others show the catalogue.
  public static boolean isLive(Table table) {
    long id = table.tableId();
    return ActivityTables.isOf(id) || QueueTables.isOf(id) || ApplicationTables.isOf(id);
  }

  /// Position of the column with the schema of what a row is about; -1: there is none.
  public static int schemaColumn(Table table) {
    return columnOf(table, "table_schema", "sequence_schema", "object_schema", "queue_schema");
  }

  /// Position of the column with the name of what a row is about; -1: there is none. Comments are not narrowed by it: they are also about
  /// indexes, which are found by their tables.
  public static int nameColumn(Table table) {
    return columnOf(table, "table_name", "sequence_name", "queue_name");
  }

  private static int columnOf(Table table, String... names) {
    for (String name : names) {
      int column = table.columnIndex(name);
      if (column >= 0) {
        return column;
      }
    }
    return -1;
  }

  public static boolean isSystemSchema(String name) {
    return name.equals(CATALOG_SCHEMA) || name.equals(INFORMATION_SCHEMA);
  }
}
