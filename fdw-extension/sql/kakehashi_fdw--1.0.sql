/* kakehashi_fdw 1.0 */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION kakehashi_fdw" to load this file. \quit

CREATE FUNCTION kakehashi_fdw_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;

CREATE FUNCTION kakehashi_fdw_validator(text[], oid)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;

CREATE FOREIGN DATA WRAPPER kakehashi_fdw
  HANDLER kakehashi_fdw_handler
  VALIDATOR kakehashi_fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER kakehashi_fdw IS 'tables of a Kakehashi data engine on the same host';

CREATE FUNCTION kakehashi_version()
RETURNS text
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION kakehashi_version() IS 'version of the extension''s library';

CREATE FUNCTION kakehashi_execute(server name, sql text)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_execute(name, text) IS
  'runs a statement on the engine, DML inside the current transaction, and returns the number of rows changed';

CREATE FUNCTION kakehashi_query(server name, sql text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 1000;

COMMENT ON FUNCTION kakehashi_query(name, text) IS
  'runs a statement on the engine inside the current transaction and returns its rows; needs a column definition list';

CREATE FUNCTION kakehashi_current_transaction(server name DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_current_transaction(name) IS
  'handle of the current transaction on a server, which begins if there is none yet: a Java client of the same OS user can join it; without a server: of the only one in use, or null';

CREATE FUNCTION kakehashi_disconnect(server name)
RETURNS boolean
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION kakehashi_disconnect(name) IS
  'ends the cached sessions with a server; true if there was one';

CREATE FUNCTION kakehashi_resolve(server name, OUT global_id text, OUT outcome text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 2;

COMMENT ON FUNCTION kakehashi_resolve(name) IS
  'decides prepared parts of transactions of this database as PostgreSQL has decided the transactions';

CREATE FUNCTION kakehashi_sessions(
  OUT server_name name,
  OUT user_name name,
  OUT session_id bigint,
  OUT incarnation bigint,
  OUT alive boolean,
  OUT valid boolean,
  OUT in_transaction boolean,
  OUT outstanding_calls integer,
  OUT prepared_statements integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 2;

COMMENT ON FUNCTION kakehashi_sessions() IS 'sessions that this backend keeps with endpoints';

CREATE VIEW kakehashi_sessions AS
  SELECT * FROM kakehashi_sessions();

COMMENT ON VIEW kakehashi_sessions IS 'sessions that this backend keeps with endpoints';

-- What may run arbitrary statements on the engine is for those to whom it is granted.
REVOKE ALL ON FUNCTION kakehashi_execute(name, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_query(name, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION kakehashi_current_transaction(name) FROM PUBLIC;
GRANT SELECT ON kakehashi_sessions TO PUBLIC;
