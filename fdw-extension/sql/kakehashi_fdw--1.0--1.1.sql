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
  OUT commits_held bigint)
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
  OUT commits_held bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 1;

COMMENT ON FUNCTION kakehashi_memory(name) IS 'memory of the engine''s store';

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
  OUT buffer_bytes bigint)
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

-- As with pg_signal_backend: whoever may, may cancel everybody's.
REVOKE ALL ON FUNCTION kakehashi_cancel(name, bigint) FROM PUBLIC;

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
    FROM compared WHERE remote_column IS NOT NULL AND is_key <> (key_position IS NOT NULL)
    UNION ALL
    SELECT t.oid, NULL, pg_catalog.format('the engine''s table has a column %I, which is not here', e.column_name)
    FROM tables t JOIN engine e USING (table_schema, table_name)
    WHERE NOT EXISTS (SELECT FROM columns c WHERE c.oid = t.oid AND c.column_name = e.column_name)
  )
  SELECT oid::regclass, attname, problem FROM problems ORDER BY oid::regclass::text, attname NULLS FIRST, problem;
END;

COMMENT ON FUNCTION kakehashi_verify_tables(name) IS
  'where the foreign tables of a server do not fit the engine''s tables: names, types, nulls, keys; no row if all do';
