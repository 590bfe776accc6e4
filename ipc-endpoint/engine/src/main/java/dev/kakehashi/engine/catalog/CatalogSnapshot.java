package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.store.Store.CatalogChange;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
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

  /// Comments by schema.
  private final Map<String, String> comments;

  private CatalogSnapshot(
      long version,
      Map<String, Map<String, Table>> schemas,
      Map<Long, Sequence> sequences,
      Map<Long, View> views,
      Map<String, String> comments) {
    this.version = version;
    this.comments = comments;
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
    return new CatalogSnapshot(0, schemas, Map.of(), Map.of(), Map.of());
  }

  /// The catalogue that a store's entries make.
  static CatalogSnapshot of(Map<String, byte[]> entries) {
    List<CatalogChange> changes = new ArrayList<>();
    entries.forEach((key, value) -> changes.add(new CatalogChange.Put(key, value)));
    return initial().with(changes, 0);
  }

  /// Different for every version.
  public long version() {
    return version;
  }

  public Collection<String> schemas() {
    return schemas.keySet();
  }

  /// What COMMENT said about a schema, or null.
  public @Nullable String comment(String schema) {
    return comments.get(schema);
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

  /// Tables with a foreign key that references the table, in the order of their numbers; the table itself may be one.
  public List<Table> referencing(long tableId) {
    List<Table> found = new ArrayList<>();
    for (Table table : tables()) {
      if (table.foreignKeys().stream().anyMatch(key -> key.referencedId() == tableId)) {
        found.add(table);
      }
    }
    found.sort(Comparator.comparingLong(Table::tableId));
    return found;
  }

  // ---- changes ----

  /// Adds a schema, or gives it another comment.
  public static CatalogChange putSchema(String name, @Nullable String comment) {
    byte[] value = comment == null ? new byte[0] : comment.getBytes(StandardCharsets.UTF_8);
    return new CatalogChange.Put(SCHEMA_KEY + name, value);
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
    CatalogSnapshot changed =
        new CatalogSnapshot(
            newVersion,
            next,
            new TreeMap<>(sequences),
            new TreeMap<>(views),
            new TreeMap<>(comments));
    for (CatalogChange change : changes) {
      if (change instanceof CatalogChange.Put put) {
        changed.put(put.key(), put.value());
      } else if (change instanceof CatalogChange.Remove remove) {
        changed.remove(remove.key());
      }
    }
    return changed;
  }

  /// While it is being made.
  private void put(String key, byte[] value) {
    if (key.startsWith(SCHEMA_KEY)) {
      String schema = key.substring(SCHEMA_KEY.length());
      schemas.computeIfAbsent(schema, s -> new TreeMap<>());
      if (value.length == 0) {
        comments.remove(schema);
      } else {
        comments.put(schema, new String(value, StandardCharsets.UTF_8));
      }
    } else if (key.startsWith(TABLE_KEY)) {
      remove(key);
      Table table = CatalogCodec.decode(key, value);
      schemas.computeIfAbsent(table.schema(), s -> new TreeMap<>()).put(table.name(), table);
    } else if (key.startsWith(SEQUENCE_KEY)) {
      Sequence sequence = CatalogCodec.decodeSequence(key, value);
      sequences.put(sequence.sequenceId(), sequence);
    } else if (key.startsWith(VIEW_KEY)) {
      View view = CatalogCodec.decodeView(key, value);
      views.put(view.viewId(), view);
    }
  }

  private void remove(String key) {
    if (key.startsWith(SCHEMA_KEY)) {
      schemas.remove(key.substring(SCHEMA_KEY.length()));
      comments.remove(key.substring(SCHEMA_KEY.length()));
    } else if (key.startsWith(TABLE_KEY)) {
      long tableId = Long.parseLong(key.substring(TABLE_KEY.length()));
      schemas
          .values()
          .forEach(tables -> tables.values().removeIf(table -> table.tableId() == tableId));
    } else if (key.startsWith(SEQUENCE_KEY)) {
      sequences.remove(Long.parseLong(key.substring(SEQUENCE_KEY.length())));
    } else if (key.startsWith(VIEW_KEY)) {
      views.remove(Long.parseLong(key.substring(VIEW_KEY.length())));
    }
  }
}
