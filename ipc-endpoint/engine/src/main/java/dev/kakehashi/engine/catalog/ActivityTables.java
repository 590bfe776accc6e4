package dev.kakehashi.engine.catalog;

import java.util.List;

/// System tables about the running engine; their rows are made of its state.
public final class ActivityTables {
  public static final int PREPARED_TRANSACTIONS = -7;
  public static final int TRANSACTIONS = -8;
  public static final int MEMORY = -9;
  public static final int LOCKS = -10;
  public static final int SESSIONS = -15;
  public static final int JOBS = -16;
  public static final int WAITS = -18;
  public static final int COLUMN_STATISTICS = -20;
  public static final int TABLE_MEMORY = -29;
  public static final int LOCATIONS = -33;
  public static final int COPIES = -34;
  public static final int STORAGE = -35;
  public static final int REQUEST_TIMES = -36;
  public static final int CAPABILITIES = -37;
  public static final int SETTINGS = -39;
  public static final int LOG = -58;
  public static final int COLUMN_MEMORY = -61;

  static final List<Table> TABLES =
      List.of(
          SystemTableForm.table(
              LOCATIONS,
              SystemTables.CATALOG_SCHEMA,
              "locations",
              "location_name text",
              "readable bool",
              "writable bool",
              "privileges text"),
          SystemTableForm.table(
              SETTINGS,
              SystemTables.CATALOG_SCHEMA,
              "settings",
              "name text",
              "value text",
              "default_value text",
              "source text",
              "changeable bool",
              "pending_restart bool",
              "pending_value text"),
          SystemTableForm.table(
              PREPARED_TRANSACTIONS,
              SystemTables.CATALOG_SCHEMA,
              "prepared_transactions",
              "transaction_id int8",
              "gid text",
              "prepared_at timestamptz",
              "owner text",
              "user_name text",
              "handle int8"),
          SystemTableForm.table(
              TRANSACTIONS,
              SystemTables.CATALOG_SCHEMA,
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
              "waiting bool",
              "user_name text",
              "idle_since timestamptz"),
          SystemTableForm.table(
              MEMORY,
              SystemTables.CATALOG_SCHEMA,
              "memory",
              "limit_bytes int8",
              "reserved_bytes int8",
              "changes_held int8",
              "commits_held int8",
              "used_bytes int8"),
          SystemTableForm.table(
              LOCKS,
              SystemTables.CATALOG_SCHEMA,
              "locks",
              "transaction_id int8",
              "table_schema text",
              "table_name text",
              "mode text",
              "granted bool"),
          SystemTableForm.table(
              COLUMN_STATISTICS,
              SystemTables.CATALOG_SCHEMA,
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
          SystemTableForm.table(
              SESSIONS,
              SystemTables.CATALOG_SCHEMA,
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
              "buffer_bytes int8",
              "direct_reads int8"),
          SystemTableForm.table(
              JOBS,
              SystemTables.CATALOG_SCHEMA,
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
          SystemTableForm.table(
              COPIES,
              SystemTables.CATALOG_SCHEMA,
              "copies",
              "job_id int8",
              "statement text",
              "command text",
              "bytes_processed int8",
              "bytes_total int8",
              "rows_processed int8",
              "rows_filtered int8",
              "rows_rejected int8"),
          SystemTableForm.table(
              STORAGE,
              SystemTables.CATALOG_SCHEMA,
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
          SystemTableForm.table(
              LOG,
              SystemTables.CATALOG_SCHEMA,
              "log",
              "position text",
              "archive_location text",
              "archive_position text",
              "last_archived timestamptz",
              "archive_waiting_bytes int8",
              "archive_files int8",
              "archive_failures int8",
              "archive_gaps int8",
              "archive_problem text",
              "primary text",
              "applied_position text",
              "lag_bytes int8",
              "lag_us int8",
              "primary_problem text"),
          SystemTableForm.table(
              REQUEST_TIMES,
              SystemTables.CATALOG_SCHEMA,
              "request_times",
              "upper_us int8",
              "requests int8"),
          SystemTableForm.table(
              CAPABILITIES,
              SystemTables.CATALOG_SCHEMA,
              "capabilities",
              "engine text",
              "kind text",
              "name text",
              "present bool"),
          SystemTableForm.table(
              TABLE_MEMORY,
              SystemTables.CATALOG_SCHEMA,
              "table_memory",
              "table_schema text",
              "table_name text",
              "total_bytes int8",
              "page_bytes int8",
              "value_bytes int8",
              "index_bytes int8",
              "row_bytes float8"),
          SystemTableForm.table(
              COLUMN_MEMORY,
              SystemTables.CATALOG_SCHEMA,
              "column_memory",
              "table_schema text",
              "table_name text",
              "column_name text",
              "total_bytes int8",
              "page_bytes int8",
              "value_bytes int8",
              "row_bytes float8"),
          SystemTableForm.table(
              WAITS,
              SystemTables.CATALOG_SCHEMA,
              "waits",
              "transaction_id int8",
              "process_id int8",
              "pid_namespace int8",
              "blocking_transaction_id int8",
              "blocking_process_id int8",
              "blocking_pid_namespace int8",
              "blocking_gid text",
              "wait_id int8"));

  private ActivityTables() {}

  static boolean isOf(long tableId) {
    return TABLES.stream().anyMatch(table -> table.tableId() == tableId);
  }
}
