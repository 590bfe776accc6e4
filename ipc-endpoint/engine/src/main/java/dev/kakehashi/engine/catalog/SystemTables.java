package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.Computation;
import dev.kakehashi.protocol.capability.StoredType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// Tables that describe the catalogue; their rows are made when they are read.
public final class SystemTables {
  static final String CATALOG_SCHEMA = "kakehashi_catalog";
  static final String INFORMATION_SCHEMA = "information_schema";

  /// Tables from -7 down to here, and the statistics, show the state of the engine, the others the catalogue.
  private static final int LAST_LIVE = -10;

  private static final int CHECK_CONSTRAINTS = -11;
  private static final long COLUMN_STATISTICS = -20;
  private static final int SEQUENCES = -12;
  private static final int VIEWS = -13;
  private static final int COMMENTS = -14;
  private static final int SESSIONS = -15;
  private static final int JOBS = -16;
  private static final int FOREIGN_KEYS = -17;
  private static final int KEYS = -21;
  private static final int DEFINITIONS = -22;
  private static final int TABLE_CONSTRAINTS = -23;
  private static final int KEY_COLUMN_USAGE = -24;
  private static final int REFERENTIAL_CONSTRAINTS = -25;
  private static final int TABLE_MEMORY = -29;
  private static final int WAITS = -18;
  private static final int ROLES = -30;
  private static final int ROLE_MEMBERS = -31;
  private static final int PRIVILEGES = -32;
  private static final int COPIES = -34;
  private static final int LOCATIONS = -33;
  private static final int SETTINGS = -39;
  private static final int STORAGE = -35;
  private static final int REQUEST_TIMES = -36;
  private static final int CAPABILITIES = -37;

  static final List<Table> TABLES =
      List.of(
          table(
              ROLES,
              CATALOG_SCHEMA,
              "roles",
              "role_name text",
              "is_superuser bool",
              "inherits bool",
              "can_create_roles bool",
              "can_create_databases bool",
              "can_log_in bool",
              "has_password bool",
              "valid_until timestamptz",
              "comment text"),
          table(
              ROLE_MEMBERS,
              CATALOG_SCHEMA,
              "role_members",
              "role_name text",
              "member_name text",
              "grantor text",
              "admin_option bool"),
          table(
              PRIVILEGES,
              CATALOG_SCHEMA,
              "privileges",
              "object_type text",
              "object_schema text",
              "object_name text",
              "column_name text",
              "owner text",
              "grantor text",
              "grantee text",
              "privilege text",
              "is_grantable bool"),
          table(
              LOCATIONS,
              CATALOG_SCHEMA,
              "locations",
              "location_name text",
              "readable bool",
              "writable bool",
              "privileges text"),
          table(
              SETTINGS,
              CATALOG_SCHEMA,
              "settings",
              "name text",
              "value text",
              "default_value text",
              "source text",
              "changeable bool",
              "pending_restart bool",
              "pending_value text"),
          table(
              -1,
              CATALOG_SCHEMA,
              "tables",
              "table_schema text",
              "table_name text",
              "row_count int8"),
          table(
              -2,
              CATALOG_SCHEMA,
              "columns",
              "table_schema text",
              "table_name text",
              "column_name text",
              "ordinal_position int4",
              "type_oid int8",
              "type_modifier int4",
              "not_null bool",
              "column_default text",
              "key_position int4",
              "generated text",
              "generation_expression text"),
          table(
              -3,
              CATALOG_SCHEMA,
              "indexes",
              "table_schema text",
              "table_name text",
              "index_name text",
              "is_unique bool",
              "is_primary bool",
              "column_name text",
              "key_position int4",
              "is_descending bool",
              "is_partial bool",
              "nulls_first bool",
              "nulls_not_distinct bool"),
          table(-4, INFORMATION_SCHEMA, "schemata", "catalog_name text", "schema_name text"),
          table(
              -5,
              INFORMATION_SCHEMA,
              "tables",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "table_type text"),
          table(
              -6,
              INFORMATION_SCHEMA,
              "columns",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "column_name text",
              "ordinal_position int4",
              "column_default text",
              "is_nullable text",
              "data_type text",
              "is_generated text",
              "generation_expression text"),
          table(
              -7,
              CATALOG_SCHEMA,
              "prepared_transactions",
              "transaction_id int8",
              "gid text",
              "prepared_at timestamptz",
              "owner text",
              "user_name text",
              "handle int8"),
          table(
              -8,
              CATALOG_SCHEMA,
              "transactions",
              "transaction_id int8",
              "label text",
              "kind text",
              "isolation text",
              "state text",
              "began_at timestamptz",
              "has_writes bool",
              "handle int8",
              "commits_held int8",
              "priority int4",
              "epoch int8",
              "waiting bool"),
          table(
              -9,
              CATALOG_SCHEMA,
              "memory",
              "limit_bytes int8",
              "reserved_bytes int8",
              "changes_held int8",
              "commits_held int8",
              "used_bytes int8"),
          table(
              -10,
              CATALOG_SCHEMA,
              "locks",
              "transaction_id int8",
              "table_schema text",
              "table_name text",
              "mode text",
              "granted bool"),
          table(
              CHECK_CONSTRAINTS,
              CATALOG_SCHEMA,
              "check_constraints",
              "table_schema text",
              "table_name text",
              "constraint_name text",
              "check_clause text"),
          table(
              COLUMN_STATISTICS,
              CATALOG_SCHEMA,
              "column_statistics",
              "table_schema text",
              "table_name text",
              "column_name text",
              "type_oid int8",
              "table_rows float8",
              "sampled_rows int8",
              "analyzed_at timestamptz",
              "null_fraction float8",
              "average_width int4",
              "n_distinct float8",
              "most_common_values text",
              "most_common_frequencies text",
              "histogram_bounds text"),
          table(
              SEQUENCES,
              CATALOG_SCHEMA,
              "sequences",
              "sequence_schema text",
              "sequence_name text",
              "type_oid int8",
              "start_value int8",
              "min_value int8",
              "max_value int8",
              "increment_by int8",
              "cycles bool",
              "last_value int8"),
          table(
              VIEWS,
              CATALOG_SCHEMA,
              "views",
              "table_schema text",
              "table_name text",
              "view_definition text"),
          table(
              COMMENTS,
              CATALOG_SCHEMA,
              "comments",
              "object_type text",
              "object_schema text",
              "object_name text",
              "column_name text",
              "comment text",
              "constraint_name text"),
          table(
              SESSIONS,
              CATALOG_SCHEMA,
              "sessions",
              "session_id int8",
              "client_kind text",
              "application_name text",
              "process_id int4",
              "os_user text",
              "user_name text",
              "attached_at timestamptz",
              "state text",
              "handle int8",
              "statement text",
              "statement_started_at timestamptz",
              "running int4",
              "requests int8",
              "rows_sent int8",
              "batches int8",
              "bytes_sent int8",
              "waits int8",
              "buffer_bytes int8"),
          table(
              JOBS,
              CATALOG_SCHEMA,
              "jobs",
              "job_id int8",
              "name text",
              "label text",
              "state text",
              "progress float8",
              "tasks int8",
              "tasks_finished int8",
              "queued_ms float8",
              "run_ms float8",
              "elapsed_ms float8",
              "transaction_id int8",
              "handle int8",
              "pages int8",
              "pages_read int8"),
          table(
              COPIES,
              CATALOG_SCHEMA,
              "copies",
              "job_id int8",
              "statement text",
              "command text",
              "bytes_processed int8",
              "bytes_total int8",
              "rows_processed int8",
              "rows_filtered int8",
              "rows_rejected int8"),
          table(
              STORAGE,
              CATALOG_SCHEMA,
              "storage",
              "groups int8",
              "commits int8",
              "flush_us int8",
              "log_bytes int8",
              "log_segments int8",
              "log_unapplied_bytes int8",
              "checkpoints int8",
              "last_checkpoint timestamptz",
              "backups int8",
              "last_backup timestamptz",
              "disk_bytes int8",
              "disk_free_bytes int8"),
          table(REQUEST_TIMES, CATALOG_SCHEMA, "request_times", "upper_us int8", "requests int8"),
          table(
              CAPABILITIES,
              CATALOG_SCHEMA,
              "capabilities",
              "engine text",
              "kind text",
              "name text",
              "present bool"),
          table(
              TABLE_MEMORY,
              CATALOG_SCHEMA,
              "table_memory",
              "table_schema text",
              "table_name text",
              "total_bytes int8",
              "page_bytes int8",
              "value_bytes int8",
              "index_bytes int8"),
          table(
              WAITS,
              CATALOG_SCHEMA,
              "waits",
              "transaction_id int8",
              "process_id int8",
              "pid_namespace int8",
              "blocking_transaction_id int8",
              "blocking_process_id int8",
              "blocking_pid_namespace int8",
              "blocking_gid text",
              "wait_id int8"),
          table(
              FOREIGN_KEYS,
              CATALOG_SCHEMA,
              "foreign_keys",
              "table_schema text",
              "table_name text",
              "constraint_name text",
              "column_name text",
              "key_position int4",
              "referenced_schema text",
              "referenced_table text",
              "referenced_column text",
              "update_rule text",
              "delete_rule text",
              "match_option text",
              "is_deferrable bool",
              "initially_deferred bool",
              "is_validated bool"),
          table(
              KEYS,
              CATALOG_SCHEMA,
              "keys",
              "table_schema text",
              "table_name text",
              "constraint_name text",
              "constraint_type text",
              "column_name text",
              "ordinal_position int4",
              "is_deferrable bool",
              "initially_deferred bool",
              "referenced_schema text",
              "referenced_table text",
              "referenced_column text",
              "referenced_constraint text",
              "match_option text",
              "update_rule text",
              "delete_rule text",
              "nulls_distinct bool"),
          table(
              DEFINITIONS,
              CATALOG_SCHEMA,
              "definitions",
              "ordinal_position int8",
              "object_type text",
              "object_schema text",
              "object_name text",
              "definition text"),
          table(
              TABLE_CONSTRAINTS,
              INFORMATION_SCHEMA,
              "table_constraints",
              "constraint_catalog text",
              "constraint_schema text",
              "constraint_name text",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "constraint_type text",
              "is_deferrable text",
              "initially_deferred text",
              "enforced text",
              "nulls_distinct text"),
          table(
              KEY_COLUMN_USAGE,
              INFORMATION_SCHEMA,
              "key_column_usage",
              "constraint_catalog text",
              "constraint_schema text",
              "constraint_name text",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "column_name text",
              "ordinal_position int4",
              "position_in_unique_constraint int4"),
          table(
              REFERENTIAL_CONSTRAINTS,
              INFORMATION_SCHEMA,
              "referential_constraints",
              "constraint_catalog text",
              "constraint_schema text",
              "constraint_name text",
              "unique_constraint_catalog text",
              "unique_constraint_schema text",
              "unique_constraint_name text",
              "match_option text",
              "update_rule text",
              "delete_rule text"));

  private static final String DATABASE = "kakehashi";

  private SystemTables() {}

  /// Position of the column with the schema of what a row is about; -1: there is none.
  public static int schemaColumn(Table table) {
    return columnOf(table, "table_schema", "sequence_schema", "object_schema", "queue_schema");
  }

  /// Position of the column with the name of what a row is about; -1: there is none. Comments are not narrowed by it: they are also about indexes, which are
  /// found by their tables.
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

  /// Rows of a system table; values are String, Long (any integer), Double, Boolean, Duration (an interval) or null.
  ///
  /// @param catalog narrows what the rows are about; there may be rows about others
  /// @param rowCount live rows of a table that the store has; as [LiveTables] it has the rows about the running engine, too
  /// @param viewer who sees them
  public static List<@Nullable Object[]> rows(
      Table table, CatalogNames catalog, ToLongFunction<Table> rowCount, Viewer viewer) {
    if (isLive(table.tableId())) {
      return rowCount instanceof LiveTables live
          ? liveRows(table, catalog, live, viewer)
          : List.of();
    }
    List<@Nullable Object[]> rows = new ArrayList<>();
    if (table.tableId() == -4) {
      catalog.schemas().forEach(schema -> rows.add(new Object[] {DATABASE, schema}));
      return rows;
    }
    if (table.tableId() == COMMENTS) {
      return CommentRows.of(catalog);
    }
    switch ((int) table.tableId()) {
      case KEYS -> {
        return KeyRows.keys(catalog);
      }
      case DEFINITIONS -> {
        return DefinitionRows.of(catalog.catalog(), false);
      }
      case ROLES -> {
        return RightsRows.roles(catalog.catalog());
      }
      case ROLE_MEMBERS -> {
        return RightsRows.members(catalog.catalog());
      }
      case PRIVILEGES -> {
        return RightsRows.privileges(catalog);
      }
      case TABLE_CONSTRAINTS -> {
        return KeyRows.constraints(catalog, DATABASE);
      }
      case KEY_COLUMN_USAGE -> {
        return KeyRows.columns(catalog, DATABASE);
      }
      case REFERENTIAL_CONSTRAINTS -> {
        return KeyRows.references(catalog, DATABASE);
      }
      default -> {}
    }
    if (table.tableId() == SEQUENCES) {
      catalog.sequences().forEach(sequence -> rows.add(row(sequence, rowCount)));
      return rows;
    }
    if (table.tableId() == VIEWS) {
      catalog
          .views()
          .forEach(view -> rows.add(new Object[] {view.schema(), view.name(), view.text()}));
      return rows;
    }
    addViews(rows, table, catalog);
    for (Table each : catalog.tables()) {
      if (each.isSystem() && table.schema().equals(CATALOG_SCHEMA)) {
        continue;
      }
      switch ((int) table.tableId()) {
        case -1 -> rows.add(new Object[] {each.schema(), each.name(), rowCount.applyAsLong(each)});
        case -2 -> addColumns(rows, each);
        case -3 -> addIndexes(rows, each);
        case CHECK_CONSTRAINTS ->
            each.checks()
                .forEach(check ->
                    rows.add(
                        new Object[] {each.schema(), each.name(), check.name(), check.text()}));
        case FOREIGN_KEYS -> addForeignKeys(rows, each, catalog.catalog());
        case -5 ->
            rows.add(
                new Object[] {
                  DATABASE, each.schema(), each.name(), each.isSystem() ? "VIEW" : "BASE TABLE"
                });
        default -> addInformationColumns(rows, each);
      }
    }
    return rows;
  }

  /// Views among the tables and columns.
  private static void addViews(
      Collection<@Nullable Object[]> rows, Table table, CatalogNames catalog) {
    for (View view : catalog.views()) {
      Table form = view.form();
      switch ((int) table.tableId()) {
        case -1 -> rows.add(new Object[] {view.schema(), view.name(), null});
        case -2 -> addColumns(rows, form);
        case -5 -> rows.add(new Object[] {DATABASE, view.schema(), view.name(), "VIEW"});
        case -6 -> addInformationColumns(rows, form);
        default -> {}
      }
    }
  }

  private static boolean isLive(long tableId) {
    return (tableId <= -7 && tableId >= LAST_LIVE)
        || tableId == COLUMN_STATISTICS
        || tableId == SESSIONS
        || tableId == WAITS
        || tableId == JOBS
        || tableId == COPIES
        || tableId == TABLE_MEMORY
        || tableId == STORAGE
        || tableId == REQUEST_TIMES
        || tableId == CAPABILITIES
        || tableId == LOCATIONS
        || tableId == SETTINGS
        || QueueTables.isOf(tableId)
        || ApplicationTables.isOf(tableId);
  }

  private static @Nullable Object[] row(Sequence sequence, ToLongFunction<Table> facts) {
    SequenceDefinition numbers = sequence.definition();
    return new @Nullable Object[] {
      sequence.schema(),
      sequence.name(),
      (long) sequence.typeOid(),
      numbers.start(),
      numbers.min(),
      numbers.max(),
      numbers.increment(),
      numbers.cycles(),
      facts instanceof LiveTables live ? live.lastValue(sequence) : null
    };
  }

  private static List<@Nullable Object[]> liveRows(
      Table table, CatalogNames catalog, LiveTables live, Viewer viewer) {
    if (QueueTables.isOf(table.tableId())) {
      return live.queues((int) table.tableId(), catalog, viewer);
    }
    if (ApplicationTables.isOf(table.tableId())) {
      return live.applications((int) table.tableId(), catalog, viewer);
    }
    return switch ((int) table.tableId()) {
      case (int) COLUMN_STATISTICS -> live.columnStatistics(catalog.tables(), viewer);
      case -7 -> live.preparedTransactions(viewer);
      case -8 -> live.transactions(viewer);
      case -10 -> live.locks();
      case SESSIONS -> live.sessions(viewer);
      case WAITS -> live.waits();
      case JOBS -> live.jobs(viewer);
      case COPIES -> live.copies(viewer);
      case TABLE_MEMORY -> live.tableMemory(catalog.tables());
      case STORAGE -> live.storage(viewer);
      case REQUEST_TIMES -> live.requestTimes(viewer);
      case LOCATIONS -> live.locations(viewer);
      case SETTINGS -> settings(live.settings());
      case CAPABILITIES -> capabilities(Capabilities.EMBEDDED);
      default -> live.memory();
    };
  }

  private static List<@Nullable Object[]> settings(List<ShownSetting> settings) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (ShownSetting each : settings) {
      rows.add(
          new @Nullable Object[] {
            each.name(),
            each.value(),
            each.defaultValue(),
            each.source(),
            each.changeable(),
            each.pending() != null,
            each.pending()
          });
    }
    return rows;
  }

  private static List<@Nullable Object[]> capabilities(Capabilities engine) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    String name = engine.engine();
    for (Capability each : Capability.values()) {
      rows.add(new Object[] {name, "capability", each.name(), engine.has(each)});
    }
    for (Computation each : Computation.values()) {
      rows.add(new Object[] {name, "computation", each.name(), engine.computes(each)});
    }
    for (StoredType each : StoredType.values()) {
      rows.add(new Object[] {name, "type", each.name(), engine.keeps(each)});
    }
    return rows;
  }

  private static void addColumns(Collection<@Nullable Object[]> rows, Table table) {
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

  private static void addIndexes(Collection<@Nullable Object[]> rows, Table table) {
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

  private static void addForeignKeys(
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

  private static void addInformationColumns(Collection<@Nullable Object[]> rows, Table table) {
    long ordinal = 0;
    for (Column column : table.columns()) {
      if (column.hidden()) {
        continue;
      }
      ordinal++;
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

  static Table table(long tableId, String schema, String name, String... columns) {
    List<Column> list = new ArrayList<>();
    for (String column : columns) {
      int space = column.indexOf(' ');
      int oid =
          switch (column.substring(space + 1)) {
            case "int4" -> TypeOid.INT4;
            case "int8" -> TypeOid.INT8;
            case "bool" -> TypeOid.BOOL;
            case "float8" -> TypeOid.FLOAT8;
            case "timestamptz" -> TypeOid.TIMESTAMPTZ;
            case "interval" -> TypeOid.INTERVAL;
            case "jsonb" -> TypeOid.JSONB;
            default -> TypeOid.TEXT;
          };
      list.add(new Column(column.substring(0, space), SqlType.of(oid), false, null));
    }
    return new Table(schema, name, tableId, list, List.of());
  }
}
