-- A session belongs to a user mapping: whoever the role is set to gets a session of his own, and none without a mapping.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS roles') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE roles (id int PRIMARY KEY, v text)') \gset
CREATE SCHEMA roles;
SELECT option_value AS runtime_dir FROM pg_foreign_server, pg_options_to_table(srvoptions) WHERE srvname = 'kakehashi' AND option_name = 'runtime_dir' \gset
CREATE SERVER of_roles FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '/nowhere');
ALTER SERVER of_roles OPTIONS (SET runtime_dir :'runtime_dir');
CREATE ROLE kakehashi_ann;
CREATE ROLE kakehashi_bob;
CREATE ROLE kakehashi_cleo;
CREATE USER MAPPING FOR CURRENT_USER SERVER of_roles;
CREATE USER MAPPING FOR kakehashi_ann SERVER of_roles OPTIONS (password_required 'false');
CREATE USER MAPPING FOR kakehashi_bob SERVER of_roles OPTIONS (password_required 'false');
GRANT USAGE ON SCHEMA roles TO kakehashi_ann, kakehashi_bob, kakehashi_cleo;
CREATE FOREIGN TABLE roles.roles (id int OPTIONS (key 'true'), v text) SERVER of_roles OPTIONS (schema_name 'public');
GRANT SELECT, INSERT ON roles.roles TO kakehashi_ann, kakehashi_bob, kakehashi_cleo;
CREATE VIEW roles.of_owner AS SELECT count(*) FROM roles.roles;
GRANT SELECT ON roles.of_owner TO kakehashi_cleo;
SET ROLE kakehashi_ann;
INSERT INTO roles.roles VALUES (1, current_user);
SET ROLE kakehashi_bob;
SELECT * FROM roles.roles;
INSERT INTO roles.roles VALUES (2, current_user);
-- Within one transaction: what the one has not committed the other does not see
BEGIN;
INSERT INTO roles.roles VALUES (3, current_user);
SET LOCAL ROLE kakehashi_ann;
SELECT count(*) FROM roles.roles;
SET LOCAL ROLE kakehashi_bob;
SELECT count(*) FROM roles.roles;
ROLLBACK;
RESET ROLE;
SELECT user_name, valid, count(*) OVER () AS sessions, count(session_id) OVER (PARTITION BY session_id) AS of_this_one
  FROM kakehashi_sessions WHERE server_name = 'of_roles' ORDER BY 1;
-- No mapping; a view reads as its owner
SET ROLE kakehashi_cleo;
\set VERBOSITY sqlstate
SELECT * FROM roles.roles;
\set VERBOSITY default
SELECT * FROM roles.of_owner;
RESET ROLE;
SELECT user_name = session_user AS owner, user_name LIKE 'kakehashi%' AS role, count(*) FROM kakehashi_sessions WHERE server_name = 'of_roles' GROUP BY 1, 2 ORDER BY 1;
-- A prepared statement is run as the role of the moment
PREPARE counted AS SELECT count(*) FROM roles.roles;
SET plan_cache_mode = force_generic_plan;
EXECUTE counted;
SET ROLE kakehashi_cleo;
\set VERBOSITY sqlstate
EXECUTE counted;
\set VERBOSITY default
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA roles CASCADE;
DROP SERVER of_roles CASCADE;
DROP ROLE kakehashi_ann, kakehashi_bob, kakehashi_cleo;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE roles') \gset
