-- What came with PostgreSQL 19, and a foreign table meets
SELECT current_setting('server_version_num')::int < 190000 AS older \gset
\if :older
\quit
\endif
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA later') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE later.event (id int PRIMARY KEY, kind text, n int, note text, at timestamptz, amount numeric, data jsonb, tags text[])') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE later.pair (id int PRIMARY KEY, v int)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA later FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.event AS
  SELECT g AS id, CASE WHEN g % 50 = 0 THEN 'rare' ELSE 'usual' END COLLATE "C" AS kind, g % 1000 AS n,
         CASE WHEN g % 4 = 0 THEN NULL ELSE 'note ' || g % 100 END COLLATE "C" AS note,
         timestamptz '2026-01-01 UTC' + g * interval '1 minute' AS at, g / 7.0 AS amount, jsonb_build_object('g', g % 3) AS data, ARRAY['t' || g % 5] AS tags
  FROM generate_series(1, 20000) g;
CREATE TABLE of_heap.pair AS SELECT g AS id, g % 10 AS v FROM generate_series(1, 200) g;
INSERT INTO of_engine.event SELECT * FROM of_heap.event;
INSERT INTO of_engine.pair SELECT * FROM of_heap.pair;
-- Groups that PostgreSQL makes before it joins, and semijoins whose right side it makes unique: neither is a join of the engine's.
SET min_eager_agg_group_size = 0;
SELECT query, both_sides(format('SELECT md5(string_agg(q::text, '' '' ORDER BY q::text)) FROM (%s) q', query)) ~ '^[0-9a-f]{32}$' AS same
FROM unnest(ARRAY[
  'SELECT p.v, sum(e.n) FROM event e JOIN pair p ON p.id = e.n GROUP BY p.v',
  'SELECT p.v, sum(e.n), count(*) FROM event e JOIN of_heap.pair p ON p.id = e.n GROUP BY p.v',
  'SELECT h.v, avg(e.n) FROM of_heap.pair h JOIN pair p USING (id) JOIN event e ON e.n = p.v GROUP BY h.v',
  'SELECT p.id FROM pair p WHERE p.id IN (SELECT e.n FROM event e)',
  'SELECT h.id FROM of_heap.pair h WHERE h.id IN (SELECT e.n FROM event e)',
  'SELECT h.id FROM of_heap.event h WHERE h.n IN (SELECT p.id FROM pair p)',
  'SELECT e.id FROM event e WHERE e.id IN (SELECT h.v FROM of_heap.pair h)',
  'SELECT p.id, h.v FROM pair p, of_heap.pair h WHERE (p.id, h.id) IN (SELECT e.n, e.n FROM event e WHERE e.id < 500)',
  'SELECT p.id, q.id FROM pair p, pair q WHERE (p.v, q.id) IN (SELECT e.n, e.n FROM event e WHERE e.kind = ''usual'')']) query;
RESET min_eager_agg_group_size;
-- Window functions that leave nulls out
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, lag(note) IGNORE NULLS OVER (ORDER BY id) FROM of_engine.event;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, lag(note) RESPECT NULLS OVER (ORDER BY id) FROM of_engine.event;
SELECT id, lag(note) IGNORE NULLS OVER (ORDER BY id) FROM of_engine.event ORDER BY id LIMIT 6;
SELECT id, first_value(note) IGNORE NULLS OVER (ORDER BY id DESC ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM of_engine.event WHERE id < 6 ORDER BY id;
-- DO SELECT
INSERT INTO of_engine.pair VALUES (1, 0) ON CONFLICT (id) DO SELECT RETURNING id, v;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA later CASCADE') \gset
