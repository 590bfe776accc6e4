-- Definitions on the engine are part of the transaction.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS defined');
BEGIN;
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE defined (id int PRIMARY KEY, amount int CHECK (amount > 0))');
SELECT kakehashi_execute('kakehashi', 'INSERT INTO defined VALUES (1, 10)');
-- The transaction imports what only it sees.
CREATE SCHEMA definitions;
IMPORT FOREIGN SCHEMA public LIMIT TO (defined) FROM SERVER kakehashi INTO definitions;
SELECT * FROM definitions.defined;
ROLLBACK;
SELECT * FROM kakehashi_query('kakehashi', $$SELECT count(*) FROM kakehashi_catalog.tables WHERE table_name = 'defined'$$) AS q (n bigint);
BEGIN;
CREATE SCHEMA definitions;
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE defined (id int PRIMARY KEY, amount int CHECK (amount > 0))');
IMPORT FOREIGN SCHEMA public LIMIT TO (defined) FROM SERVER kakehashi INTO definitions;
INSERT INTO definitions.defined VALUES (1, 10), (2, 20);
SAVEPOINT s;
SELECT kakehashi_execute('kakehashi', 'TRUNCATE defined');
SELECT count(*) FROM definitions.defined;
ROLLBACK TO s;
SELECT * FROM definitions.defined ORDER BY id;
ANALYZE definitions.defined;
-- Both sides have written: the engine's part is prepared first.
COMMIT;
SELECT * FROM definitions.defined ORDER BY id;
INSERT INTO definitions.defined VALUES (3, 0);
UPDATE definitions.defined SET amount = amount - 10;
-- What an old foreign table meets
SELECT kakehashi_execute('kakehashi', $$ALTER TABLE defined ADD COLUMN note text DEFAULT 'none'$$);
INSERT INTO definitions.defined VALUES (3, 30);
SELECT * FROM definitions.defined ORDER BY id;
SELECT * FROM kakehashi_query('kakehashi', 'SELECT id, note FROM defined ORDER BY id') AS q (id int, note text);
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE defined ALTER COLUMN amount TYPE bigint');
SELECT * FROM definitions.defined ORDER BY id;
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE defined ALTER COLUMN amount TYPE int');
SELECT * FROM definitions.defined ORDER BY id;
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE defined RENAME COLUMN amount TO quantity');
SELECT * FROM definitions.defined ORDER BY id;
ALTER FOREIGN TABLE definitions.defined ALTER COLUMN amount OPTIONS (SET column_name 'quantity');
SELECT * FROM definitions.defined ORDER BY id;
DROP SCHEMA definitions CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE defined');
-- Views are imported as tables that can only be read; identity columns get their values on the engine.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE numbered (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int)');
SELECT kakehashi_execute('kakehashi', 'INSERT INTO numbered (a) VALUES (1), (2), (3)');
SELECT kakehashi_execute('kakehashi', 'CREATE VIEW larger (id, a) AS SELECT id, a FROM numbered WHERE a > 1');
SELECT kakehashi_execute('kakehashi', $$COMMENT ON VIEW larger IS 'more than one'$$);
CREATE SCHEMA definitions;
IMPORT FOREIGN SCHEMA public LIMIT TO (numbered, larger) FROM SERVER kakehashi INTO definitions;
SELECT * FROM definitions.larger ORDER BY id;
SELECT n.id, l.a FROM definitions.numbered n LEFT JOIN definitions.larger l USING (id) ORDER BY 1;
\set VERBOSITY sqlstate
INSERT INTO definitions.larger VALUES (9, 9);
UPDATE definitions.larger SET a = 0;
DELETE FROM definitions.larger;
TRUNCATE definitions.larger;
INSERT INTO definitions.numbered VALUES (9, 9);
SELECT kakehashi_execute('kakehashi', 'DROP TABLE numbered');
\set VERBOSITY default
SELECT * FROM kakehashi_query('kakehashi', 'SELECT object_type, object_schema, object_name, column_name, comment FROM kakehashi_catalog.comments')
  AS q (object_type text, object_schema text, object_name text, column_name text, comment text);
SELECT kakehashi_execute('kakehashi', 'DROP TABLE numbered CASCADE');
SELECT * FROM definitions.larger;
-- A table of a query, in the transaction of both sides; keys that are looked at at its end
BEGIN;
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE copied AS SELECT g AS k, ''row '' || g AS word FROM generate_series(1, 3) g');
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE copied ADD PRIMARY KEY (k) DEFERRABLE INITIALLY DEFERRED');
IMPORT FOREIGN SCHEMA public LIMIT TO (copied) FROM SERVER kakehashi INTO definitions;
UPDATE definitions.copied SET k = k + 1;
INSERT INTO definitions.copied VALUES (3, 'again');
SELECT * FROM definitions.copied ORDER BY k, word;
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
BEGIN;
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE copied AS SELECT g AS k, ''row '' || g AS word FROM generate_series(1, 3) g');
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE copied ADD PRIMARY KEY (k) DEFERRABLE INITIALLY DEFERRED');
IMPORT FOREIGN SCHEMA public LIMIT TO (copied) FROM SERVER kakehashi INTO definitions;
UPDATE definitions.copied SET k = k + 1;
INSERT INTO definitions.copied VALUES (3, 'again');
DELETE FROM definitions.copied WHERE word = 'row 2';
COMMIT;
SELECT * FROM definitions.copied ORDER BY k;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE copied');
DROP SCHEMA definitions CASCADE;
