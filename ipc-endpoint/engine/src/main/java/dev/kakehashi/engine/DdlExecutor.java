package dev.kakehashi.engine;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.catalog.Catalog;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.DdlStatement;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Carries out DDL: checks names, gives numbers and default names, changes the catalogue. Blocks until the change is durable.
final class DdlExecutor {
  private static final int MAX_COLUMNS = 1600;

  private final Catalog catalog;

  DdlExecutor(Catalog catalog) {
    this.catalog = catalog;
  }

  void execute(DdlStatement statement) {
    switch (statement) {
      case DdlStatement.CreateSchema create ->
          catalog.createSchema(create.name(), create.ifNotExists());
      case DdlStatement.DropSchema drop -> {
        for (String name : drop.names()) {
          catalog.dropSchema(name, drop.ifExists(), drop.cascade());
        }
      }
      case DdlStatement.CreateTable create -> createTable(create);
      case DdlStatement.DropTable drop -> {
        for (DdlStatement.Name name : drop.names()) {
          Table table = find(name, drop.ifExists());
          if (table != null) {
            catalog.dropTable(table);
          }
        }
      }
      case DdlStatement.Truncate truncate -> {
        List<Table> tables = new ArrayList<>();
        truncate.names().forEach(name -> tables.add(require(name)));
        tables.forEach(catalog::truncate);
      }
      case DdlStatement.CreateIndex create -> createIndex(create);
      case DdlStatement.DropIndex drop -> {
        for (DdlStatement.Name name : drop.names()) {
          catalog.dropIndex(schema(name), name.name(), drop.ifExists());
        }
      }
    }
  }

  private static String schema(DdlStatement.Name name) {
    String schema = name.schema();
    return schema == null ? CatalogSnapshot.DEFAULT_SCHEMA : schema;
  }

  private @Nullable Table find(DdlStatement.Name name, boolean ifExists) {
    Table table = catalog.snapshot().table(schema(name), name.name());
    if (table == null && !ifExists) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "table \"" + name.name() + "\" does not exist");
    }
    return table;
  }

  private Table require(DdlStatement.Name name) {
    Table table = catalog.snapshot().table(schema(name), name.name());
    if (table == null) {
      throw new EngineException(
              ErrorCode.UNDEFINED_TABLE, "relation \"" + name.name() + "\" does not exist")
          .withPosition(name.position());
    }
    return table;
  }

  private void createTable(DdlStatement.CreateTable create) {
    String schema = schema(create.name());
    String name = create.name().name();
    if (create.columns().isEmpty() || create.columns().size() > MAX_COLUMNS) {
      throw new EngineException(
          ErrorCode.INVALID_TABLE_DEFINITION,
          "a table must have between 1 and " + MAX_COLUMNS + " columns");
    }
    Set<String> seen = new HashSet<>();
    List<String> columnNames = new ArrayList<>();
    for (DdlStatement.ColumnDefinition column : create.columns()) {
      if (!seen.add(column.name())) {
        throw new EngineException(
            ErrorCode.DUPLICATE_COLUMN,
            "column \"" + column.name() + "\" specified more than once");
      }
      columnNames.add(column.name());
    }
    List<Index> indexes = keys(create, name, columnNames);
    for (Index index : indexes) {
      index.columns().forEach(i -> requireKey(create.columns().get(i).type()));
    }
    Set<Integer> keyColumns =
        !indexes.isEmpty() && indexes.getFirst().primary()
            ? Set.copyOf(indexes.getFirst().columns())
            : Set.of();
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < create.columns().size(); i++) {
      DdlStatement.ColumnDefinition column = create.columns().get(i);
      String defaultText = column.defaultText();
      if (defaultText != null) {
        SqlFront.checkDefault(defaultText, column.type(), catalog.snapshot());
      }
      columns.add(
          new Column(
              column.name(),
              column.type(),
              column.notNull() || keyColumns.contains(i),
              defaultText));
    }
    catalog.createTable(
        new Table(schema, name, catalog.nextObjectId(), columns, indexes), create.ifNotExists());
  }

  private List<Index> keys(
      DdlStatement.CreateTable create, String table, List<String> columnNames) {
    List<Index> primary = new ArrayList<>();
    List<Index> unique = new ArrayList<>();
    for (DdlStatement.KeyDefinition key : create.keys()) {
      List<Integer> columns = positions(key.columns(), columnNames);
      String given = key.name();
      String name =
          given != null
              ? given
              : key.primary()
                  ? table + "_pkey"
                  : table + "_" + String.join("_", key.columns()) + "_key";
      Index index =
          new Index(
              name,
              catalog.nextObjectId(),
              columns,
              Collections.nCopies(columns.size(), false),
              true,
              key.primary());
      (key.primary() ? primary : unique).add(index);
    }
    if (primary.size() > 1) {
      throw new EngineException(
          ErrorCode.INVALID_TABLE_DEFINITION,
          "multiple primary keys for table \"" + table + "\" are not allowed");
    }
    primary.addAll(unique);
    return primary;
  }

  private static void requireKey(SqlType type) {
    if (!Types.hasEquality(type.oid())) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "data type "
              + Types.name(type.oid())
              + " has no default operator class for access method \"btree\"");
    }
  }

  private static List<Integer> positions(List<String> keyColumns, List<String> columnNames) {
    List<Integer> positions = new ArrayList<>();
    for (String column : keyColumns) {
      int position = columnNames.indexOf(column);
      if (position < 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN, "column \"" + column + "\" named in key does not exist");
      }
      if (positions.contains(position)) {
        throw new EngineException(
            ErrorCode.DUPLICATE_COLUMN, "column \"" + column + "\" appears twice in key");
      }
      positions.add(position);
    }
    return List.copyOf(positions);
  }

  private void createIndex(DdlStatement.CreateIndex create) {
    Table table = require(create.table());
    List<String> names = table.columns().stream().map(Column::name).toList();
    List<Integer> columns = new ArrayList<>();
    for (String column : create.columns()) {
      int position = names.indexOf(column);
      if (position < 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN, "column \"" + column + "\" does not exist");
      }
      requireKey(table.columns().get(position).type());
      columns.add(position);
    }
    String given = create.name();
    String name =
        given != null ? given : freeName(table, String.join("_", create.columns()) + "_idx");
    catalog.createIndex(
        table,
        new Index(
            name,
            catalog.nextObjectId(),
            List.copyOf(columns),
            List.copyOf(create.descending()),
            create.unique(),
            false),
        create.ifNotExists());
  }

  private String freeName(Table table, String suffix) {
    String base = table.name() + "_" + suffix;
    String name = base;
    for (int i = 1; catalog.snapshot().tableOfIndex(table.schema(), name) != null; i++) {
      name = base + i;
    }
    return name;
  }
}
