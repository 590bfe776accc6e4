-- What came with PostgreSQL 19, and a foreign table meets
SELECT current_setting('server_version_num')::int < 190000 AS older \gset
\if :older
CREATE SERVER later FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (import_stats 'true');
CREATE SERVER later FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (import_stats 'false');
DROP SERVER later;
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
-- Statistics of the engine in the place of a sample, which is read without the option, and where the engine has none.
ALTER FOREIGN TABLE of_engine.event OPTIONS (ADD import_stats 'true');
ALTER FOREIGN TABLE of_engine.pair OPTIONS (ADD import_stats 'true');
ANALYZE of_engine.pair;
INSERT INTO of_engine.pair SELECT * FROM of_heap.pair;
SELECT kakehashi_execute('kakehashi', 'ANALYZE later.event') \gset
ANALYZE of_engine.event;
ANALYZE of_heap.event, of_heap.pair;
SELECT reltuples, relpages > 10 AS pages FROM pg_class WHERE oid = 'of_engine.event'::regclass;
SELECT pg_stat_force_next_flush() \gset
SELECT pg_stat_get_analyze_count('of_engine.event'::regclass);
SELECT attname, null_frac > 0.2 AS nulls, avg_width > 0 AS wide, n_distinct, most_common_vals IS NOT NULL AS common, histogram_bounds IS NOT NULL AS histogram,
       correlation IS NULL AS of_the_engine
FROM pg_stats WHERE schemaname = 'of_engine' AND tablename = 'event' ORDER BY attname;
CREATE FUNCTION of_engine.estimate(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT condition, f BETWEEN h * 0.9 AND h * 1.1 AS same_rows
FROM unnest(ARRAY['kind = ''rare''', 'kind <> ''usual''', 'n < 100', 'n BETWEEN 100 AND 199', 'note IS NULL', 'note = ''note 7''', 'id > 15000', 'amount < 100']) condition,
     of_engine.estimate('SELECT id FROM of_engine.event WHERE ' || condition) f,
     of_engine.estimate('SELECT id FROM of_heap.event WHERE ' || condition) h;
-- Some columns; extended statistics; a column that ANALYZE leaves out
ANALYZE of_engine.event (n, kind);
ANALYZE of_engine.event (n, nothing);
ANALYZE of_engine.event (n, n);
CREATE STATISTICS of_engine.kinds ON kind, n FROM of_engine.event;
ANALYZE of_engine.event;
SELECT correlation IS NOT NULL AS of_a_sample FROM pg_stats WHERE schemaname = 'of_engine' AND tablename = 'event' AND attname = 'id';
DROP STATISTICS of_engine.kinds;
ALTER FOREIGN TABLE of_engine.event ALTER kind SET STATISTICS 0;
ANALYZE of_engine.event;
ANALYZE of_engine.event (kind);
-- A column of a domain; what the engine has is no value of the second one.
CREATE DOMAIN of_engine.digit AS int CHECK (VALUE BETWEEN 0 AND 9);
CREATE DOMAIN of_engine.positive AS int CHECK (VALUE > 0);
SELECT kakehashi_execute('kakehashi', 'ANALYZE later.pair') \gset
CREATE FOREIGN TABLE of_engine.digits (id int, v of_engine.digit) SERVER kakehashi OPTIONS (schema_name 'later', table_name 'pair', import_stats 'true');
ANALYZE of_engine.digits;
SELECT most_common_vals FROM pg_stats WHERE schemaname = 'of_engine' AND tablename = 'digits' AND attname = 'v';
ALTER FOREIGN TABLE of_engine.digits ALTER v TYPE of_engine.positive;
\set VERBOSITY terse
ANALYZE of_engine.digits;
\set VERBOSITY default
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
SELECT rank() IGNORE NULLS OVER (ORDER BY id) FROM of_engine.event WHERE id < 3;
SELECT called, both_sides(format('SELECT md5(string_agg(q::text, '' '' ORDER BY id)) FROM (SELECT id, %s FROM event) q', called)) ~ '^[0-9a-f]{32}$' AS same
FROM unnest(ARRAY[
  'lag(note, 2) IGNORE NULLS OVER (ORDER BY id)',
  'lag(note, -1) IGNORE NULLS OVER (ORDER BY id), lag(note, 0) IGNORE NULLS OVER (ORDER BY id), lag(note) OVER (ORDER BY id)',
  'lead(note, 3, ''none'') IGNORE NULLS OVER (PARTITION BY kind ORDER BY id DESC)',
  'first_value(note) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)',
  'last_value(note) IGNORE NULLS OVER (PARTITION BY n % 7 ORDER BY id RANGE BETWEEN 10 PRECEDING AND 5 FOLLOWING)',
  'nth_value(note, 3) IGNORE NULLS OVER (ORDER BY n, id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE GROUP)',
  'last_value(nullif(n % 3, 1)) IGNORE NULLS OVER (ORDER BY id), sum(n) OVER (ORDER BY id)']) called;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA later CASCADE') \gset
