-- Tables about sessions, jobs and transactions show each role what pg_stat_activity would show it, whatever way it reads them.
SELECT kakehashi_execute('kakehashi', 'CREATE VIEW long_rows AS SELECT i, repeat(''x'', 1000) AS x FROM generate_series(1, 100000) AS g(i)') \gset
SELECT option_value AS runtime_dir FROM pg_foreign_server, pg_options_to_table(srvoptions) WHERE srvname = 'kakehashi' AND option_name = 'runtime_dir' \gset
CREATE SERVER visibility FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '/nowhere');
ALTER SERVER visibility OPTIONS (SET runtime_dir :'runtime_dir');
CREATE SCHEMA visibility;
CREATE ROLE kakehashi_ann;
CREATE ROLE kakehashi_mo IN ROLE pg_read_all_stats;
CREATE USER MAPPING FOR CURRENT_USER SERVER visibility;
-- One mapping for all: a session of several roles
CREATE USER MAPPING FOR PUBLIC SERVER visibility OPTIONS (password_required 'false');
CREATE FOREIGN TABLE visibility.sessions (session_id int8, application_name text, attached_at timestamptz, state text, handle int8, statement text, requests int8)
  SERVER visibility OPTIONS (schema_name 'kakehashi_catalog');
CREATE FOREIGN TABLE visibility.jobs (name text, label text, handle int8) SERVER visibility OPTIONS (schema_name 'kakehashi_catalog');
CREATE FOREIGN TABLE visibility.transactions (label text, handle int8) SERVER visibility OPTIONS (schema_name 'kakehashi_catalog');
CREATE FOREIGN TABLE visibility.long_rows (i int, x text) SERVER visibility OPTIONS (schema_name 'public');
GRANT USAGE ON SCHEMA visibility TO kakehashi_ann, kakehashi_mo;
GRANT USAGE ON FOREIGN SERVER visibility TO kakehashi_ann, kakehashi_mo;
GRANT SELECT ON ALL TABLES IN SCHEMA visibility TO kakehashi_ann, kakehashi_mo;
CREATE VIEW visibility.mine AS SELECT session_id FROM kakehashi_sessions WHERE server_name = 'visibility' AND user_name = session_user;
GRANT SELECT ON visibility.mine TO kakehashi_ann, kakehashi_mo;
-- A statement of the superuser that runs, in a transaction with a label
BEGIN;
SET LOCAL kakehashi.transaction_label = 'of the superuser';
DECLARE c CURSOR FOR SELECT * FROM visibility.long_rows;
FETCH 1 FROM c \gset
SELECT s.state, s.statement LIKE '%kakehashi_catalog%' AS is_seen, s.handle IS NOT NULL AS has_handle, t.label, j.label AS of_job
  FROM visibility.sessions s JOIN visibility.mine USING (session_id) JOIN visibility.transactions t USING (handle)
  JOIN visibility.jobs j ON j.handle = s.handle AND j.name LIKE '%"long\_rows"%';
-- As whoever may only use the server
SET LOCAL ROLE kakehashi_ann;
SELECT s.state, s.statement, s.handle, s.attached_at, s.requests, s.application_name <> '' AS has_name FROM visibility.sessions s JOIN visibility.mine USING (session_id);
SELECT count(*) AS others FROM visibility.sessions WHERE statement LIKE '%"long\_rows"%';
SELECT count(*) AS others FROM visibility.jobs WHERE name LIKE '%"long\_rows"%';
-- (its own has the same label)
SELECT count(*) AS own FROM visibility.transactions WHERE label = 'of the superuser';
SELECT count(*) > 0 AS hidden FROM visibility.transactions WHERE label = '<insufficient privilege>' AND handle IS NULL;
-- What is its own
SELECT state, statement LIKE '%kakehashi_catalog%' AS is_mine FROM visibility.sessions WHERE statement LIKE '%sessions%';
SELECT count(*) > 0 AS has_own FROM visibility.jobs WHERE name LIKE '%jobs%';
-- In the same session as another role, with a statement that is prepared already
PREPARE seen AS SELECT count(*) > 0 AS seen FROM visibility.sessions WHERE statement LIKE '%"long\_rows"%';
SET LOCAL plan_cache_mode = force_generic_plan;
EXECUTE seen;
SET LOCAL ROLE kakehashi_mo;
EXECUTE seen;
SELECT count(*) AS both FROM visibility.transactions WHERE label = 'of the superuser';
SET LOCAL ROLE kakehashi_ann;
EXECUTE seen;
-- A membership counts from the next use on
RESET ROLE;
GRANT pg_monitor TO kakehashi_ann;
SET LOCAL ROLE kakehashi_ann;
EXECUTE seen;
ROLLBACK;
SET client_min_messages = warning;
DEALLOCATE seen;
DROP SCHEMA visibility CASCADE;
DROP SERVER visibility CASCADE;
DROP ROLE kakehashi_ann, kakehashi_mo;
SELECT kakehashi_execute('kakehashi', 'DROP VIEW long_rows') \gset
