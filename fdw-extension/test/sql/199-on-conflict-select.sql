-- INSERT ... ON CONFLICT DO SELECT of PostgreSQL 19 works on the engine's unique keys, with the meaning that it has for local tables.
SELECT current_setting('server_version_num')::int < 190000 AS older \gset
\if :older
\quit
\endif
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA picked') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE picked.word (id int PRIMARY KEY, name text UNIQUE, n numeric(10,2), live bool, twice int GENERATED ALWAYS AS (id * 2) STORED)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX ON picked.word (lower(name))') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX ON picked.word (n) WHERE live') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA picked FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.word (id int PRIMARY KEY, name text COLLATE "C" UNIQUE, n numeric(10,2), live bool, twice int GENERATED ALWAYS AS (id * 2) STORED);
CREATE UNIQUE INDEX ON of_heap.word (lower(name));
CREATE UNIQUE INDEX ON of_heap.word (n) WHERE live;
INSERT INTO of_engine.word VALUES (1, 'one', 1.5, true), (2, 'Two', 2.5, false), (3, NULL, NULL, NULL);
INSERT INTO of_heap.word VALUES (1, 'one', 1.5, true), (2, 'Two', 2.5, false), (3, NULL, NULL, NULL);
-- What is returned, and what is in the table afterwards
SELECT statement, both_sides('WITH r AS (INSERT INTO word AS w ' || statement || ') SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM r') AS returned,
  both_sides('SELECT string_agg(w::text, '' '' ORDER BY id) FROM word w') AS kept FROM (VALUES
  ('VALUES (1, ''x'', 9, NULL) ON CONFLICT (id) DO SELECT RETURNING *'),
  ('VALUES (1, ''x'', 9, NULL), (4, ''four'', 4, true), (2, ''y'', 8, NULL) ON CONFLICT (id) DO SELECT RETURNING id, name, twice'),
  ('VALUES (1, ''x'', 9, NULL), (5, ''five'', 5, NULL) ON CONFLICT (id) DO SELECT RETURNING 7 AS seven'),
  ('VALUES (9, ''Two'', 9, NULL) ON CONFLICT (name) DO SELECT RETURNING id, n'),
  ('VALUES (9, ''TWO'', 9, NULL) ON CONFLICT (lower(name)) DO SELECT RETURNING id, name'),
  ('VALUES (9, ''x'', 1.5, true) ON CONFLICT (n) WHERE live DO SELECT RETURNING id'),
  ('VALUES (9, ''one'', 9, true) ON CONFLICT (id) DO SELECT RETURNING id'),
  ('VALUES (1, ''x'', 9, true) ON CONFLICT (n) DO SELECT RETURNING id'),
  ('VALUES (1, ''x'', 9, NULL), (2, ''Two'', 9, NULL), (6, ''six'', 9, NULL) ON CONFLICT (id) DO SELECT WHERE w.name = excluded.name RETURNING id'),
  ('VALUES (1, ''x'', 9, NULL), (2, ''y'', 1, NULL) ON CONFLICT (id) DO SELECT WHERE w.n < excluded.n + length(excluded.name) RETURNING id'),
  ('VALUES (1, ''x'', 9, NULL) ON CONFLICT (id) DO SELECT WHERE NULL RETURNING id'),
  ('VALUES (1, ''x'', 9, NULL), (3, ''y'', 8, NULL) ON CONFLICT (id) DO SELECT FOR UPDATE RETURNING id, live'),
  ('VALUES (1, ''x'', 9, NULL) ON CONFLICT (id) DO SELECT FOR NO KEY UPDATE WHERE w.live RETURNING id'),
  ('VALUES (2, ''x'', 9, NULL) ON CONFLICT (id) DO SELECT FOR SHARE WHERE w.live RETURNING id'),
  ('VALUES (2, ''x'', 9, NULL) ON CONFLICT (id) DO SELECT FOR KEY SHARE RETURNING w.*, new.id AS again'),
  ('SELECT g % 10, ''s'' || g, g * 100, NULL FROM generate_series(1, 30) g ON CONFLICT (id) DO SELECT RETURNING id, name, n'),
  ('VALUES (20, ''twenty'', 1, NULL), (20, ''score'', 2, NULL) ON CONFLICT (id) DO SELECT RETURNING name'),
  ('VALUES (21, ''a'', 1, NULL), (21, ''b'', 2, NULL) ON CONFLICT (id) DO SELECT FOR SHARE RETURNING name'),
  ('VALUES (21, ''a'', 1, NULL), (21, ''b'', 2, NULL) ON CONFLICT (id) DO SELECT FOR UPDATE RETURNING name')
  ) s (statement);
SET search_path = of_engine, public;
-- The number of rows of the command
DO $$
DECLARE
  side text;
  count int;
BEGIN
  FOREACH side IN ARRAY ARRAY['of_engine', 'of_heap'] LOOP
    EXECUTE format('INSERT INTO %s.word VALUES (1), (2), (30) ON CONFLICT (id) DO SELECT WHERE excluded.id = 2 RETURNING id', side);
    GET DIAGNOSTICS count = ROW_COUNT;
    RAISE NOTICE '%: % rows', side, count;
  END LOOP;
END $$;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO word AS w VALUES (1, 'x', 9) ON CONFLICT (id) DO SELECT FOR UPDATE WHERE w.n < excluded.n + length(excluded.name) RETURNING w.name;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO word VALUES (1) ON CONFLICT (lower(name)) DO SELECT RETURNING 1;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO word VALUES (1) ON CONFLICT (n) WHERE live DO SELECT FOR KEY SHARE RETURNING *;
PREPARE again(int, text) AS INSERT INTO word AS w VALUES ($1, $2) ON CONFLICT (id) DO SELECT WHERE w.name <> $2 RETURNING id, name;
SET plan_cache_mode = force_generic_plan;
EXECUTE again(1, 'one');
EXECUTE again(1, 'other');
EXECUTE again(40, 'forty');
EXECUTE again(40, 'fort');
RESET plan_cache_mode;
-- In a transaction that changes the row
BEGIN;
INSERT INTO word VALUES (1) ON CONFLICT (id) DO SELECT FOR UPDATE RETURNING id;
UPDATE word SET n = 1.75 WHERE id = 1;
INSERT INTO word VALUES (1) ON CONFLICT (id) DO SELECT RETURNING n;
ROLLBACK;
-- Triggers BEFORE INSERT, and those of updates, of which there are none
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE picked.plain (id int PRIMARY KEY, name text)') \gset
IMPORT FOREIGN SCHEMA picked LIMIT TO (plain) FROM SERVER kakehashi INTO of_engine;
INSERT INTO plain VALUES (1, 'one'), (2, 'two');
CREATE FUNCTION marked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := NEW.name || '!'; RETURN NEW; END $$;
CREATE TRIGGER marked BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION marked();
CREATE TRIGGER updated AFTER UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION marked();
INSERT INTO plain AS p VALUES (1, 'x'), (50, 'fifty') ON CONFLICT (id) DO SELECT WHERE excluded.name = 'x!' RETURNING id, name;
CREATE VIEW all_words AS SELECT * FROM plain;
INSERT INTO all_words AS a VALUES (2, 'y') ON CONFLICT (id) DO SELECT WHERE a.name > 'one' RETURNING id, name;
-- What cannot be sent says so.
CREATE TRIGGER seen AFTER INSERT ON plain FOR EACH ROW EXECUTE FUNCTION marked();
INSERT INTO plain VALUES (1) ON CONFLICT (id) DO SELECT RETURNING id;
DROP TRIGGER seen ON plain;
INSERT INTO plain VALUES (1) ON CONFLICT (id) DO SELECT WHERE initcap(plain.name) = 'One' RETURNING id;
INSERT INTO plain VALUES (1) ON CONFLICT (id) DO SELECT RETURNING old.id;
CREATE VIEW some_words AS SELECT * FROM plain WHERE name > 'a' WITH CHECK OPTION;
INSERT INTO some_words VALUES (2) ON CONFLICT (id) DO SELECT RETURNING id;
-- A column that the engine computes
INSERT INTO word VALUES (1) ON CONFLICT (id) DO SELECT WHERE excluded.twice = word.twice RETURNING id;
INSERT INTO word VALUES (1) ON CONFLICT (id) DO SELECT WHERE word.twice = 2 RETURNING id;
RESET search_path;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA picked CASCADE') \gset
