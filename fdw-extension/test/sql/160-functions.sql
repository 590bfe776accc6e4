-- Statements as they are: kakehashi_execute and kakehashi_query run them in the transaction, and say what is wrong.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS plain');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE plain (id int PRIMARY KEY, t text)');
SELECT kakehashi_execute('kakehashi', $$INSERT INTO plain VALUES (1, 'a'), (2, NULL)$$);
SELECT * FROM kakehashi_query('kakehashi', 'SELECT id, t FROM plain ORDER BY id') AS q (id int, t text);
SELECT * FROM kakehashi_query('kakehashi', 'UPDATE plain SET t = ''b'' WHERE id = 2 RETURNING id, t') AS q (id int, t text);
BEGIN;
SELECT kakehashi_execute('kakehashi', 'DELETE FROM plain');
SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM plain') AS q (n bigint);
ROLLBACK;
SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM plain') AS q (n bigint);
-- They are executed in the time zone of this session
PREPARE zoned AS SELECT * FROM kakehashi_query('kakehashi', $$SELECT (timestamptz '2024-07-01 20:00Z')::text, (timestamptz '2024-07-01 20:00Z')::date, (timestamptz '2024-07-01 12:00')::text$$) AS q (t text, d date, l text);
SET timezone = 'Asia/Tokyo';
EXECUTE zoned;
BEGIN;
SELECT kakehashi_execute('kakehashi', 'DELETE FROM plain');
SET LOCAL timezone = 'Europe/Berlin';
EXECUTE zoned;
ROLLBACK;
EXECUTE zoned;
SET timezone = 'UTC';
EXECUTE zoned;
RESET timezone;
-- The column definition list must fit
SELECT * FROM kakehashi_query('kakehashi', 'SELECT id, t FROM plain') AS q (id bigint, t text);
SELECT * FROM kakehashi_query('kakehashi', 'SELECT id, t FROM plain') AS q (id int);
-- Errors keep their code, and point into the statement
\set VERBOSITY sqlstate
SELECT kakehashi_execute('kakehashi', 'SELEC 1');
SELECT kakehashi_execute('kakehashi', 'SELECT * FROM nowhere');
SELECT kakehashi_execute('kakehashi', 'SELECT nothing FROM plain');
SELECT kakehashi_execute('kakehashi', 'INSERT INTO plain VALUES (1, ''again'')');
SELECT kakehashi_execute('kakehashi', 'SELECT $1');
\set VERBOSITY default
-- Names of what was violated
DO $$
DECLARE
  c text;
  t text;
BEGIN
  PERFORM kakehashi_execute('kakehashi', 'INSERT INTO plain VALUES (1, ''again'')');
EXCEPTION WHEN unique_violation THEN
  GET STACKED DIAGNOSTICS c = CONSTRAINT_NAME, t = TABLE_NAME;
  RAISE NOTICE 'constraint %, table %', c, t;
END $$;
-- Only those to whom it is granted
CREATE ROLE kakehashi_functions_user;
SET ROLE kakehashi_functions_user;
SELECT kakehashi_execute('kakehashi', 'SELECT 1');
RESET ROLE;
GRANT EXECUTE ON FUNCTION kakehashi_execute(name, text) TO kakehashi_functions_user;
SET ROLE kakehashi_functions_user;
SELECT kakehashi_execute('kakehashi', 'SELECT 1');
RESET ROLE;
REVOKE ALL ON FUNCTION kakehashi_execute(name, text) FROM kakehashi_functions_user;
DROP ROLE kakehashi_functions_user;
-- Sessions: one per mapping, until the options change or somebody ends it
SELECT server_name, alive, valid, in_transaction, outstanding_calls FROM kakehashi_sessions;
ALTER SERVER kakehashi OPTIONS (ADD application_name 'regress');
SELECT valid FROM kakehashi_sessions;
SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM plain') AS q (n bigint);
SELECT valid FROM kakehashi_sessions;
BEGIN;
SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM plain') AS q (n bigint);
SELECT kakehashi_disconnect('kakehashi');
ROLLBACK;
SELECT kakehashi_disconnect('kakehashi');
SELECT kakehashi_disconnect('kakehashi');
SELECT count(*) FROM kakehashi_sessions;
ALTER SERVER kakehashi OPTIONS (ADD keep_connections 'off');
SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM plain') AS q (n bigint);
SELECT count(*) FROM kakehashi_sessions;
ALTER SERVER kakehashi OPTIONS (DROP keep_connections, DROP application_name);
SELECT kakehashi_execute('kakehashi', 'DROP TABLE plain');
