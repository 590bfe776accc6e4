-- ON CONFLICT (...) WHERE works on the engine's partial unique indexes, and on whole ones, as PostgreSQL's inference does.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS partly') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE partly (id int PRIMARY KEY, code text, live bool, n int, d date)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX ON partly (code) WHERE live') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX ON partly (n) WHERE d >= ''2020-01-01'' AND code <> ''none''') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (partly) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.partly (LIKE of_engine.partly, PRIMARY KEY (id));
CREATE UNIQUE INDEX ON of_heap.partly (code) WHERE live;
CREATE UNIQUE INDEX ON of_heap.partly (n) WHERE d >= '2020-01-01' AND code <> 'none';
SELECT statement, both_sides('INSERT INTO partly AS p ' || statement, 'SELECT string_agg(p::text, '' '' ORDER BY id) FROM partly p') FROM (VALUES
  ('VALUES (1, ''a'', true, 1, ''2020-02-01''), (2, ''a'', false, 1, ''2019-02-01'')'),
  ('VALUES (3, ''a'', true, 3, NULL) ON CONFLICT (code) WHERE live DO NOTHING'),
  ('VALUES (3, ''a'', false, 3, NULL) ON CONFLICT (code) WHERE live DO NOTHING'),
  ('VALUES (4, ''a'', true, 3, NULL) ON CONFLICT (code) WHERE live DO UPDATE SET n = p.n + excluded.n, d = excluded.d WHERE p.n < 10 RETURNING id'),
  ('VALUES (4, ''a'', true, 3, NULL) ON CONFLICT (code) WHERE live AND n > 5 DO UPDATE SET live = false'),
  ('VALUES (4, ''a'', true, 3, ''2021-01-01'') ON CONFLICT (code) WHERE live DO UPDATE SET live = excluded.live'),
  ('VALUES (5, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (n) WHERE code <> ''none'' AND d >= ''2020-01-01'' AND live DO UPDATE SET d = excluded.d'),
  ('VALUES (5, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (n) WHERE d > ''2019-12-31'' AND code <> ''none'' DO NOTHING'),
  ('VALUES (5, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (code) DO NOTHING'),
  ('VALUES (5, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (code) WHERE NOT live DO NOTHING'),
  -- What follows from the values that a column is compared with
  ('VALUES (6, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (n) WHERE code > ''none'' AND d > ''2020-06-01'' DO NOTHING'),
  ('VALUES (6, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (n) WHERE d = ''2020-01-01'' AND code = ''b'' AND id IS NOT NULL DO UPDATE SET d = excluded.d + 1'),
  ('VALUES (6, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (n) WHERE d >= ''2019-12-31'' AND code <> ''none'' DO NOTHING'),
  ('VALUES (6, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (n) WHERE d > ''2020-06-01'' AND code >= ''none'' DO NOTHING'),
  ('VALUES (6, ''b'', true, 3, ''2021-01-02'') ON CONFLICT (n) WHERE d > ''2020-06-01'' AND code IS NOT NULL DO NOTHING'),
  -- Any condition is right for a whole index.
  ('VALUES (4, ''c'', false, 3, NULL) ON CONFLICT (id) WHERE n IN (1, 2) AND code LIKE ''%x'' AND d = ''infinity'' DO UPDATE SET d = ''2022-02-02'''),
  -- Other keys are still looked at.
  ('VALUES (1, ''c'', true, 9, NULL) ON CONFLICT (code) WHERE live DO NOTHING'),
  ('SELECT g, ''x'' || g % 2, g % 3 = 0, g, NULL FROM generate_series(10, 15) g ON CONFLICT (code) WHERE live DO NOTHING')
  ) s (statement);
-- In a query that is planned before its values are known a value proves nothing; two rows with the same values need not both be in the index.
SET search_path = of_engine, public;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO partly VALUES (1) ON CONFLICT (code) WHERE live DO NOTHING;
PREPARE later(bool) AS INSERT INTO partly VALUES (20, 'a', true) ON CONFLICT (code) WHERE live = $1 DO NOTHING;
EXECUTE later(true);
SET plan_cache_mode = force_generic_plan;
EXECUTE later(true);
RESET plan_cache_mode;
INSERT INTO partly VALUES (21, 'z', true), (22, 'z', false) ON CONFLICT (code) WHERE live DO UPDATE SET n = 1;
INSERT INTO partly VALUES (21, 'z', true) ON CONFLICT (code) WHERE initcap(code) = 'Z' DO NOTHING;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE partly') \gset
