/* kakehashi_fdw 1.1: what is on the engine, and whether foreign tables fit it */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION kakehashi_fdw UPDATE TO '1.1'" to load this file. \quit

CREATE FUNCTION kakehashi_tables(server name, OUT table_schema text, OUT table_name text, OUT row_count bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 100;

COMMENT ON FUNCTION kakehashi_tables(name) IS 'tables of the engine';

CREATE FUNCTION kakehashi_columns(
  server name,
  OUT table_schema text,
  OUT table_name text,
  OUT column_name text,
  OUT ordinal_position integer,
  OUT type_oid bigint,
  OUT type_modifier integer,
  OUT not_null boolean,
  OUT column_default text,
  OUT key_position integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 1000;

COMMENT ON FUNCTION kakehashi_columns(name) IS 'columns of the tables of the engine; key_position counts from 1 in the primary key';

CREATE FUNCTION kakehashi_transactions(
  server name,
  OUT transaction_id bigint,
  OUT label text,
  OUT kind text,
  OUT isolation text,
  OUT state text,
  OUT began_at timestamptz,
  OUT has_writes boolean,
  OUT handle bigint,
  OUT commits_held bigint,
  OUT user_name text,
  OUT idle_since timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_transactions(name) IS
  'transactions that run on the engine, and how many commits each keeps from being forgotten';

CREATE FUNCTION kakehashi_prepared_transactions(
  server name,
  OUT transaction_id bigint,
  OUT gid text,
  OUT prepared_at timestamptz,
  OUT owner text,
  OUT user_name text,
  OUT handle bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_prepared_transactions(name) IS
  'transactions that the engine has prepared and not decided; see kakehashi_resolve()';

CREATE FUNCTION kakehashi_memory(
  server name,
  OUT limit_bytes bigint,
  OUT reserved_bytes bigint,
  OUT changes_held bigint,
  OUT commits_held bigint,
  OUT used_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 1;

COMMENT ON FUNCTION kakehashi_memory(name) IS
  'memory of the engine''s store: its limit, what the system has given, and what of that is in use';

CREATE FUNCTION kakehashi_table_memory(
  server name,
  OUT table_schema text,
  OUT table_name text,
  OUT total_bytes bigint,
  OUT page_bytes bigint,
  OUT value_bytes bigint,
  OUT index_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 100;

COMMENT ON FUNCTION kakehashi_table_memory(name) IS
  'memory of each table of the engine: pages of rows, values outside of them, indexes';

CREATE FUNCTION kakehashi_sessions(
  server name,
  OUT session_id bigint,
  OUT client_kind text,
  OUT application_name text,
  OUT process_id integer,
  OUT os_user text,
  OUT user_name text,
  OUT attached_at timestamptz,
  OUT state text,
  OUT handle bigint,
  OUT statement text,
  OUT statement_started_at timestamptz,
  OUT running integer,
  OUT requests bigint,
  OUT rows_sent bigint,
  OUT batches bigint,
  OUT bytes_sent bigint,
  OUT waits bigint,
  OUT buffer_bytes bigint,
  OUT direct_reads bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'kakehashi_engine_sessions'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 100;

COMMENT ON FUNCTION kakehashi_sessions(name) IS
  'all sessions of the endpoint: who, in which process, what it runs in which transaction, and what it has been sent';

CREATE FUNCTION kakehashi_jobs(
  server name,
  OUT job_id bigint,
  OUT name text,
  OUT label text,
  OUT state text,
  OUT progress double precision,
  OUT tasks bigint,
  OUT tasks_finished bigint,
  OUT queued_ms double precision,
  OUT run_ms double precision,
  OUT elapsed_ms double precision,
  OUT transaction_id bigint,
  OUT handle bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_jobs(name) IS
  'jobs of the engine, named by their statements: progress between 0 and 1 of the tasks known so far, and times; run_ms sums over threads';

-- They show what others do.
REVOKE ALL ON FUNCTION kakehashi_sessions(name) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_jobs(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kakehashi_sessions(name) TO pg_monitor;
GRANT EXECUTE ON FUNCTION kakehashi_jobs(name) TO pg_monitor;

CREATE FUNCTION kakehashi_statistics(
  server name,
  OUT table_schema text,
  OUT table_name text,
  OUT column_name text,
  OUT table_rows double precision,
  OUT sampled_rows bigint,
  OUT analyzed_at timestamptz,
  OUT null_fraction double precision,
  OUT average_width integer,
  OUT n_distinct double precision,
  OUT most_common_values text,
  OUT most_common_frequencies text,
  OUT histogram_bounds text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 100;

COMMENT ON FUNCTION kakehashi_statistics(name) IS 'what the engine knows about the columns of its tables, in the terms of pg_stats';

CREATE FUNCTION kakehashi_table_activity(
  OUT foreign_table regclass,
  OUT requests bigint,
  OUT rows_read bigint,
  OUT rows_changed bigint,
  OUT batches bigint,
  OUT bytes_read bigint,
  OUT execution_ms double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 20;

COMMENT ON FUNCTION kakehashi_table_activity() IS
  'what this backend has asked of each foreign table; statements that failed, and joins and groups that the engine does, are not in it';

CREATE VIEW kakehashi_table_activity AS
  SELECT a.* FROM kakehashi_table_activity() a JOIN pg_catalog.pg_class c ON c.oid = a.foreign_table;

COMMENT ON VIEW kakehashi_table_activity IS 'what this backend has asked of each foreign table';
GRANT SELECT ON kakehashi_table_activity TO PUBLIC;

CREATE FUNCTION kakehashi_cancel(server name, handle bigint)
RETURNS boolean
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_cancel(name, bigint) IS
  'cancels the statement that a transaction of the engine runs, by its handle; false if no such transaction is open';

CREATE FUNCTION kakehashi_terminate_transaction(server name, transaction_id bigint)
RETURNS boolean
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_terminate_transaction(name, bigint) IS
  'rolls back a transaction of the engine, as the user mapping''s user may, by its number in kakehashi_catalog.transactions; its client is told with its next statement; false if no such transaction is open';

CREATE FUNCTION kakehashi_transaction_status(server name, handle bigint)
RETURNS text
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_transaction_status(name, bigint) IS
  'what became of a transaction that has changed something on the engine, by the handle that error 08007 names: committed, aborted, prepared, in progress; or unknown';

CREATE FUNCTION kakehashi_transaction_token(server name DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_transaction_token(name) IS
  'names the current transaction on a server, which begins if there is none yet, to another program of the same user, which continues it; without a server: of the only one in use, or null';

CREATE FUNCTION kakehashi_continue_transaction(server name, token text)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_continue_transaction(name, text) IS
  'the current transaction goes on in the transaction of the engine that the token names: COMMIT commits it for all who work in it, ROLLBACK rolls it back; a second COMMIT finds it committed';

-- As kakehashi_current_transaction: what is done with them is done on the engine.
REVOKE ALL ON FUNCTION kakehashi_transaction_token(name) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_continue_transaction(name, text) FROM PUBLIC;

-- As with pg_signal_backend: whoever may, may cancel everybody's.
REVOKE ALL ON FUNCTION kakehashi_cancel(name, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_terminate_transaction(name, bigint) FROM PUBLIC;

-- Enums cross as text, domains as what they are made of.
CREATE FUNCTION kakehashi_verify_tables(server name, OUT foreign_table regclass, OUT column_name name, OUT problem text)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL UNSAFE ROWS 10
BEGIN ATOMIC
  WITH RECURSIVE engine AS MATERIALIZED (
    SELECT * FROM kakehashi_columns(server)
  ), tables AS (
    SELECT c.oid, c.relname,
      coalesce((SELECT option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) WHERE option_name = 'schema_name'), n.nspname) AS table_schema,
      coalesce((SELECT option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) WHERE option_name = 'table_name'), c.relname) AS table_name
    FROM pg_catalog.pg_foreign_table f
      JOIN pg_catalog.pg_foreign_server s ON s.oid = f.ftserver
      JOIN pg_catalog.pg_class c ON c.oid = f.ftrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE s.srvname = server
  ), bases AS (
    SELECT oid AS type, oid AS base, typtype, typbasetype, typtypmod, typelem FROM pg_catalog.pg_type
    UNION ALL
    SELECT b.type, t.oid, t.typtype, t.typbasetype, CASE WHEN b.typtypmod < 0 THEN t.typtypmod ELSE b.typtypmod END, t.typelem
    FROM bases b JOIN pg_catalog.pg_type t ON t.oid = b.typbasetype WHERE b.typtype = 'd'
  ), columns AS (
    SELECT t.oid, t.table_schema, t.table_name, a.attname, a.attnotnull,
      coalesce((SELECT option_value FROM pg_catalog.pg_options_to_table(a.attfdwoptions) WHERE option_name = 'column_name'), a.attname) AS column_name,
      coalesce((SELECT option_value::boolean FROM pg_catalog.pg_options_to_table(a.attfdwoptions) WHERE option_name = 'key'), false) AS is_key,
      CASE WHEN b.typtype = 'e' OR e.typtype = 'e' THEN 'text'::pg_catalog.regtype::oid ELSE b.base END AS type,
      CASE WHEN a.atttypmod < 0 THEN b.typtypmod ELSE a.atttypmod END AS modifier
    FROM tables t
      JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      JOIN bases b ON b.type = a.atttypid AND b.typtype <> 'd'
      LEFT JOIN pg_catalog.pg_type e ON e.oid = b.typelem
  ), compared AS (
    SELECT c.*, e.type_oid::oid AS remote_type, e.type_modifier, e.not_null, e.key_position,
      e.column_name AS remote_column
    FROM columns c LEFT JOIN engine e USING (table_schema, table_name, column_name)
    WHERE EXISTS (SELECT FROM engine x WHERE x.table_schema = c.table_schema AND x.table_name = c.table_name)
  ), problems AS (
    SELECT t.oid, NULL::name AS attname, pg_catalog.format('the engine has no table %I.%I', t.table_schema, t.table_name) AS problem
    FROM tables t WHERE NOT EXISTS (SELECT FROM engine e WHERE e.table_schema = t.table_schema AND e.table_name = t.table_name)
    UNION ALL
    SELECT oid, attname, pg_catalog.format('the engine''s table has no column %I', column_name) FROM compared WHERE remote_column IS NULL
    UNION ALL
    SELECT oid, attname, pg_catalog.format('type is %s here and %s on the engine', pg_catalog.format_type(type, modifier), pg_catalog.format_type(remote_type, type_modifier))
    FROM compared
    WHERE remote_column IS NOT NULL AND (type <> remote_type OR modifier <> type_modifier)
      AND NOT (type IN ('text'::pg_catalog.regtype, 'varchar'::pg_catalog.regtype) AND remote_type IN ('text'::pg_catalog.regtype, 'varchar'::pg_catalog.regtype) AND modifier < 0 AND type_modifier < 0)
    UNION ALL
    SELECT oid, attname, CASE WHEN not_null THEN 'NOT NULL on the engine, and not here' ELSE 'NOT NULL here, and not on the engine' END
    FROM compared WHERE attnotnull <> not_null AND (key_position IS NULL OR attnotnull)
    UNION ALL
    SELECT oid, attname, CASE WHEN is_key THEN 'marked as key here, and not in the engine''s primary key' ELSE 'in the engine''s primary key, and not marked as key here' END
    FROM compared
    WHERE remote_column IS NOT NULL AND is_key <> (key_position IS NOT NULL)
      AND EXISTS (SELECT FROM columns marked WHERE marked.oid = compared.oid AND marked.is_key)
    UNION ALL
    SELECT t.oid, NULL, pg_catalog.format('the engine''s table has a column %I, which is not here', e.column_name)
    FROM tables t JOIN engine e USING (table_schema, table_name)
    WHERE NOT EXISTS (SELECT FROM columns c WHERE c.oid = t.oid AND c.column_name = e.column_name)
  )
  SELECT oid::regclass, attname, problem FROM problems ORDER BY oid::regclass::text, attname NULLS FIRST, problem;
END;

COMMENT ON FUNCTION kakehashi_verify_tables(name) IS
  'where the foreign tables of a server do not fit the engine''s tables: names, types, nulls, keys; no row if all do';

CREATE FUNCTION kakehashi_definitions(
  server name,
  OUT ordinal_position bigint,
  OUT object_type text,
  OUT object_schema text,
  OUT object_name text,
  OUT definition text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 1000;

COMMENT ON FUNCTION kakehashi_definitions(name) IS
  'statements that make the engine''s schemas, sequences, tables, indexes, references, views and comments, in an order in which each finds what it needs';

CREATE FUNCTION kakehashi_dump_schema(server name)
RETURNS SETOF text
LANGUAGE sql STRICT VOLATILE PARALLEL UNSAFE ROWS 1000
BEGIN ATOMIC
  SELECT definition || ';' FROM kakehashi_definitions(server) ORDER BY ordinal_position;
END;

COMMENT ON FUNCTION kakehashi_dump_schema(name) IS 'the engine''s definitions as a script, a statement each';

CREATE FUNCTION kakehashi_keys(
  server name,
  OUT table_schema text,
  OUT table_name text,
  OUT constraint_name text,
  OUT constraint_type text,
  OUT column_name text,
  OUT ordinal_position integer,
  OUT is_deferrable boolean,
  OUT initially_deferred boolean,
  OUT referenced_schema text,
  OUT referenced_table text,
  OUT referenced_column text,
  OUT referenced_constraint text,
  OUT match_option text,
  OUT update_rule text,
  OUT delete_rule text,
  OUT nulls_distinct boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 1000;

COMMENT ON FUNCTION kakehashi_keys(name) IS
  'columns of the engine''s primary keys, unique constraints and foreign keys, with the engine''s names';

/* The engine's names are replaced by those of the foreign tables here. A table of the engine may have several, and each has the keys. */
CREATE VIEW kakehashi_keys AS
WITH servers AS MATERIALIZED (
  SELECT s.oid, s.srvname
  FROM pg_catalog.pg_foreign_server s JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
  WHERE w.fdwname = 'kakehashi_fdw' AND pg_catalog.has_server_privilege(s.oid, 'USAGE')
    AND EXISTS (SELECT FROM pg_catalog.pg_user_mappings m WHERE m.srvid = s.oid AND (m.umuser = 0 OR m.usename = CURRENT_USER))
    AND EXISTS (SELECT FROM pg_catalog.pg_foreign_table f WHERE f.ftserver = s.oid)
), keys AS MATERIALIZED (
  SELECT s.oid AS server, k.* FROM servers s CROSS JOIN LATERAL kakehashi_keys(s.srvname) k
), tables AS MATERIALIZED (
  SELECT c.oid, f.ftserver AS server, n.nspname, c.relname,
    coalesce((SELECT option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) WHERE option_name = 'schema_name'), n.nspname) AS remote_schema,
    coalesce((SELECT option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) WHERE option_name = 'table_name'), c.relname) AS remote_table
  FROM servers s
    JOIN pg_catalog.pg_foreign_table f ON f.ftserver = s.oid
    JOIN pg_catalog.pg_class c ON c.oid = f.ftrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
    OR pg_catalog.has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
    OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
), columns AS MATERIALIZED (
  SELECT t.oid, a.attname,
    coalesce((SELECT option_value FROM pg_catalog.pg_options_to_table(a.attfdwoptions) WHERE option_name = 'column_name'), a.attname) AS remote_column
  FROM tables t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
)
SELECT t.nspname AS table_schema, t.relname AS table_name, k.constraint_name, k.constraint_type, c.attname AS column_name, k.ordinal_position,
  k.is_deferrable, k.initially_deferred, r.nspname AS referenced_schema, r.relname AS referenced_table, r.attname AS referenced_column,
  k.referenced_constraint, k.match_option, k.update_rule, k.delete_rule, k.nulls_distinct
FROM keys k
  JOIN tables t ON t.server = k.server AND t.remote_schema = k.table_schema AND t.remote_table = k.table_name
  JOIN columns c ON c.oid = t.oid AND c.remote_column = k.column_name
  LEFT JOIN LATERAL (
    SELECT o.nspname, o.relname, d.attname
    FROM tables o JOIN columns d ON d.oid = o.oid AND d.remote_column = k.referenced_column
    WHERE o.server = k.server AND o.remote_schema = k.referenced_schema AND o.remote_table = k.referenced_table
    ORDER BY o.nspname <> t.nspname, o.oid LIMIT 1) r ON true;

COMMENT ON VIEW kakehashi_keys IS
  'columns of the keys and references that the engine keeps for the foreign tables of this database, with the names here';
GRANT SELECT ON kakehashi_keys TO PUBLIC;

/* In the terms of information_schema, whose views have the constraints of PostgreSQL's own tables alone. */
CREATE VIEW kakehashi_table_constraints AS
SELECT DISTINCT pg_catalog.current_database() AS constraint_catalog, table_schema AS constraint_schema, constraint_name,
  pg_catalog.current_database() AS table_catalog, table_schema, table_name, constraint_type,
  CASE WHEN is_deferrable THEN 'YES' ELSE 'NO' END AS is_deferrable,
  CASE WHEN initially_deferred THEN 'YES' ELSE 'NO' END AS initially_deferred, 'YES' AS enforced,
  CASE WHEN nulls_distinct THEN 'YES' WHEN NOT nulls_distinct THEN 'NO' END AS nulls_distinct
FROM kakehashi_keys;

CREATE VIEW kakehashi_key_column_usage AS
SELECT pg_catalog.current_database() AS constraint_catalog, k.table_schema AS constraint_schema, k.constraint_name,
  pg_catalog.current_database() AS table_catalog, k.table_schema, k.table_name, k.column_name, k.ordinal_position,
  u.ordinal_position AS position_in_unique_constraint
FROM kakehashi_keys k LEFT JOIN kakehashi_keys u
  ON u.table_schema = k.referenced_schema AND u.table_name = k.referenced_table
    AND u.constraint_name = k.referenced_constraint AND u.column_name = k.referenced_column;

CREATE VIEW kakehashi_referential_constraints AS
SELECT DISTINCT pg_catalog.current_database() AS constraint_catalog, table_schema AS constraint_schema, constraint_name,
  pg_catalog.current_database() AS unique_constraint_catalog, referenced_schema AS unique_constraint_schema,
  referenced_constraint AS unique_constraint_name, match_option, update_rule, delete_rule
FROM kakehashi_keys WHERE constraint_type = 'FOREIGN KEY';

COMMENT ON VIEW kakehashi_table_constraints IS 'as information_schema.table_constraints, of foreign tables';
COMMENT ON VIEW kakehashi_key_column_usage IS 'as information_schema.key_column_usage, of foreign tables';
COMMENT ON VIEW kakehashi_referential_constraints IS 'as information_schema.referential_constraints, of foreign tables';
GRANT SELECT ON kakehashi_table_constraints, kakehashi_key_column_usage, kakehashi_referential_constraints TO PUBLIC;

CREATE FUNCTION kakehashi_load(
  server name,
  "table" text,
  location text,
  options jsonb DEFAULT NULL,
  columns text[] DEFAULT NULL,
  condition text DEFAULT NULL,
  OUT rows_read bigint,
  OUT rows_loaded bigint,
  OUT rows_rejected bigint,
  OUT rows_filtered bigint,
  OUT reject_file text,
  OUT load_id text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;

COMMENT ON FUNCTION kakehashi_load(name, text, text, jsonb, text[], text) IS
  'COPY ... FROM on the engine: loads files of a location of its settings into a foreign table, in the current transaction; options are those of the engine''s COPY';

CREATE FUNCTION kakehashi_dump(
  server name,
  table_or_query text,
  location text,
  options jsonb DEFAULT NULL,
  columns text[] DEFAULT NULL,
  OUT file text,
  OUT rows bigint,
  OUT bytes bigint,
  OUT digest text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_dump(name, text, text, jsonb, text[]) IS
  'COPY ... TO on the engine: writes a foreign table, or a query of the engine, to files of a location of its settings, as the current transaction sees it; options are those of the engine''s COPY';

CREATE FUNCTION kakehashi_inspect(
  server name,
  location text,
  options jsonb DEFAULT NULL,
  OUT file text,
  OUT kind text,
  OUT name text,
  OUT value text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;

COMMENT ON FUNCTION kakehashi_inspect(name, text, jsonb) IS
  'what is in a file of a location of the engine: its columns, its parts, and a CREATE TABLE and a COPY that would take it';

/* Durable queues of the engine. A task is enqueued and completed in the current transaction, with the rows of both sides. */
CREATE FUNCTION kakehashi_enqueue(
  server name,
  queue text,
  payload jsonb,
  key text DEFAULT NULL,
  fair text DEFAULT NULL,
  priority integer DEFAULT NULL,
  run_at timestamptz DEFAULT NULL,
  unique_key text DEFAULT NULL,
  unique_for interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- A literal without a type is JSON.
CREATE FUNCTION kakehashi_enqueue(
  server name,
  queue text,
  payload text,
  key text DEFAULT NULL,
  fair text DEFAULT NULL,
  priority integer DEFAULT NULL,
  run_at timestamptz DEFAULT NULL,
  unique_key text DEFAULT NULL,
  unique_for interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'kakehashi_enqueue_text'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION kakehashi_enqueue(
  server name,
  queue text,
  payload bytea,
  key text DEFAULT NULL,
  fair text DEFAULT NULL,
  priority integer DEFAULT NULL,
  run_at timestamptz DEFAULT NULL,
  unique_key text DEFAULT NULL,
  unique_for interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'kakehashi_enqueue_bytes'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_enqueue(name, text, jsonb, text, text, integer, timestamptz, text, interval) IS
  'a new task in a queue of the engine, if the current transaction commits; returns its number';
COMMENT ON FUNCTION kakehashi_enqueue(name, text, text, text, text, integer, timestamptz, text, interval) IS
  'a new task with a JSON text in a queue of the engine, if the current transaction commits; returns its number';
COMMENT ON FUNCTION kakehashi_enqueue(name, text, bytea, text, text, integer, timestamptz, text, interval) IS
  'a new task with any bytes in a queue of the engine, if the current transaction commits; returns its number';

CREATE FUNCTION kakehashi_receive(
  server name,
  queue text,
  max integer DEFAULT 1,
  wait interval DEFAULT NULL,
  lease interval DEFAULT NULL,
  "group" text DEFAULT NULL,
  OUT token text,
  OUT task_id bigint,
  OUT attempt integer,
  OUT key text,
  OUT fair text,
  OUT priority integer,
  OUT payload jsonb,
  OUT body bytea,
  OUT enqueued_at timestamptz,
  OUT lease_until timestamptz,
  OUT last_error text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_receive(name, text, integer, interval, interval, text) IS
  'takes tasks out of a queue of the engine, those first that kakehashi_wait() has taken; a rollback does not give them back';

CREATE FUNCTION kakehashi_complete_and_receive(
  server name,
  tokens text[],
  queue text,
  max integer DEFAULT 1,
  wait interval DEFAULT NULL,
  lease interval DEFAULT NULL,
  "group" text DEFAULT NULL,
  OUT token text,
  OUT task_id bigint,
  OUT attempt integer,
  OUT key text,
  OUT fair text,
  OUT priority integer,
  OUT payload jsonb,
  OUT body bytea,
  OUT enqueued_at timestamptz,
  OUT lease_until timestamptz,
  OUT last_error text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_complete_and_receive(name, text[], text, integer, interval, interval, text) IS
  'completes tasks and takes the next ones, durable together; not in a transaction block';

CREATE PROCEDURE kakehashi_wait(
  server name,
  queue text,
  wait interval DEFAULT '20 s',
  max integer DEFAULT 1,
  lease interval DEFAULT NULL,
  "group" text DEFAULT NULL,
  INOUT ready integer DEFAULT NULL)
AS 'MODULE_PATHNAME'
LANGUAGE C;

COMMENT ON PROCEDURE kakehashi_wait(name, text, interval, integer, interval, text, integer) IS
  'waits for tasks of a queue of the engine, without a snapshot, and takes them for the next kakehashi_receive(); ready: how many, 0 after the time';

CREATE FUNCTION kakehashi_complete(server name, token text)
RETURNS integer
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION kakehashi_complete(server name, tokens text[])
RETURNS integer
AS 'MODULE_PATHNAME', 'kakehashi_complete_all'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_complete(name, text) IS 'the task is done when the current transaction commits';
COMMENT ON FUNCTION kakehashi_complete(name, text[]) IS 'the tasks are done when the current transaction commits; returns their number';

CREATE FUNCTION kakehashi_extend(server name, token text, lease interval DEFAULT NULL)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'kakehashi_extend_lease'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_extend(name, text, interval) IS
  'the task is lent for so long from now on, whatever becomes of the current transaction; returns until when';

CREATE FUNCTION kakehashi_fail(server name, token text, error text DEFAULT NULL, retry_in interval DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_fail(name, text, text, interval) IS
  'the attempt has failed, when the current transaction commits: the task is lent again after the queue''s wait or this one, or is dead';

CREATE FUNCTION kakehashi_release(server name, token text)
RETURNS boolean
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_release(name, text) IS
  'gives the task back, when the current transaction commits, as if it had not been taken';

CREATE FUNCTION kakehashi_cancel_task(server name, queue text, task_id bigint)
RETURNS boolean
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_cancel_task(name, text, bigint) IS
  'takes a task out of its queue, when the current transaction commits; false: there is none, or it is lent';

-- What is done with them is done on the engine.
REVOKE ALL ON FUNCTION kakehashi_enqueue(name, text, jsonb, text, text, integer, timestamptz, text, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_enqueue(name, text, text, text, text, integer, timestamptz, text, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_enqueue(name, text, bytea, text, text, integer, timestamptz, text, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_receive(name, text, integer, interval, interval, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_complete_and_receive(name, text[], text, integer, interval, interval, text) FROM PUBLIC;
REVOKE ALL ON PROCEDURE kakehashi_wait(name, text, interval, integer, interval, text, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_complete(name, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_complete(name, text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_extend(name, text, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_fail(name, text, text, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_release(name, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_cancel_task(name, text, bigint) FROM PUBLIC;

/* Applications of the engine. A function of the language kakehashi stands for one there: its text is server.schema.function. */
CREATE FUNCTION kakehashi_language_handler()
RETURNS language_handler
AS 'MODULE_PATHNAME'
LANGUAGE C;

CREATE FUNCTION kakehashi_language_validator(oid)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;

CREATE TRUSTED LANGUAGE kakehashi
  HANDLER kakehashi_language_handler
  VALIDATOR kakehashi_language_validator;

COMMENT ON LANGUAGE kakehashi IS 'functions of applications on a Kakehashi data engine';

CREATE FUNCTION kakehashi_import_functions(
  server name,
  remote_schema text,
  local_schema name DEFAULT NULL,
  OUT function_name text,
  OUT function_kind text,
  OUT signature text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_import_functions(name, text, name) IS
  'makes functions here for those of applications in a schema of the engine, in a schema here or the first of the search path; returns what was made';

CREATE FUNCTION kakehashi_call(server name, procedure text, VARIADIC arguments "any")
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;

CREATE FUNCTION kakehashi_call(server name, procedure text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION kakehashi_call(name, text, "any") IS
  'calls a procedure of the engine inside the current transaction and returns its rows; needs a column definition list';
COMMENT ON FUNCTION kakehashi_call(name, text) IS
  'calls a procedure of the engine inside the current transaction and returns its rows; needs a column definition list';

CREATE FUNCTION kakehashi_run(server name, procedure text, VARIADIC arguments "any")
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION kakehashi_run(server name, procedure text)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_run(name, text, "any") IS
  'calls a procedure of the engine inside the current transaction and returns the number of its rows';
COMMENT ON FUNCTION kakehashi_run(name, text) IS
  'calls a procedure of the engine inside the current transaction and returns the number of its rows';

CREATE FUNCTION kakehashi_deploy(server name, application text, jar bytea, options text DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_deploy(name, text, bytea, text) IS
  'makes an application of the engine of a jar, or a new version of one, when the current transaction commits';

-- What is done with them is done on the engine; an import replaces the stubs that a schema has.
REVOKE ALL ON FUNCTION kakehashi_import_functions(name, text, name) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_call(name, text, "any") FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_call(name, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_run(name, text, "any") FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_run(name, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_deploy(name, text, bytea, text) FROM PUBLIC;

CREATE FUNCTION kakehashi_capabilities(
  server name,
  OUT engine text,
  OUT kind text,
  OUT name text,
  OUT present boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 84;

COMMENT ON FUNCTION kakehashi_capabilities(name) IS
  'what the engine of a server can do, what it computes as PostgreSQL, and which types it keeps without loss';
