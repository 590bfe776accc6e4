package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.store.Store.CatalogChange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One version of the catalogue. Immutable.
///
/// Its durable form are the entries of the store's catalogue: `schema/` name, `table/` number and `sequence/` and `view/` number with the form of [CatalogCodec].
public final class CatalogSnapshot {
  /// Where unqualified names are created and looked up first.
  public static final String DEFAULT_SCHEMA = "public";

  private static final String SCHEMA_KEY = "schema/";
  static final String TABLE_KEY = "table/";
  private static final String SEQUENCE_KEY = "sequence/";
  private static final String VIEW_KEY = "view/";

  private final long version;

  /// Schema to table name to table.
  private final Map<String, Map<String, Table>> schemas;

  private final Map<Long, Sequence> sequences;
  private final Map<Long, View> views;

  private CatalogSnapshot(
      long version,
      Map<String, Map<String, Table>> schemas,
      Map<Long, Sequence> sequences,
      Map<Long, View> views) {
    this.version = version;
    this.schemas = schemas;
    this.sequences = sequences;
    this.views = views;
  }

  /// What every catalogue has.
  static CatalogSnapshot initial() {
    Map<String, Map<String, Table>> schemas = new TreeMap<>();
    for (Table table : SystemTables.TABLES) {
      schemas.computeIfAbsent(table.schema(), s -> new TreeMap<>()).put(table.name(), table);
    }
    schemas.put(DEFAULT_SCHEMA, new TreeMap<>());
    return new CatalogSnapshot(0, schemas, Map.of(), Map.of());
  }

  /// Different for every version.
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

  /// All sequences, in the order of their numbers.
  public Collection<Sequence> sequences() {
    return sequences.values();
  }

  public @Nullable Sequence sequence(long sequenceId) {
    return sequences.get(sequenceId);
  }

  public @Nullable Sequence sequence(String schema, String name) {
    for (Sequence sequence : sequences.values()) {
      if (sequence.schema().equals(schema) && sequence.name().equals(name)) {
        return sequence;
      }
    }
    return null;
  }

  /// All views, in the order of their numbers: a view comes after those that it was made of.
  public Collection<View> views() {
    return views.values();
  }

  public @Nullable View view(String schema, String name) {
    for (View view : views.values()) {
      if (view.schema().equals(schema) && view.name().equals(name)) {
        return view;
      }
    }
    return null;
  }

  /// Whether a table, sequence or view has the number.
  public boolean hasObject(long id) {
    return table(id) != null || sequences.containsKey(id) || views.containsKey(id);
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

  /// The table of a number, or null.
  public @Nullable Table table(long tableId) {
    for (Map<String, Table> tables : schemas.values()) {
      for (Table table : tables.values()) {
        if (table.tableId() == tableId) {
          return table;
        }
      }
    }
    return null;
  }

  // ---- changes ----

  public static CatalogChange putSchema(String name) {
    return new CatalogChange.Put(SCHEMA_KEY + name, new byte[0]);
  }

  public static CatalogChange removeSchema(String name) {
    return new CatalogChange.Remove(SCHEMA_KEY + name);
  }

  /// Adds a table, or gives it a new form or name.
  public static CatalogChange put(Table table) {
    return new CatalogChange.Put(TABLE_KEY + table.tableId(), CatalogCodec.encode(table));
  }

  public static CatalogChange remove(Table table) {
    return new CatalogChange.Remove(TABLE_KEY + table.tableId());
  }

  /// Adds a sequence, or gives it a new form.
  public static CatalogChange put(Sequence sequence) {
    return new CatalogChange.Put(
        SEQUENCE_KEY + sequence.sequenceId(), CatalogCodec.encode(sequence));
  }

  public static CatalogChange remove(Sequence sequence) {
    return new CatalogChange.Remove(SEQUENCE_KEY + sequence.sequenceId());
  }

  /// Adds a view, or gives it a new form.
  public static CatalogChange put(View view) {
    return new CatalogChange.Put(VIEW_KEY + view.viewId(), CatalogCodec.encode(view));
  }

  public static CatalogChange remove(View view) {
    return new CatalogChange.Remove(VIEW_KEY + view.viewId());
  }

  /// This version changed; changes of the physical side mean nothing here.
  public CatalogSnapshot with(List<CatalogChange> changes, long newVersion) {
    Map<String, Map<String, Table>> next = new TreeMap<>();
    schemas.forEach((schema, tables) -> next.put(schema, new TreeMap<>(tables)));
    Map<Long, Sequence> nextSequences = new TreeMap<>(sequences);
    Map<Long, View> nextViews = new TreeMap<>(views);
    for (CatalogChange change : changes) {
      if (change instanceof CatalogChange.Put put) {
        if (put.key().startsWith(SEQUENCE_KEY)) {
          Sequence sequence = CatalogCodec.decodeSequence(put.key(), put.value());
          nextSequences.put(sequence.sequenceId(), sequence);
        } else if (put.key().startsWith(VIEW_KEY)) {
          View view = CatalogCodec.decodeView(put.key(), put.value());
          nextViews.put(view.viewId(), view);
        } else {
          put(next, put.key(), put.value());
        }
      } else if (change instanceof CatalogChange.Remove remove) {
        if (remove.key().startsWith(SEQUENCE_KEY)) {
          nextSequences.remove(Long.parseLong(remove.key().substring(SEQUENCE_KEY.length())));
        } else if (remove.key().startsWith(VIEW_KEY)) {
          nextViews.remove(Long.parseLong(remove.key().substring(VIEW_KEY.length())));
        } else {
          remove(next, remove.key());
        }
      }
    }
    return new CatalogSnapshot(newVersion, next, nextSequences, nextViews);
  }

  private static void put(Map<String, Map<String, Table>> schemas, String key, byte[] value) {
    if (key.startsWith(SCHEMA_KEY)) {
      schemas.computeIfAbsent(key.substring(SCHEMA_KEY.length()), s -> new TreeMap<>());
    } else if (key.startsWith(TABLE_KEY)) {
      remove(schemas, key);
      Table table = CatalogCodec.decode(key, value);
      schemas.computeIfAbsent(table.schema(), s -> new TreeMap<>()).put(table.name(), table);
    }
  }

  private static void remove(Map<String, Map<String, Table>> schemas, String key) {
    if (key.startsWith(SCHEMA_KEY)) {
      schemas.remove(key.substring(SCHEMA_KEY.length()));
    } else if (key.startsWith(TABLE_KEY)) {
      long tableId = Long.parseLong(key.substring(TABLE_KEY.length()));
      schemas
          .values()
          .forEach(tables -> tables.values().removeIf(table -> table.tableId() == tableId));
    }
  }
}
