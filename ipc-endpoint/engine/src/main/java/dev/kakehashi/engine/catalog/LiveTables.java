package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// State of the running engine for a planner: row counts of tables, and rows of system tables that show the engine's state. Values that the
/// viewer may not see are null or "<insufficient privilege>".
public interface LiveTables extends ToLongFunction<Table> {
  /// Permissions of a viewer in a version of the catalogue.
  Permissions permissions(CatalogSnapshot catalog, Viewer viewer);

  /// Running transactions: transaction_id, label, kind, isolation, state, began_at, has_writes, handle, commits_held, priority, epoch,
  /// waiting, user_name, idle_since.
  List<@Nullable Object[]> transactions(Viewer viewer);

  /// The store's memory: one row of limit_bytes, reserved_bytes, changes_held, commits_held, used_bytes.
  List<@Nullable Object[]> memory();

  /// Shares of tables in that memory: table_schema, table_name, total_bytes, page_bytes, value_bytes, index_bytes, row_bytes.
  List<@Nullable Object[]> tableMemory(List<Table> of);

  /// Shares of columns in those of their tables: table_schema, table_name, column_name, total_bytes, page_bytes, value_bytes, row_bytes.
  List<@Nullable Object[]> columnMemory(List<Table> of);

  /// Value that a sequence has given last; null: none yet.
  @Nullable Long lastValue(Sequence sequence);

  /// Log, checkpoints and backups: one row of the columns of the system table `storage`; none for who does not see all.
  List<@Nullable Object[]> storage(Viewer viewer);

  /// Positions of log and archive: one row of the columns of the system table `log`; none for who does not see all.
  List<@Nullable Object[]> log(Viewer viewer);

  /// How long requests took: upper_us, requests; none for who does not see all.
  List<@Nullable Object[]> requestTimes(Viewer viewer);

  /// Locks of objects and names: transaction_id, table_schema (null for the catalogue and for entries about rights), table_name (null for a
  /// schema, too), mode, granted.
  List<@Nullable Object[]> locks();

  /// Prepared transactions: transaction_id, gid, prepared_at, owner, user_name, handle.
  List<@Nullable Object[]> preparedTransactions(Viewer viewer);

  /// Clients' sessions, see [dev.kakehashi.engine.api.ClientSession].
  List<@Nullable Object[]> sessions(Viewer viewer);

  /// Transactions that wait for the end of others: transaction_id, process_id and pid_namespace (null unless exactly one session uses it),
  /// the same of the blocking one, blocking_gid (null unless that is prepared), wait_id.
  List<@Nullable Object[]> waits();

  /// Jobs of the scheduler: job_id, name, label, state, progress, tasks, tasks_finished, queued_ms, run_ms, elapsed_ms, transaction_id,
  /// handle, pages, pages_read (both null: not known).
  List<@Nullable Object[]> jobs(Viewer viewer);

  /// Running COPYs from and to files: job_id, statement, command, bytes_processed, bytes_total (0: not known), rows_processed,
  /// rows_filtered, rows_rejected.
  List<@Nullable Object[]> copies(Viewer viewer);

  /// Locations of files that the settings have: location_name, readable, writable, privileges (those of the viewer).
  List<@Nullable Object[]> locations(Viewer viewer);

  /// Rows of the tables about queues; empty without queues.
  ///
  /// @param tableId of [QueueTables]
  /// @param names narrows the queues
  List<@Nullable Object[]> queues(int tableId, CatalogNames names, Viewer viewer);

  /// Rows of the tables about native applications.
  ///
  /// @param tableId of [ApplicationTables]
  List<@Nullable Object[]> applications(int tableId, CatalogNames names, Viewer viewer);

  /// Access to files of COPY: checks, reads and writes them.
  BulkAccess bulkAccess();

  /// System that has the code of native applications; null: there is none.
  @Nullable ApplicationSystem applications();

  /// Settings that SHOW gives, besides those that are the same in every engine.
  List<ShownSetting> settings();

  /// Statistics of the columns of tables: rows of `kakehashi_catalog.column_statistics`.
  ///
  /// @param viewer sees those of columns that he may read
  List<@Nullable Object[]> columnStatistics(List<Table> of, Viewer viewer);
}
