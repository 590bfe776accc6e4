/*
 * SQL functions that show a table of kakehashi_catalog: what is on the engine, and what goes on there.
 */
#include "fdw/command/command.h"

#include "fmgr.h"

/* The columns are those that the extension's script declares, in their order. */
#define CATALOG_FUNCTION(name, needed, sql)                                                                            \
	PG_FUNCTION_INFO_V1(name);                                                                                         \
	Datum name(PG_FUNCTION_ARGS)                                                                                       \
	{                                                                                                                  \
		return kakehashi_return_catalog(fcinfo, needed, sql);                                                          \
	}                                                                                                                  \
	extern Datum name(PG_FUNCTION_ARGS)

CATALOG_FUNCTION(kakehashi_tables, KH_CAN_CATALOGUE,
                 "SELECT table_schema, table_name, row_count FROM kakehashi_catalog.tables ORDER BY 1, 2");

CATALOG_FUNCTION(kakehashi_columns, KH_CAN_CATALOGUE,
                 "SELECT table_schema, table_name, column_name, ordinal_position, type_oid, type_modifier, not_null,"
                 " column_default, key_position FROM kakehashi_catalog.columns ORDER BY 1, 2, 4");

CATALOG_FUNCTION(kakehashi_transactions, KH_CAN_ACTIVITY,
                 "SELECT transaction_id, label, kind, isolation, state, began_at, has_writes, handle, commits_held,"
                 " user_name, idle_since FROM kakehashi_catalog.transactions ORDER BY 1");

CATALOG_FUNCTION(kakehashi_prepared_transactions, KH_CAN_ACTIVITY,
                 "SELECT transaction_id, gid, prepared_at, owner, user_name, handle"
                 " FROM kakehashi_catalog.prepared_transactions ORDER BY 1");

CATALOG_FUNCTION(kakehashi_memory, KH_CAN_ACTIVITY,
                 "SELECT limit_bytes, reserved_bytes, changes_held, commits_held, used_bytes"
                 " FROM kakehashi_catalog.memory");

CATALOG_FUNCTION(kakehashi_table_memory, KH_CAN_ACTIVITY,
                 "SELECT table_schema, table_name, total_bytes, page_bytes, value_bytes, index_bytes"
                 " FROM kakehashi_catalog.table_memory ORDER BY total_bytes DESC, table_schema, table_name");

/* kakehashi_sessions() without a server is about this backend. */
CATALOG_FUNCTION(kakehashi_engine_sessions, KH_CAN_ACTIVITY,
                 "SELECT session_id, client_kind, application_name, process_id, os_user, user_name, attached_at, state,"
                 " handle, statement, statement_started_at, running, requests, rows_sent, batches, bytes_sent, waits,"
                 " buffer_bytes, direct_reads FROM kakehashi_catalog.sessions ORDER BY 1");

CATALOG_FUNCTION(kakehashi_jobs, KH_CAN_ACTIVITY,
                 "SELECT job_id, name, label, state, progress, tasks, tasks_finished, queued_ms,"
                 " run_ms, elapsed_ms, transaction_id, handle FROM kakehashi_catalog.jobs ORDER BY 1");

CATALOG_FUNCTION(kakehashi_statistics, KH_CAN_STATISTICS,
                 "SELECT table_schema, table_name, column_name, table_rows, sampled_rows, analyzed_at, null_fraction,"
                 " average_width, n_distinct, most_common_values, most_common_frequencies, histogram_bounds"
                 " FROM kakehashi_catalog.column_statistics ORDER BY 1, 2, 3");

CATALOG_FUNCTION(kakehashi_definitions, KH_CAN_CATALOGUE,
                 "SELECT ordinal_position, object_type, object_schema, object_name, definition"
                 " FROM kakehashi_catalog.definitions ORDER BY 1");

CATALOG_FUNCTION(kakehashi_keys, KH_CAN_CATALOGUE,
                 "SELECT table_schema, table_name, constraint_name, constraint_type, column_name, ordinal_position,"
                 " is_deferrable, initially_deferred, referenced_schema, referenced_table, referenced_column,"
                 " referenced_constraint, match_option, update_rule, delete_rule, nulls_distinct"
                 " FROM kakehashi_catalog.keys ORDER BY 1, 2, 3, 6");
