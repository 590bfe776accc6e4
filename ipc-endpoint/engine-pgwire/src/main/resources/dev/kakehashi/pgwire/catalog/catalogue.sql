-- The tables of kakehashi_catalog, as views of the server's own catalogue. Each begins with "VIEW name" on a line of its own.
-- {tuples} is the number of a table's rows as the server estimates it, below 0 if it is not known. {shard_statistics} adds rows of tables whose rows are on several nodes.
-- {waits} adds waits on other nodes for transactions that were prepared there and are not decided.
-- {comments} marks tables whose rows are on several nodes, and the columns by which these are spread.
-- {settings} adds one that says that the server may refuse to plan queries which others run.
-- Names are of type text, and numbers of those types that the endpoint's clients know.

VIEW relations
SELECT c.oid AS relation, n.nspname::text AS table_schema, c.relname::text AS table_name, c.relkind AS kind, {tuples} AS tuples
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname NOT IN ('information_schema', 'kakehashi_catalog')
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
  AND NOT (c.relkind IN ('v', 'm') AND EXISTS (SELECT FROM pg_catalog.pg_depend e WHERE e.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND e.objid = c.oid AND e.deptype = 'e'))

VIEW tables
SELECT table_schema, table_name, CASE WHEN kind <> 'v' AND tuples >= 0 THEN tuples::int8 END AS row_count FROM kakehashi_catalog.relations

VIEW columns
WITH RECURSIVE base (type, base, modifier) AS (
  SELECT t.oid, t.oid, -1 FROM pg_catalog.pg_type t WHERE t.typtype <> 'd'
  UNION ALL
  SELECT t.oid, b.base, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE b.modifier END FROM pg_catalog.pg_type t JOIN base b ON b.type = t.typbasetype WHERE t.typtype = 'd')
SELECT r.table_schema, r.table_name, a.attname::text AS column_name, (pg_catalog.row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum))::int4 AS ordinal_position,
  b.base::int8 AS type_oid, CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE b.modifier END AS type_modifier, a.attnotnull AS not_null,
  CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END AS column_default,
  pg_catalog.array_position(i.indkey::int2[], a.attnum) + 1 AS key_position,
  CASE WHEN a.attgenerated <> '' THEN 'stored' WHEN a.attidentity = 'a' THEN 'always' WHEN a.attidentity = 'd' THEN 'by default'
    WHEN EXISTS (SELECT FROM pg_catalog.pg_depend o WHERE o.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND o.refobjid = a.attrelid AND o.refobjsubid = a.attnum
      AND o.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND o.deptype = 'a'
      AND pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%') THEN 'serial' END AS generated,
  CASE WHEN a.attgenerated <> '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END AS generation_expression
FROM kakehashi_catalog.relations r
JOIN pg_catalog.pg_attribute a ON a.attrelid = r.relation AND a.attnum > 0 AND NOT a.attisdropped
JOIN base b ON b.type = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_catalog.pg_index i ON i.indrelid = a.attrelid AND i.indisprimary

VIEW indexes
SELECT r.table_schema, r.table_name, ic.relname::text AS index_name, i.indisunique AS is_unique, i.indisprimary AS is_primary, a.attname::text AS column_name,
  k.position::int4 AS key_position, (i.indoption[k.position - 1] & 1) <> 0 AS is_descending, i.indpred IS NOT NULL AS is_partial,
  (i.indoption[k.position - 1] & 2) <> 0 AS nulls_first,
  coalesce((pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false) AS nulls_not_distinct
FROM kakehashi_catalog.relations r
JOIN pg_catalog.pg_index i ON i.indrelid = r.relation AND i.indisvalid
JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid
CROSS JOIN LATERAL pg_catalog.generate_series(1, i.indnkeyatts::int4) AS k (position)
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.position - 1]

VIEW views
SELECT table_schema, table_name, pg_catalog.pg_get_viewdef(relation) AS view_definition FROM kakehashi_catalog.relations WHERE kind IN ('v', 'm')

VIEW comments
SELECT CASE WHEN d.objsubid > 0 THEN 'column' WHEN r.kind IN ('v', 'm') THEN 'view' ELSE 'table' END AS object_type, r.table_schema AS object_schema,
  r.table_name AS object_name, a.attname::text AS column_name, d.description AS comment, NULL::text AS constraint_name
FROM kakehashi_catalog.relations r
JOIN pg_catalog.pg_description d ON d.objoid = r.relation AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid AND d.objsubid > 0{comments}

VIEW check_constraints
SELECT r.table_schema, r.table_name, c.conname::text AS constraint_name, pg_catalog.pg_get_expr(c.conbin, c.conrelid) AS check_clause
FROM kakehashi_catalog.relations r JOIN pg_catalog.pg_constraint c ON c.conrelid = r.relation AND c.contype = 'c'

VIEW foreign_keys
SELECT r.table_schema, r.table_name, c.conname::text AS constraint_name, a.attname::text AS column_name, k.position::int4 AS key_position,
  f.table_schema AS referenced_schema, f.table_name AS referenced_table, fa.attname::text AS referenced_column,
  CASE c.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS update_rule,
  CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS delete_rule,
  CASE c.confmatchtype WHEN 'f' THEN 'FULL' ELSE 'NONE' END AS match_option, c.condeferrable AS is_deferrable, c.condeferred AS initially_deferred, c.convalidated AS is_validated
FROM kakehashi_catalog.relations r
JOIN pg_catalog.pg_constraint c ON c.conrelid = r.relation AND c.contype = 'f'
JOIN kakehashi_catalog.relations f ON f.relation = c.confrelid
CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k (own, referenced, position)
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.own
JOIN pg_catalog.pg_attribute fa ON fa.attrelid = c.confrelid AND fa.attnum = k.referenced

VIEW keys
SELECT r.table_schema, r.table_name, c.conname::text AS constraint_name,
  CASE c.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' ELSE 'FOREIGN KEY' END AS constraint_type, a.attname::text AS column_name, k.position::int4 AS ordinal_position,
  c.condeferrable AS is_deferrable, c.condeferred AS initially_deferred, f.referenced_schema, f.referenced_table, f.referenced_column,
  u.conname::text AS referenced_constraint, f.match_option, f.update_rule, f.delete_rule, CASE WHEN c.contype = 'u' THEN NOT coalesce((pg_catalog.to_jsonb(x) ->> 'indnullsnotdistinct')::bool, false) END AS nulls_distinct
FROM kakehashi_catalog.relations r
JOIN pg_catalog.pg_constraint c ON c.conrelid = r.relation AND c.contype IN ('p', 'u', 'f')
LEFT JOIN pg_catalog.pg_index x ON x.indexrelid = c.conindid
CROSS JOIN LATERAL pg_catalog.unnest(c.conkey) WITH ORDINALITY AS k (own, position)
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.own
LEFT JOIN kakehashi_catalog.foreign_keys f ON c.contype = 'f' AND f.table_schema = r.table_schema AND f.table_name = r.table_name
  AND f.constraint_name = c.conname AND f.key_position = k.position
LEFT JOIN pg_catalog.pg_constraint u ON c.contype = 'f' AND u.conindid = c.conindid AND u.conrelid = c.confrelid AND u.contype IN ('p', 'u')

VIEW column_statistics
SELECT r.table_schema, r.table_name, s.attname::text AS column_name, c.type_oid, r.tuples::float8 AS table_rows, NULL::int8 AS sampled_rows,
  NULL::timestamptz AS analyzed_at, s.null_frac::float8 AS null_fraction, s.avg_width AS average_width, s.n_distinct::float8 AS n_distinct,
  s.most_common_vals::text AS most_common_values, s.most_common_freqs::text AS most_common_frequencies, s.histogram_bounds::text AS histogram_bounds
FROM kakehashi_catalog.relations r
JOIN pg_catalog.pg_stats s ON s.schemaname = r.table_schema AND s.tablename = r.table_name AND NOT s.inherited
JOIN kakehashi_catalog.columns c ON c.table_schema = r.table_schema AND c.table_name = r.table_name AND c.column_name = s.attname{shard_statistics}

VIEW sequences
SELECT s.schemaname::text AS sequence_schema, s.sequencename::text AS sequence_name, s.data_type::oid::int8 AS type_oid, s.start_value, s.min_value, s.max_value,
  s.increment_by, s.cycle AS cycles, s.last_value
FROM pg_catalog.pg_sequences s

VIEW prepared_transactions
SELECT (p.transaction::text)::int8 AS transaction_id, pg_catalog.regexp_replace(p.gid, '^kakehashi/[^/]*/[^/]*/[^/]*/', '') AS gid, p.prepared AS prepared_at,
  pg_catalog.replace(pg_catalog.replace(pg_catalog.split_part(p.gid, '/', 2), '%2F', '/'), '%25', '%') AS owner,
  pg_catalog.replace(pg_catalog.replace(pg_catalog.split_part(p.gid, '/', 3), '%2F', '/'), '%25', '%') AS user_name,
  pg_catalog.split_part(p.gid, '/', 4)::int8 AS handle
FROM pg_catalog.pg_prepared_xacts p
WHERE p.database = pg_catalog.current_database() AND p.gid ~ '^kakehashi/[^/]*/[^/]*/-?[0-9]+/.'

VIEW transactions
SELECT a.pid::int8 AS transaction_id, a.application_name AS label, 'OCC'::text AS kind, NULL::text AS isolation, a.state, a.xact_start AS began_at,
  a.backend_xid IS NOT NULL AS has_writes, NULL::int8 AS handle, 0::int8 AS commits_held, NULL::int4 AS priority, NULL::int8 AS epoch,
  coalesce(a.wait_event_type = 'Lock', false) AS waiting, a.usename::text AS user_name,
  CASE WHEN a.state LIKE 'idle%' THEN a.state_change END AS idle_since
FROM pg_catalog.pg_stat_activity a WHERE a.xact_start IS NOT NULL AND a.datname = pg_catalog.current_database()

VIEW locks
SELECT l.pid::int8 AS transaction_id, r.table_schema, r.table_name, l.mode, l.granted
FROM pg_catalog.pg_locks l JOIN kakehashi_catalog.relations r ON r.relation = l.relation

VIEW sessions
SELECT a.pid::int8 AS session_id, a.backend_type AS client_kind, a.application_name, a.pid AS process_id, NULL::text AS os_user, a.usename::text AS user_name,
  a.backend_start AS attached_at, a.state, NULL::int8 AS handle, a.query AS statement, a.query_start AS statement_started_at,
  CASE WHEN a.state = 'active' THEN 1 ELSE 0 END AS running, NULL::int8 AS requests, NULL::int8 AS rows_sent, NULL::int8 AS batches, NULL::int8 AS bytes_sent,
  NULL::int8 AS waits, NULL::int8 AS buffer_bytes, 0::int8 AS direct_reads
FROM pg_catalog.pg_stat_activity a WHERE a.datname = pg_catalog.current_database()

VIEW table_memory
SELECT table_schema, table_name, pg_catalog.pg_total_relation_size(relation) AS total_bytes, pg_catalog.pg_relation_size(relation) AS page_bytes,
  pg_catalog.pg_table_size(relation) - pg_catalog.pg_relation_size(relation) AS value_bytes, pg_catalog.pg_indexes_size(relation) AS index_bytes,
  CASE WHEN tuples > 0 THEN pg_catalog.pg_total_relation_size(relation) / tuples::float8 END AS row_bytes
FROM kakehashi_catalog.relations WHERE kind IN ('r', 'm')

VIEW settings
SELECT s.name, pg_catalog.current_setting(s.name) AS value, s.boot_val AS default_value, s.source, s.context <> 'internal' AS changeable, s.pending_restart, NULL::text AS pending_value
FROM pg_catalog.pg_settings s{settings}

VIEW functions EMPTY
function_schema text, function_name text, function_number int4, kind text, volatility text, is_strict bool, cost float8, estimated_rows int8

VIEW function_parameters EMPTY
function_schema text, function_name text, function_number int4, mode text, ordinal_position int4, parameter_name text, type_oid int8

VIEW applications EMPTY
application_name text, state text, version int4

VIEW memory EMPTY
limit_bytes int8, reserved_bytes int8, changes_held int8, commits_held int8, used_bytes int8

VIEW jobs EMPTY
job_id int8, name text, label text, state text, progress float8, tasks int8, tasks_finished int8, queued_ms float8, run_ms float8, elapsed_ms float8, transaction_id int8, handle int8

VIEW copies EMPTY
job_id int8, statement text, command text, bytes_processed int8, bytes_total int8, rows_processed int8, rows_filtered int8, rows_rejected int8

VIEW waits
SELECT a.pid::int8 AS transaction_id, NULL::int8 AS process_id, NULL::int8 AS pid_namespace, nullif(b.pid, 0)::int8 AS blocking_transaction_id,
  NULL::int8 AS blocking_process_id, NULL::int8 AS blocking_pid_namespace, p.gid AS blocking_gid, NULL::int8 AS wait_id
FROM pg_catalog.pg_stat_activity a
CROSS JOIN LATERAL (SELECT DISTINCT u.pid FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids(a.pid)) AS u (pid)) b
LEFT JOIN LATERAL (SELECT pg_catalog.regexp_replace(x.gid, '^kakehashi/[^/]*/[^/]*/[^/]*/', '') AS gid
  FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_prepared_xacts x ON x.transaction = l.transactionid
  WHERE l.pid = a.pid AND NOT l.granted LIMIT 1) p ON b.pid = 0
WHERE a.wait_event_type = 'Lock' AND a.datname = pg_catalog.current_database(){waits}

VIEW definitions EMPTY
ordinal_position int8, object_type text, object_schema text, object_name text, definition text
