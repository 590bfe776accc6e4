package dev.kakehashi.engine.catalog;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One version of the catalogue. Immutable.
public final class CatalogSnapshot {
  /// Where unqualified names are created and looked up first.
  public static final String DEFAULT_SCHEMA = "public";

  private final long version;

  /// Schema to table name to table.
  private final Map<String, Map<String, Table>> schemas;

  CatalogSnapshot(long version, Map<String, Map<String, Table>> schemas) {
    this.version = version;
    this.schemas = schemas;
  }

  /// Grows with every change.
  public long version() {
    return version;
  }

  public Collection<String> schemas() {
    return schemas.keySet();
  }

  public boolean hasSchema(String name) {
    return schemas.containsKey(name);
  }

  /// Tables of a schema in the order of their names; empty if there is no such schema.
  public Collection<Table> tables(String schema) {
    return schemas.getOrDefault(schema, Map.of()).values();
  }

  /// All tables, system tables included.
  public List<Table> tables() {
    List<Table> all = new ArrayList<>();
    schemas.values().forEach(tables -> all.addAll(tables.values()));
    return all;
  }

  public @Nullable Table table(String schema, String name) {
    return schemas.getOrDefault(schema, Map.of()).get(name);
  }

  /// The table that has the index, or null.
  public @Nullable Table tableOfIndex(String schema, String indexName) {
    for (Table table : tables(schema)) {
      for (Index index : table.indexes()) {
        if (index.name().equals(indexName)) {
          return table;
        }
      }
    }
    return null;
  }

  CatalogSnapshot withSchema(String name) {
    Map<String, Map<String, Table>> next = copy();
    next.put(name, new TreeMap<>());
    return new CatalogSnapshot(version + 1, next);
  }

  CatalogSnapshot withoutSchema(String name) {
    Map<String, Map<String, Table>> next = copy();
    next.remove(name);
    return new CatalogSnapshot(version + 1, next);
  }

  CatalogSnapshot withTable(Table table) {
    Map<String, Map<String, Table>> next = copy();
    next.computeIfAbsent(table.schema(), s -> new TreeMap<>()).put(table.name(), table);
    return new CatalogSnapshot(version + 1, next);
  }

  CatalogSnapshot withoutTable(Table table) {
    Map<String, Map<String, Table>> next = copy();
    Map<String, Table> tables = next.get(table.schema());
    if (tables != null) {
      tables.remove(table.name());
    }
    return new CatalogSnapshot(version + 1, next);
  }

  private Map<String, Map<String, Table>> copy() {
    Map<String, Map<String, Table>> next = new TreeMap<>();
    schemas.forEach((schema, tables) -> next.put(schema, new TreeMap<>(tables)));
    return next;
  }
}
