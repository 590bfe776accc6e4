-- SET column = DEFAULT of columns that the engine computes is what it is for local tables.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS given') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE given (id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a * 2) STORED, h text, i int GENERATED ALWAYS AS IDENTITY)') \gset
CREATE SCHEMA given;
SET search_path = given, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (given) FROM SERVER kakehashi INTO given;
INSERT INTO given (id, a) VALUES (1, 5), (2, 6);
EXPLAIN (VERBOSE, COSTS OFF) UPDATE given SET g = DEFAULT;
UPDATE given SET g = DEFAULT;
UPDATE given SET a = 7, g = DEFAULT WHERE id = 1 RETURNING *;
UPDATE given SET i = DEFAULT WHERE id = 2 RETURNING *;
-- By single rows
EXPLAIN (VERBOSE, COSTS OFF) UPDATE given SET g = DEFAULT, h = initcap('x' || h);
UPDATE given SET g = DEFAULT, h = initcap('x' || a) RETURNING id, a, g, h;
CREATE FUNCTION double() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.a := NEW.a * 2; NEW.g := 1; RETURN NEW; END $$;
CREATE TRIGGER double BEFORE UPDATE ON given FOR EACH ROW EXECUTE FUNCTION double();
UPDATE given SET g = DEFAULT WHERE id = 1 RETURNING id, a, g;
UPDATE given SET h = 'y' WHERE id = 2 RETURNING id, a, g, h;
UPDATE given SET g = 5 WHERE id = 2;
DROP TRIGGER double ON given;
-- What was proposed for them is not known here.
INSERT INTO given (id, a) VALUES (1, 8) ON CONFLICT (id) DO UPDATE SET h = excluded.g;
INSERT INTO given AS o (id, a) VALUES (1, 8) ON CONFLICT (id) DO UPDATE SET h = 'z' WHERE excluded.i > o.i;
INSERT INTO given AS o (id, a) VALUES (1, 8) ON CONFLICT (id) DO UPDATE SET h = o.h || 'z' WHERE excluded.a < o.g RETURNING h;
-- Values are refused, and a null is one.
\set VERBOSITY terse
UPDATE given SET g = 5;
UPDATE given SET g = NULL;
UPDATE given SET i = 5, h = initcap(h);
\set VERBOSITY default
SELECT id, a, g, h FROM given ORDER BY id;
-- Tables that were made again with other columns: statements of before are prepared again.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE again (id int PRIMARY KEY, v int)') \gset
CREATE FOREIGN TABLE again (id int OPTIONS (key 'true'), v int) SERVER kakehashi OPTIONS (schema_name 'public');
INSERT INTO again VALUES (1, 2) RETURNING *;
SELECT * FROM again;
UPDATE again SET v = v RETURNING *;
SELECT s, (SELECT v FROM again WHERE id = s) FROM generate_series(1, 2) s;
DELETE FROM again USING given g WHERE g.id = again.id RETURNING again.*, g.h;
DROP FOREIGN TABLE again;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE again') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE again (id int PRIMARY KEY, v text)') \gset
CREATE FOREIGN TABLE again (id int OPTIONS (key 'true'), v text) SERVER kakehashi OPTIONS (schema_name 'public');
INSERT INTO again VALUES (1, 'x') RETURNING *;
SELECT * FROM again;
UPDATE again SET v = v RETURNING *;
SELECT s, (SELECT v FROM again WHERE id = s) FROM generate_series(1, 2) s;
DELETE FROM again USING given g WHERE g.id = again.id RETURNING again.*, g.h;
-- What does not fit is still reported.
ALTER FOREIGN TABLE again ALTER v TYPE int;
SELECT * FROM again;
SELECT * FROM again;
-- A column that is generated on both sides is computed on both, and not sent.
CREATE FOREIGN TABLE both_sides (id int OPTIONS (key 'true'), a int, g int OPTIONS (generated 'true') GENERATED ALWAYS AS (a * 2) STORED, h text)
  SERVER kakehashi OPTIONS (schema_name 'public', table_name 'given');
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO both_sides (id, a) VALUES (3, 8);
INSERT INTO both_sides (id, a) VALUES (3, 8), (4, 9) RETURNING *;
INSERT INTO both_sides (id, a) VALUES (3, 8) ON CONFLICT (id) DO UPDATE SET a = 10;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE both_sides SET a = a + 1;
UPDATE both_sides SET a = a + 1 WHERE id = 4;
UPDATE both_sides SET a = a + 1, h = initcap('z' || a) WHERE id = 4 RETURNING *;
CREATE TRIGGER double BEFORE INSERT OR UPDATE ON both_sides FOR EACH ROW EXECUTE FUNCTION double();
INSERT INTO both_sides (id, a) VALUES (5, 1) RETURNING *;
UPDATE both_sides SET h = 'w' WHERE id = 5 RETURNING *;
DROP TRIGGER double ON both_sides;
COPY both_sides (id, a) FROM stdin;
6	11
7	12
\.
SELECT id, a, g, h FROM both_sides WHERE id > 2 ORDER BY id;
SELECT id, g FROM given WHERE id > 2 ORDER BY id;
DELETE FROM both_sides WHERE id > 2;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA given CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE again') \gset
SELECT kakehashi_execute('kakehashi', 'DROP TABLE given') \gset
