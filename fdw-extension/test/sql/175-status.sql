-- Sessions, jobs and statistics of the endpoint are tables: who is attached, what runs for whom, and what it has been sent.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS seen');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE seen (id int PRIMARY KEY, v int)');
SELECT kakehashi_execute('kakehashi', 'INSERT INTO seen VALUES (1, 10), (2, 20), (3, NULL)');
-- The session of this backend, by its own number
SET application_name = 'status of one';
SELECT kakehashi_disconnect('kakehashi');
BEGIN;
SELECT kakehashi_execute('kakehashi', 'UPDATE seen SET v = 11 WHERE id = 1');
SELECT e.client_kind, e.application_name, e.process_id = pg_backend_pid() AS is_this_backend, e.os_user <> '' AS has_os_user,
  e.user_name <> '' AS has_user, e.attached_at <= clock_timestamp() AS is_attached, e.state, e.statement LIKE '%kakehashi_catalog.sessions%' AS is_this_statement,
  e.statement_started_at >= e.attached_at AS has_started, e.handle = kakehashi_current_transaction('kakehashi') AS is_this_transaction
FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id);
COMMIT;
SELECT e.state, e.handle, e.running, e.requests > 2 AS has_requests, e.buffer_bytes
FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id);
-- What a session is sent is counted
SELECT e.requests, e.rows_sent, e.batches, e.bytes_sent FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id) \gset before_
SELECT * FROM kakehashi_query('kakehashi', 'SELECT id, v FROM seen ORDER BY id') AS q (id int, v int);
SELECT e.requests >= :before_requests + 2 AS more_requests, e.rows_sent >= :before_rows_sent + 3 AS more_rows, e.batches > :before_batches AS more_batches,
  e.bytes_sent >= :before_bytes_sent + 3 * 24 AS more_bytes
FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id);
-- Buffers for batches go back after a bulk load, and otherwise once a transaction does without
CREATE FOREIGN TABLE seen (id int OPTIONS (key 'true'), v int) SERVER kakehashi OPTIONS (schema_name 'public');
INSERT INTO seen SELECT g, g FROM generate_series(4, 60000) g;
SELECT e.buffer_bytes FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id);
BEGIN;
INSERT INTO seen SELECT g, g FROM generate_series(60001, 60100) g;
COMMIT;
SELECT e.buffer_bytes > 0 AS kept FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id);
SELECT e.buffer_bytes FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id);
DELETE FROM seen WHERE id > 3;
DROP FOREIGN TABLE seen;
-- What the backend calls itself is told with its next use of the server, also within a transaction
CREATE VIEW shown_name AS SELECT e.application_name FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id);
BEGIN;
SELECT application_name FROM shown_name;
SET LOCAL application_name = 'status of two';
SELECT application_name FROM shown_name;
ROLLBACK;
SELECT application_name FROM shown_name;
SET application_name = '';
SELECT application_name FROM shown_name;
ALTER SERVER kakehashi OPTIONS (ADD application_name 'of the server');
SELECT application_name FROM shown_name;
SET application_name = 'status of three';
SELECT application_name FROM shown_name;
ALTER SERVER kakehashi OPTIONS (DROP application_name);
SELECT application_name FROM shown_name;
DROP VIEW shown_name;
RESET application_name;
-- The job that reads the table of jobs is one of them (the one that has planned it may still be ending; it has no transaction)
SELECT name, state, progress BETWEEN 0 AND 1 AS has_progress, tasks >= tasks_finished AS has_tasks, elapsed_ms >= 0 AS has_time
FROM kakehashi_jobs('kakehashi') WHERE name LIKE '%kakehashi_catalog.jobs%' AND transaction_id > 0;
-- Statistics of the columns
SELECT kakehashi_execute('kakehashi', 'ANALYZE seen');
SELECT column_name, table_rows, null_fraction, average_width, n_distinct FROM kakehashi_statistics('kakehashi') WHERE table_name = 'seen';
-- What others do is for those who may monitor
CREATE ROLE kakehashi_status_user;
GRANT USAGE ON FOREIGN SERVER kakehashi TO kakehashi_status_user;
SET ROLE kakehashi_status_user;
SELECT count(*) FROM kakehashi_sessions('kakehashi');
SELECT count(*) FROM kakehashi_jobs('kakehashi');
RESET ROLE;
SELECT has_function_privilege('pg_monitor', 'kakehashi_sessions(name)', 'execute') AND has_function_privilege('pg_monitor', 'kakehashi_jobs(name)', 'execute') AS may_monitor;
REVOKE USAGE ON FOREIGN SERVER kakehashi FROM kakehashi_status_user;
DROP ROLE kakehashi_status_user;
SELECT kakehashi_disconnect('kakehashi');
SELECT kakehashi_execute('kakehashi', 'DROP TABLE seen');
