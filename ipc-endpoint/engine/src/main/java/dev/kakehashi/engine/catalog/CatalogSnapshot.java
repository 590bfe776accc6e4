package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.pcollections.PSortedMap;
import org.pcollections.TreePMap;

/// One version of the catalogue. Immutable.
///
/// Its durable form are the entries of the store's catalogue: `schema/` name, `table/` number and `sequence/`, `view/`, `queue/` and
/// `application/` number with the forms of [TableCodec], [CatalogCodec], [QueueCodec] and [ApplicationCodec], `jar/` SHA-256 with its
/// bytes, and those of [Access].
public final class CatalogSnapshot {
  /// Where unqualified names are created and looked up first.
  public static final String DEFAULT_SCHEMA = "public";

  static final String SCHEMA_KEY = "schema/";
  static final String TABLE_KEY = "table/";
  private static final String SEQUENCE_KEY = "sequence/";
  private static final String VIEW_KEY = "view/";
  private static final String QUEUE_KEY = "queue/";
  static final String APPLICATION_KEY = "application/";
  static final String JAR_KEY = "jar/";

  private final long version;

  private final Objects objects;

  private CatalogSnapshot(long version, Objects objects) {
    this.version = version;
    this.objects = objects;
  }

  /// Content of a version. The maps share what versions have in common: a transaction that makes thousands of tables has a version for
  /// each.
  ///
  /// @param schemas to table name to table
  /// @param tables the same tables by their numbers
  /// @param comments by schema
  private record Objects(
      PSortedMap<String, PSortedMap<String, Table>> schemas,
      PSortedMap<Long, Table> tables,
      PSortedMap<Long, Sequence> sequences,
      PSortedMap<Long, View> views,
      QueueSet queues,
      ApplicationSet applications,
      PSortedMap<String, String> comments,
      Access access) {
    Objects withTables(
        PSortedMap<String, PSortedMap<String, Table>> newSchemas,
        PSortedMap<Long, Table> newTables) {
      return new Objects(
          newSchemas, newTables, sequences, views, queues, applications, comments, access);
    }

    Objects withSequences(PSortedMap<Long, Sequence> newSequences) {
      return new Objects(
          schemas, tables, newSequences, views, queues, applications, comments, access);
    }

    Objects withViews(PSortedMap<Long, View> newViews) {
      return new Objects(
          schemas, tables, sequences, newViews, queues, applications, comments, access);
    }

    Objects withQueues(QueueSet newQueues) {
      return new Objects(
          schemas, tables, sequences, views, newQueues, applications, comments, access);
    }

    Objects withApplications(ApplicationSet newApplications) {
      return new Objects(
          schemas, tables, sequences, views, queues, newApplications, comments, access);
    }

    Objects withComments(PSortedMap<String, String> newComments) {
      return new Objects(
          schemas, tables, sequences, views, queues, applications, newComments, access);
    }

    Objects with(Access newAccess) {
      return new Objects(
          schemas, tables, sequences, views, queues, applications, comments, newAccess);
    }

    PSortedMap<String, Table> tables(String schema) {
      return schemas.getOrDefault(schema, TreePMap.empty());
    }

    Objects withSchema(String schema) {
      return schemas.containsKey(schema)
          ? this
          : withTables(schemas.plus(schema, TreePMap.empty()), tables);
    }

    Objects withoutSchema(String schema) {
      PSortedMap<Long, Table> left = tables;
      for (Table table : tables(schema).values()) {
        left = left.minus(table.tableId());
      }
      return withTables(schemas.minus(schema), left).withComments(comments.minus(schema));
    }

    /// A table of its name goes.
    Objects with(Table table) {
      Table replaced = tables(table.schema()).get(table.name());
      return withTables(
          schemas.plus(table.schema(), tables(table.schema()).plus(table.name(), table)),
          (replaced == null ? tables : tables.minus(replaced.tableId()))
              .plus(table.tableId(), table));
    }

    Objects withoutTable(long tableId) {
      Table gone = tables.get(tableId);
      return gone == null
          ? this
          : withTables(
              schemas.plus(gone.schema(), tables(gone.schema()).minus(gone.name())),
              tables.minus(tableId));
    }

    Objects put(String key, byte[] value) {
      if (key.startsWith(SCHEMA_KEY)) {
        String schema = key.substring(SCHEMA_KEY.length());
        return withSchema(schema)
            .withComments(
                value.length == 0
                    ? comments.minus(schema)
                    : comments.plus(schema, new String(value, StandardCharsets.UTF_8)));
      }
      if (key.startsWith(TABLE_KEY)) {
        Table table = TableCodec.decode(key, value);
        return withoutTable(table.tableId()).with(table);
      }
      if (key.startsWith(SEQUENCE_KEY)) {
        Sequence sequence = CatalogCodec.decodeSequence(key, value);
        return withSequences(sequences.plus(sequence.sequenceId(), sequence));
      }
      if (key.startsWith(VIEW_KEY)) {
        View view = CatalogCodec.decodeView(key, value);
        return withViews(views.plus(view.viewId(), view));
      }
      if (key.startsWith(QUEUE_KEY)) {
        return withQueues(queues.plus(QueueCodec.decode(key, value)));
      }
      if (key.startsWith(APPLICATION_KEY)) {
        return withApplications(applications.plus(ApplicationCodec.decode(key, value)));
      }
      if (key.startsWith(JAR_KEY)) {
        return withApplications(applications.plusJar(key.substring(JAR_KEY.length()), value));
      }
      return Access.accepts(key) ? with(access.put(key, value)) : this;
    }

    Objects remove(String key) {
      if (Access.accepts(key)) {
        return with(access.remove(key));
      }
      if (key.startsWith(SCHEMA_KEY)) {
        return withoutSchema(key.substring(SCHEMA_KEY.length()));
      }
      if (key.startsWith(TABLE_KEY)) {
        return withoutTable(Long.parseLong(key.substring(TABLE_KEY.length())));
      }
      if (key.startsWith(SEQUENCE_KEY)) {
        return withSequences(sequences.minus(Long.parseLong(key.substring(SEQUENCE_KEY.length()))));
      }
      if (key.startsWith(QUEUE_KEY)) {
        return withQueues(queues.minus(Long.parseLong(key.substring(QUEUE_KEY.length()))));
      }
      if (key.startsWith(APPLICATION_KEY)) {
        long id = Long.parseLong(key.substring(APPLICATION_KEY.length()));
        return withApplications(applications.minus(id));
      }
      if (key.startsWith(JAR_KEY)) {
        return withApplications(applications.minusJar(key.substring(JAR_KEY.length())));
      }
      return key.startsWith(VIEW_KEY)
          ? withViews(views.minus(Long.parseLong(key.substring(VIEW_KEY.length()))))
          : this;
    }
  }

  /// Version with what every catalogue has.
  static CatalogSnapshot initial() {
    Objects objects =
        new Objects(
            TreePMap.empty(),
            TreePMap.empty(),
            TreePMap.empty(),
            TreePMap.empty(),
            QueueSet.EMPTY,
            ApplicationSet.EMPTY,
            TreePMap.empty(),
            Access.initial());
    for (Table table : SystemTables.TABLES) {
      objects = objects.with(table);
    }
    return new CatalogSnapshot(0, objects.withSchema(DEFAULT_SCHEMA));
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

  /// Roles, and rights on what is no table, view, sequence, queue or application.
  public Access access() {
    return objects.access;
  }

  public RoleSet roles() {
    return objects.access.roles();
  }

  public Collection<String> schemas() {
    return objects.schemas.keySet();
  }

  /// Comment on a schema, or null.
  public @Nullable String comment(String schema) {
    return objects.comments.get(schema);
  }

  public boolean hasSchema(String name) {
    return objects.schemas.containsKey(name);
  }

  /// Tables of a schema in the order of their names; empty if there is no such schema.
  public Collection<Table> tables(String schema) {
    return objects.tables(schema).values();
  }

  /// All tables, system tables included.
  public List<Table> tables() {
    List<Table> all = new ArrayList<>();
    objects.schemas.values().forEach(tables -> all.addAll(tables.values()));
    return all;
  }

  public @Nullable Table table(String schema, String name) {
    return objects.tables(schema).get(name);
  }

  /// All sequences, in the order of their numbers.
  public Collection<Sequence> sequences() {
    return objects.sequences.values();
  }

  public @Nullable Sequence sequence(long sequenceId) {
    return objects.sequences.get(sequenceId);
  }

  public @Nullable Sequence sequence(String schema, String name) {
    for (Sequence sequence : objects.sequences.values()) {
      if (sequence.schema().equals(schema) && sequence.name().equals(name)) {
        return sequence;
      }
    }
    return null;
  }

  /// The view of a number, or null.
  public @Nullable View view(long viewId) {
    return objects.views.get(viewId);
  }

  /// All views, in the order of their numbers: a view comes after those that it was made of.
  public Collection<View> views() {
    return objects.views.values();
  }

  public @Nullable View view(String schema, String name) {
    for (View view : objects.views.values()) {
      if (view.schema().equals(schema) && view.name().equals(name)) {
        return view;
      }
    }
    return null;
  }

  /// Definitions for the queue system: all queues, in the order of their numbers.
  public List<QueueDefinition> queues() {
    return objects.queues.definitions();
  }

  /// All queues with their rights, in the order of their numbers.
  public Collection<Queue> queueObjects() {
    return objects.queues.all();
  }

  /// The queue of a number, or null.
  public @Nullable Queue queue(long queueId) {
    return objects.queues.get(queueId);
  }

  public @Nullable Queue queue(String schema, String name) {
    return objects.queues.find(schema, name);
  }

  /// Native applications, and what they offer by name.
  public ApplicationSet applications() {
    return objects.applications;
  }

  /// Definitions for the application system: all applications, in the order of their numbers.
  public List<ApplicationDefinition> applicationDefinitions() {
    return objects.applications.all().stream()
        .map(each -> each.definition(objects.access.roles()))
        .toList();
  }

  /// Whether a table, sequence, view, queue or application has the number.
  public boolean hasObject(long id) {
    return table(id) != null
        || objects.sequences.containsKey(id)
        || objects.views.containsKey(id)
        || queue(id) != null
        || objects.applications.get(id) != null;
  }

  /// The name that a table, a sequence, a view or a queue has; null for other numbers.
  public @Nullable DefinedName nameOf(long id) {
    Table table = table(id);
    if (table != null) {
      return new DefinedName(table.schema(), table.name());
    }
    Sequence sequence = sequence(id);
    if (sequence != null) {
      return new DefinedName(sequence.schema(), sequence.name());
    }
    View view = view(id);
    if (view != null) {
      return new DefinedName(view.schema(), view.name());
    }
    Queue queue = queue(id);
    return queue == null ? null : new DefinedName(queue.schema(), queue.name());
  }

  /// The names that a table with its indexes, a sequence, a view or a queue has; none for other numbers.
  Set<DefinedName> namesOf(long id) {
    Set<DefinedName> names = new HashSet<>();
    DefinedName own = nameOf(id);
    if (own != null) {
      names.add(own);
    }
    Table table = table(id);
    if (table != null) {
      table.indexes().forEach(index -> names.add(new DefinedName(table.schema(), index.name())));
    }
    return names;
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
    return objects.tables.get(tableId);
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
    return new CatalogChange.Put(TABLE_KEY + table.tableId(), TableCodec.encode(table));
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

  /// Adds a queue, or gives it a new form.
  public static CatalogChange put(Queue queue) {
    return new CatalogChange.Put(QUEUE_KEY + queue.queueId(), QueueCodec.encode(queue));
  }

  public static CatalogChange remove(Queue queue) {
    return new CatalogChange.Remove(QUEUE_KEY + queue.queueId());
  }

  /// Adds an application, or gives it a new form.
  public static CatalogChange put(DeployedApplication application) {
    return new CatalogChange.Put(
        APPLICATION_KEY + application.applicationId(), ApplicationCodec.encode(application));
  }

  public static CatalogChange remove(DeployedApplication application) {
    return new CatalogChange.Remove(APPLICATION_KEY + application.applicationId());
  }

  /// @param sha256 of the bytes, which nobody changes from now on
  public static CatalogChange putJar(String sha256, byte[] bytes) {
    return new CatalogChange.Put(JAR_KEY + sha256, bytes);
  }

  public static CatalogChange removeJar(String sha256) {
    return new CatalogChange.Remove(JAR_KEY + sha256);
  }

  /// This version changed; changes of the physical side mean nothing here.
  public CatalogSnapshot with(List<CatalogChange> changes, long newVersion) {
    Objects changed = objects;
    for (CatalogChange change : changes) {
      if (change instanceof CatalogChange.Put put) {
        changed = changed.put(put.key(), put.value());
      } else if (change instanceof CatalogChange.Remove remove) {
        changed = changed.remove(remove.key());
      }
    }
    return new CatalogSnapshot(newVersion, changed);
  }
}
