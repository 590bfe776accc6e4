-- Without an endpoint every statement says so with 08001, and the PostgreSQL session goes on.
CREATE SERVER absent FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '/nonexistent/kakehashi');
CREATE USER MAPPING FOR CURRENT_USER SERVER absent;
CREATE FOREIGN TABLE absent_table (id int OPTIONS (key 'true'), t text) SERVER absent;
SELECT * FROM absent_table;
\echo :LAST_ERROR_SQLSTATE
INSERT INTO absent_table VALUES (1, 'a');
\echo :LAST_ERROR_SQLSTATE
UPDATE absent_table SET t = 'b';
\echo :LAST_ERROR_SQLSTATE
SELECT kakehashi_execute('absent', 'SELECT 1');
\echo :LAST_ERROR_SQLSTATE
IMPORT FOREIGN SCHEMA public FROM SERVER absent INTO public;
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM kakehashi_sessions;
SELECT kakehashi_disconnect('absent');
-- In a transaction the error is like any other.
BEGIN;
CREATE TEMP TABLE local_rows AS SELECT 1 AS id;
SAVEPOINT s;
SELECT * FROM absent_table;
ROLLBACK TO s;
SELECT * FROM local_rows;
COMMIT;
-- A server that has no mapping for the user.
CREATE SERVER unmapped FOREIGN DATA WRAPPER kakehashi_fdw;
CREATE FOREIGN TABLE unmapped_table (id int) SERVER unmapped;
\set VERBOSITY sqlstate
SELECT * FROM unmapped_table;
\set VERBOSITY default
SELECT kakehashi_execute('nowhere', 'SELECT 1');
SET client_min_messages = warning;
DROP SERVER absent, unmapped CASCADE;
