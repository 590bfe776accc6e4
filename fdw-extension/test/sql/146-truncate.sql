-- TRUNCATE is the engine's: foreign keys are respected, CASCADE and RESTART IDENTITY mean what they mean for PostgreSQL's own tables.
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA IF EXISTS truncated CASCADE');
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA truncated');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE truncated.parent (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text)');
SELECT kakehashi_execute('kakehashi', $$
  CREATE TABLE truncated.child (id int PRIMARY KEY, parent int REFERENCES truncated.parent ON DELETE CASCADE) $$);
CREATE SCHEMA truncated;
IMPORT FOREIGN SCHEMA truncated FROM SERVER kakehashi INTO truncated;
SET search_path = truncated, public;
INSERT INTO parent (name) SELECT 'p' || g FROM generate_series(1, 3) g;
INSERT INTO child SELECT g, g FROM generate_series(1, 3) g;

-- ON DELETE CASCADE is not for TRUNCATE.
TRUNCATE parent;
SELECT (SELECT count(*) FROM parent) AS parents, (SELECT count(*) FROM child) AS children;
BEGIN;
TRUNCATE parent CASCADE;
SELECT (SELECT count(*) FROM parent) AS parents, (SELECT count(*) FROM child) AS children;
INSERT INTO parent (name) VALUES ('next') RETURNING id;
ROLLBACK;
SELECT (SELECT count(*) FROM parent) AS parents, (SELECT count(*) FROM child) AS children;

-- Both at once, and a savepoint
BEGIN;
SAVEPOINT before;
TRUNCATE parent, child RESTART IDENTITY;
INSERT INTO parent (name) VALUES ('first again') RETURNING id;
ROLLBACK TO before;
SELECT count(*) FROM child;
COMMIT;
INSERT INTO parent (name) VALUES ('goes on') RETURNING id > 3 AS goes_on;
TRUNCATE child, parent RESTART IDENTITY;
INSERT INTO parent (name) VALUES ('first') RETURNING id;

-- Rows of its own statement being read are in the way, as with PostgreSQL's own tables.
BEGIN;
DECLARE reading CURSOR FOR SELECT * FROM parent;
FETCH reading;
TRUNCATE parent CASCADE;
ROLLBACK;

-- A long transaction empties what nothing references.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SET LOCAL kakehashi.write_preserve = 'truncated.child, truncated.parent';
TRUNCATE child;
ROLLBACK;
SET client_min_messages = warning;
DROP SCHEMA truncated CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA truncated CASCADE');
