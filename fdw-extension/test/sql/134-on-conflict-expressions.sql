-- ON CONFLICT on the engine's unique indexes over expressions, whole and partial, and on keys whose nulls are not distinct, as on local tables.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE shown (id int PRIMARY KEY, name text, city text, n int, live bool)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX ON shown (lower(name))') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX ON shown (upper(city), (n % 10)) WHERE live') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX ON shown (n, live) NULLS NOT DISTINCT') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (shown) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.shown (LIKE of_engine.shown, PRIMARY KEY (id));
CREATE UNIQUE INDEX ON of_heap.shown (lower(name));
CREATE UNIQUE INDEX ON of_heap.shown (upper(city), (n % 10)) WHERE live;
CREATE UNIQUE INDEX ON of_heap.shown (n, live) NULLS NOT DISTINCT;
SELECT statement, both_sides('INSERT INTO shown AS s ' || statement, 'SELECT string_agg(s::text, '' '' ORDER BY id) FROM shown s') FROM (VALUES
  ('VALUES (1, ''Ann'', ''Rome'', 1, true), (2, ''Bob'', NULL, 2, false), (3, NULL, ''Oslo'', NULL, NULL)'),
  ('VALUES (4, ''ANN'', ''Bern'', 4, true) ON CONFLICT (lower(name)) DO NOTHING'),
  ('VALUES (4, ''ANN'', ''Bern'', 4, true) ON CONFLICT ((lower(name))) DO UPDATE SET city = excluded.city || ''/'' || s.city, n = s.n + excluded.n RETURNING id, city'),
  ('VALUES (5, ''BOB'', ''Bonn'', 5, true), (6, ''bOB'', ''Bonn'', 6, true) ON CONFLICT (lower(name)) DO UPDATE SET name = excluded.name'),
  ('VALUES (5, ''BOB'', ''Bonn'', 5, true) ON CONFLICT (lower(name)) DO UPDATE SET name = excluded.name || s.name WHERE s.name = ''Bob'''),
  ('VALUES (6, ''x'', ''bern/rome'', 15, true) ON CONFLICT (upper(city), (n % 10)) WHERE live DO NOTHING'),
  ('VALUES (6, ''x'', ''bern/rome'', 15, true) ON CONFLICT ((n % 10), upper(city)) WHERE live DO UPDATE SET n = 25'),
  ('VALUES (7, ''y'', ''bern/rome'', 15, false) ON CONFLICT (upper(city), (n % 10)) WHERE live DO UPDATE SET n = 25'),
  ('VALUES (8, ''z'', ''bern/rome'', 15, true) ON CONFLICT (upper(city), (n % 10)) DO NOTHING'),
  ('VALUES (8, ''z'', ''x'', 15, true) ON CONFLICT (upper(name)) DO NOTHING'),
  ('VALUES (8, ''z'', ''x'', 15, true) ON CONFLICT (lower(name), n) DO NOTHING'),
  ('VALUES (8, ''Ann'', ''x'', 80, true) ON CONFLICT (upper(city), (n % 10)) WHERE live DO NOTHING'),
  ('VALUES (9, ''n'', NULL, NULL, NULL) ON CONFLICT (n, live) DO UPDATE SET city = s.city || ''!'''),
  ('VALUES (9, ''n'', NULL, NULL, NULL) ON CONFLICT (live, n) DO NOTHING'),
  ('VALUES (9, ''n'', NULL, NULL, NULL)'),
  ('VALUES (9, ''n'', NULL, NULL, NULL), (10, ''m'', NULL, NULL, NULL) ON CONFLICT DO NOTHING'),
  ('SELECT g, ''name'' || g % 4, ''c'', g, g % 2 = 0 FROM generate_series(20, 40) g ON CONFLICT (lower(name)) DO UPDATE SET city = excluded.name WHERE false')
  ) s (statement);
SET search_path = of_engine, public;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO shown VALUES (1, 'a') ON CONFLICT (lower(name)) DO UPDATE SET name = shown.name || excluded.name;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO shown VALUES (1, 'a') ON CONFLICT (upper(city), (n % 10)) WHERE live DO NOTHING;
PREPARE again(int, text) AS INSERT INTO shown VALUES ($1, $2) ON CONFLICT (lower(name)) DO UPDATE SET city = excluded.name RETURNING id, city;
SET plan_cache_mode = force_generic_plan;
EXECUTE again(50, 'ann');
EXECUTE again(51, 'ANN');
RESET plan_cache_mode;
INSERT INTO shown VALUES (1, 'a') ON CONFLICT (initcap(name)) DO NOTHING;
INSERT INTO shown VALUES (1, 'a') ON CONFLICT (name COLLATE "C") DO NOTHING;
SELECT kakehashi_execute('kakehashi', $$INSERT INTO shown AS s VALUES (60, 'Ann', 'q', 60) ON CONFLICT (lower(name)) DO UPDATE SET city = s.city || excluded.city$$);
SELECT kakehashi_execute('kakehashi', $$INSERT INTO shown VALUES (60, 'Ann', 'q', 60) ON CONFLICT (lower(name)) DO NOTHING$$);
SELECT city FROM shown WHERE id = 1;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE shown') \gset
