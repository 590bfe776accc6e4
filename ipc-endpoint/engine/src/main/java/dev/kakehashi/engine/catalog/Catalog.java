package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.DuplicateKey;
import dev.kakehashi.engine.store.Store;
import dev.kakehashi.engine.store.Store.CatalogChange;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The catalogue of a store: the current version, and its changes.
///
/// Readers take [#snapshot()] (one volatile read). Changes are made by one thread at a time (monitor): physical side and
/// entries first, durable, then the new version is published.
public final class Catalog {
  private static final String SCHEMA_KEY = "schema/";
  static final String TABLE_KEY = "table/";

  private final Store store;
  private volatile CatalogSnapshot snapshot;

  /// Reads the catalogue of an open store; a fresh store gets the schema `public`.
  public Catalog(Store store) {
    this.store = store;
    Map<String, Map<String, Table>> schemas = new TreeMap<>();
    for (Table table : SystemTables.TABLES) {
      schemas.computeIfAbsent(table.schema(), s -> new TreeMap<>()).put(table.name(), table);
    }
    store
        .catalog()
        .forEach((key, value) -> {
          if (key.startsWith(SCHEMA_KEY)) {
            schemas.computeIfAbsent(key.substring(SCHEMA_KEY.length()), s -> new TreeMap<>());
          } else if (key.startsWith(TABLE_KEY)) {
            Table table = CatalogCodec.decode(key, value);
            schemas.computeIfAbsent(table.schema(), s -> new TreeMap<>()).put(table.name(), table);
          }
        });
    schemas.computeIfAbsent(CatalogSnapshot.DEFAULT_SCHEMA, s -> new TreeMap<>());
    snapshot = new CatalogSnapshot(1, schemas);
  }

  public CatalogSnapshot snapshot() {
    return snapshot;
  }

  public synchronized void createSchema(String name, boolean ifNotExists) {
    if (snapshot.hasSchema(name)) {
      if (ifNotExists) {
        return;
      }
      throw new EngineException(
          ErrorCode.DUPLICATE_SCHEMA, "schema \"" + name + "\" already exists");
    }
    store.changeCatalog(List.of(new CatalogChange.Put(SCHEMA_KEY + name, new byte[0])));
    snapshot = snapshot.withSchema(name);
  }

  public synchronized void dropSchema(String name, boolean ifExists, boolean cascade) {
    if (!snapshot.hasSchema(name)) {
      if (ifExists) {
        return;
      }
      throw noSchema(name);
    }
    refuseSystem(name);
    List<Table> tables = List.copyOf(snapshot.tables(name));
    if (!tables.isEmpty() && !cascade) {
      throw new EngineException(
              ErrorCode.DEPENDENT_OBJECTS_EXIST,
              "cannot drop schema " + name + " because other objects depend on it")
          .withDetail(
              "table " + name + "." + tables.getFirst().name() + " depends on schema " + name)
          .withHint("Use DROP ... CASCADE to drop the dependent objects too.");
    }
    List<CatalogChange> changes = new ArrayList<>();
    tables.forEach(table -> addDrop(changes, table));
    changes.add(new CatalogChange.Remove(SCHEMA_KEY + name));
    store.changeCatalog(changes);
    snapshot = snapshot.withoutSchema(name);
  }

  /// Numbers for a new table or index.
  public long nextObjectId() {
    return store.nextObjectId();
  }

  public synchronized void createTable(Table table, boolean ifNotExists) {
    requireSchema(table.schema());
    if (snapshot.table(table.schema(), table.name()) != null) {
      if (ifNotExists) {
        return;
      }
      throw duplicateRelation(table.name());
    }
    for (Index index : table.indexes()) {
      if (snapshot.tableOfIndex(table.schema(), index.name()) != null) {
        throw duplicateRelation(index.name());
      }
    }
    store.changeCatalog(
        List.of(
            new CatalogChange.CreateTable(table.definition()),
            new CatalogChange.Put(key(table), CatalogCodec.encode(table))));
    snapshot = snapshot.withTable(table);
  }

  public synchronized void dropTable(Table table) {
    refuseSystem(table.schema());
    List<CatalogChange> changes = new ArrayList<>();
    addDrop(changes, current(table));
    store.changeCatalog(changes);
    snapshot = snapshot.withoutTable(table);
  }

  /// Replaces the table by an empty one of the same form, under a new number.
  public synchronized void truncate(Table old) {
    refuseSystem(old.schema());
    Table table = current(old);
    List<Index> indexes = new ArrayList<>();
    for (Index index : table.indexes()) {
      indexes.add(
          new Index(
              index.name(),
              store.nextObjectId(),
              index.columns(),
              index.descending(),
              index.unique(),
              index.primary()));
    }
    Table empty =
        new Table(
            table.schema(),
            table.name(),
            store.nextObjectId(),
            table.columns(),
            List.copyOf(indexes));
    store.changeCatalog(
        List.of(
            new CatalogChange.DropTable(table.tableId()),
            new CatalogChange.Remove(key(table)),
            new CatalogChange.CreateTable(empty.definition()),
            new CatalogChange.Put(key(empty), CatalogCodec.encode(empty))));
    snapshot = snapshot.withTable(empty);
  }

  /// @throws EngineException UNIQUE_VIOLATION when a unique index meets duplicates
  public synchronized void createIndex(Table old, Index index, boolean ifNotExists) {
    refuseSystem(old.schema());
    Table table = current(old);
    if (snapshot.tableOfIndex(table.schema(), index.name()) != null
        || snapshot.table(table.schema(), index.name()) != null) {
      if (ifNotExists) {
        return;
      }
      throw duplicateRelation(index.name());
    }
    List<Index> indexes = new ArrayList<>(table.indexes());
    indexes.add(index);
    Table next = table.withIndexes(indexes);
    try {
      store.changeCatalog(
          List.of(
              new CatalogChange.CreateIndex(table.tableId(), index.definition()),
              new CatalogChange.Put(key(next), CatalogCodec.encode(next))));
    } catch (DuplicateKey duplicate) {
      throw new EngineException(
              ErrorCode.UNIQUE_VIOLATION, "could not create unique index \"" + index.name() + "\"")
          .withDetail("Some keys are duplicated.")
          .withTable(table.schema(), table.name())
          .withConstraint(index.name());
    }
    snapshot = snapshot.withTable(next);
  }

  public synchronized void dropIndex(String schema, String name, boolean ifExists) {
    Table table = snapshot.tableOfIndex(schema, name);
    if (table == null) {
      if (ifExists) {
        return;
      }
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "index \"" + name + "\" does not exist");
    }
    refuseSystem(schema);
    List<Index> remaining = new ArrayList<>();
    List<CatalogChange> changes = new ArrayList<>();
    for (Index index : table.indexes()) {
      if (!index.name().equals(name)) {
        remaining.add(index);
      } else if (index.primary()) {
        throw new EngineException(
                ErrorCode.DEPENDENT_OBJECTS_EXIST,
                "cannot drop index "
                    + name
                    + " because constraint "
                    + name
                    + " on table "
                    + table.name()
                    + " requires it")
            .withTable(schema, table.name());
      } else {
        changes.add(new CatalogChange.DropIndex(table.tableId(), index.indexId()));
      }
    }
    Table next = table.withIndexes(remaining);
    changes.add(new CatalogChange.Put(key(next), CatalogCodec.encode(next)));
    store.changeCatalog(changes);
    snapshot = snapshot.withTable(next);
  }

  private Table current(Table table) {
    Table now = snapshot.table(table.schema(), table.name());
    if (now == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "relation \"" + table.name() + "\" does not exist");
    }
    return now;
  }

  private void requireSchema(String name) {
    if (!snapshot.hasSchema(name)) {
      throw noSchema(name);
    }
    refuseSystem(name);
  }

  private static void refuseSystem(String schema) {
    if (SystemTables.isSystemSchema(schema)) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE, "schema \"" + schema + "\" is a system schema");
    }
  }

  private static EngineException noSchema(String name) {
    return new EngineException(
        ErrorCode.UNDEFINED_SCHEMA, "schema \"" + name + "\" does not exist");
  }

  private static EngineException duplicateRelation(String name) {
    return new EngineException(
        ErrorCode.DUPLICATE_TABLE, "relation \"" + name + "\" already exists");
  }

  private static void addDrop(List<CatalogChange> changes, Table table) {
    changes.add(new CatalogChange.DropTable(table.tableId()));
    changes.add(new CatalogChange.Remove(key(table)));
  }

  private static String key(Table table) {
    return TABLE_KEY + table.tableId();
  }
}
