-- Window functions, grouping sets and ordered aggregates are computed by the engine, with PostgreSQL's results.
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA IF EXISTS windows CASCADE') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA windows');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE windows.g (id int PRIMARY KEY, a int, b text, n numeric, f float8)');
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA windows FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.g (id int PRIMARY KEY, a int, b text COLLATE "C", n numeric, f float8);
INSERT INTO of_heap.g SELECT i, nullif(i % 4, 3), nullif(chr(65 + i % 3), 'B'), i / 8.0, i / 4.0 FROM generate_series(1, 60) i;
INSERT INTO of_engine.g SELECT * FROM of_heap.g;
-- Keys of RANGE frames, some of them at the ends of their types
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE windows.r (id int PRIMARY KEY, i int2, n numeric, f float8, d date, s timestamp, z timestamptz, t time, v interval)');
IMPORT FOREIGN SCHEMA windows LIMIT TO (r) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.r (id int PRIMARY KEY, i int2, n numeric, f float8, d date, s timestamp, z timestamptz, t time, v interval);
INSERT INTO of_heap.r SELECT g, g * g % 31, g * g % 31 / 4.0, g * g % 31 / 8.0, date '2020-01-25' + g * g % 31, timestamp '2020-01-25' + g * g % 31 * interval '7 hours',
    timestamptz '2020-03-27 12:00+00' + g * g % 31 * interval '5 hours', time '00:00' + g * g % 31 * interval '47 minutes', g * g % 31 * interval '11 hours'
  FROM generate_series(1, 40) g;
INSERT INTO of_heap.r (id) VALUES (41);
INSERT INTO of_heap.r VALUES (42, 32767, 'NaN', 'NaN', 'infinity', 'infinity', 'infinity', '24:00', '1 mon'),
  (43, -32768, 'Infinity', 'Infinity', '-infinity', '-infinity', '-infinity', '00:00', '-1 mon'), (44, 0, '-Infinity', '-Infinity', '2020-02-29', '2020-02-29', '2020-03-29 00:30+00', '12:00', '0');
INSERT INTO of_engine.r SELECT * FROM of_heap.r;

CREATE TABLE queries (query text, on_engine bool DEFAULT true);
INSERT INTO queries VALUES
  ('SELECT id, row_number() OVER (ORDER BY id), rank() OVER (PARTITION BY a ORDER BY b), dense_rank() OVER (ORDER BY b DESC NULLS LAST) FROM g'),
  ('SELECT id, percent_rank() OVER (ORDER BY a), cume_dist() OVER (PARTITION BY b ORDER BY a DESC), ntile(7) OVER (ORDER BY id) FROM g'),
  ('SELECT id, lag(b) OVER (ORDER BY id), lag(n, 2, 0.5) OVER (PARTITION BY a ORDER BY id), lead(id, 3) OVER (ORDER BY id DESC) FROM g'),
  ('SELECT id, first_value(b) OVER w, last_value(n) OVER w, nth_value(id, 2) OVER w FROM g WINDOW w AS (PARTITION BY a ORDER BY id)'),
  ('SELECT id, sum(n) OVER (PARTITION BY a ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING), avg(a) OVER (ORDER BY id ROWS 3 PRECEDING) FROM g'),
  ('SELECT id, count(*) OVER (ORDER BY a GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES), max(b) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) FROM g'),
  ('SELECT id, count(b) FILTER (WHERE n > 3) OVER (PARTITION BY a), sum(id) OVER () FROM g'),
  ('SELECT id, sum(id) OVER (PARTITION BY 1 ORDER BY 2) FROM g'),
  ('SELECT id, sum(id) OVER (ORDER BY id RANGE 5 PRECEDING), count(*) OVER (PARTITION BY a ORDER BY id DESC RANGE BETWEEN 7 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) FROM g'),
  ('SELECT id, sum(id) OVER (ORDER BY i RANGE BETWEEN 3 PRECEDING AND 2::int8 FOLLOWING), first_value(id) OVER (ORDER BY i DESC NULLS LAST RANGE BETWEEN 9223372036854775807 PRECEDING AND CURRENT ROW) FROM r'),
  ('SELECT id, sum(id) OVER (ORDER BY n RANGE BETWEEN 0.5 PRECEDING AND 1.25 FOLLOWING), sum(id) OVER (ORDER BY n DESC RANGE BETWEEN ''Infinity'' PRECEDING AND 1 PRECEDING) FROM r'),
  ('SELECT id, count(*) OVER (ORDER BY f RANGE BETWEEN 0.25 FOLLOWING AND UNBOUNDED FOLLOWING EXCLUDE TIES), sum(id) OVER (ORDER BY f DESC NULLS LAST RANGE BETWEEN ''Infinity'' PRECEDING AND 0.5 FOLLOWING) FROM r'),
  ('SELECT id, sum(id) OVER (ORDER BY d RANGE BETWEEN ''1 mon'' PRECEDING AND ''3 days'' FOLLOWING), sum(id) OVER (ORDER BY d DESC RANGE ''36 hours'' PRECEDING) FROM r'),
  ('SELECT id, sum(id) OVER (ORDER BY s RANGE BETWEEN ''1 day 2 hours'' PRECEDING AND ''1 mon'' FOLLOWING), sum(id) OVER (ORDER BY t RANGE BETWEEN ''3 hours'' PRECEDING AND ''1 day'' FOLLOWING) FROM r'),
  ('SELECT id, sum(id) OVER (ORDER BY z RANGE BETWEEN ''25 hours'' PRECEDING AND ''90 minutes'' FOLLOWING) FROM r'),
  ('SELECT id, sum(id) OVER (ORDER BY i RANGE (SELECT 4) PRECEDING) FROM r'),
  ('SELECT sum(id) OVER (ORDER BY i RANGE -1 PRECEDING) FROM r'),
  ('SELECT sum(id) OVER (ORDER BY d RANGE ''-1 day'' PRECEDING) FROM r'),
  ('SELECT sum(id) OVER (ORDER BY f RANGE ''NaN'' PRECEDING) FROM r'),
  ('SELECT sum(id) OVER (ORDER BY n RANGE NULL PRECEDING) FROM r'),
  ('SELECT id, 1 + rank() OVER (ORDER BY a), to_char(row_number() OVER (ORDER BY id), ''999'') FROM g'),
  ('SELECT a, sum(n), rank() OVER (ORDER BY sum(n) DESC), sum(sum(n)) OVER (ORDER BY a) FROM g GROUP BY a'),
  ('SELECT a, count(*) + 1, row_number() OVER (ORDER BY count(*), a) FROM g GROUP BY a HAVING count(*) > 2 ORDER BY 3 DESC LIMIT 2'),
  ('SELECT DISTINCT a, rank() OVER (ORDER BY a) FROM g'),
  ('SELECT DISTINCT a, count(*) FROM g GROUP BY a'),
  ('SELECT id FROM g ORDER BY rank() OVER (ORDER BY a), id DESC LIMIT 7'),
  ('SELECT id, a FROM (SELECT id, a, row_number() OVER (PARTITION BY a ORDER BY id DESC) AS place FROM g) x WHERE place <= 2'),
  ('SELECT id, place FROM (SELECT id, rank() OVER (ORDER BY a) AS place, row_number() OVER (ORDER BY id) AS other FROM g) x WHERE place < 9 AND other < 30'),
  ('SELECT x.id, row_number() OVER (PARTITION BY x.a ORDER BY y.n, x.id) FROM g x JOIN g y ON y.id = x.id + 1'),
  ('SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN (SELECT 1) PRECEDING AND CURRENT ROW) FROM g'),
  ('SELECT sum(id) OVER (ORDER BY id ROWS -1 PRECEDING) FROM g'),
  ('SELECT ntile(0) OVER (ORDER BY id) FROM g'),
  ('SELECT a, b, grouping(a, b), count(*) FROM g GROUP BY ROLLUP (a, b)'),
  ('SELECT a, b, sum(n) FROM g GROUP BY CUBE (a, b) HAVING grouping(a) = 1 OR count(*) > 2'),
  ('SELECT a, sum(id), rank() OVER (ORDER BY sum(id)) FROM g GROUP BY ROLLUP (a)'),
  ('SELECT count(*) FROM g WHERE id < 0 GROUP BY GROUPING SETS ((), ())'),
  ('SELECT count(*) FROM g WHERE id < 0 GROUP BY ()'),
  ('SELECT a, count(*) FROM g GROUP BY DISTINCT ROLLUP (a), ROLLUP (a)'),
  ('SELECT ''x'', count(*) FROM g GROUP BY 1'),
  ('SELECT ''x'', count(*) FROM g WHERE id < 0 GROUP BY 1'),
  ('SELECT ''x'', a, count(*) FROM g GROUP BY 1, 2'),
  ('SELECT DISTINCT 7, a FROM g'),
  ('SELECT DISTINCT 7 FROM g WHERE id < 0'),
  ('SELECT a, array_agg(id ORDER BY id DESC), string_agg(b, ''-'' ORDER BY b DESC NULLS FIRST, id) FROM g GROUP BY a'),
  ('SELECT array_agg(DISTINCT a), array_agg(DISTINCT b ORDER BY b DESC), string_agg(DISTINCT b, '','') FROM g'),
  ('SELECT array_agg(n ORDER BY id) FILTER (WHERE id < 5), count(DISTINCT a), sum(id ORDER BY id) FROM g'),
  ('SELECT a, percentile_cont(0.3) WITHIN GROUP (ORDER BY f), percentile_disc(0.5) WITHIN GROUP (ORDER BY b DESC), mode() WITHIN GROUP (ORDER BY b) FROM g GROUP BY a'),
  ('SELECT rank(2) WITHIN GROUP (ORDER BY a), dense_rank(''B'') WITHIN GROUP (ORDER BY b), percent_rank(1, ''B'') WITHIN GROUP (ORDER BY a, b), cume_dist(3) WITHIN GROUP (ORDER BY n) FROM g'),
  ('SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f) FROM g');
-- In part, or, if null, on some versions
INSERT INTO queries VALUES
  ('SELECT a + 1, b, max(id) FROM g GROUP BY GROUPING SETS ((a + 1), (b), ())', null),
  ('SELECT DISTINCT a FROM g GROUP BY a, b', false),
  ('SELECT id, place FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM g) x WHERE place < 4 ORDER BY id', false),
  ('SELECT id, sum(f) OVER (ORDER BY id) FROM g', false),
  ('SELECT id, ntile(id) OVER (PARTITION BY a ORDER BY b, id) FROM g', false),
  ('SELECT id, sum(id) OVER (ORDER BY v RANGE BETWEEN ''1 day'' PRECEDING AND ''2 hours'' FOLLOWING) FROM r', null),
  ('SELECT id, sum(id) OVER (ORDER BY s RANGE ((SELECT 1) || '' days'')::interval PRECEDING) FROM r', null),
  ('SELECT id, sum(id) OVER (ORDER BY z RANGE BETWEEN ''1 day'' PRECEDING AND ''2 hours'' FOLLOWING) FROM r', false),
  ('SELECT id, sum(id) OVER (ORDER BY 1 + 1 RANGE ''0'' PRECEDING) FROM r', false),
  ('SELECT id, rank() OVER (ORDER BY b COLLATE "POSIX", upper(b)) FROM g', false),
  ('SELECT id, sum(id) OVER (ORDER BY random() * 0) FROM g', false),
  ('SELECT array_length(array_agg(id), 1), string_agg(''x'', '''') FROM g', false);
SELECT query, both_sides(format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query)) FROM queries;
-- Where they are computed
CREATE FUNCTION is_on_engine(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  PERFORM set_config('search_path', 'of_engine, public', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'WindowAgg|Aggregate|Group|Unique|Sort|Append|Join|Nested Loop' THEN
      RETURN false;
    END IF;
  END LOOP;
  RETURN true;
END $$;
SELECT query, is_on_engine(query) FROM queries WHERE is_on_engine(query) <> on_engine;
-- Range table indexes and the names of columns differ between PostgreSQL's versions.
CREATE FUNCTION remote_statements(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line !~ 'Output:|Sort Key:' THEN
      RETURN NEXT regexp_replace(line, '\mr\d+\M', 'r', 'g');
    END IF;
  END LOOP;
END $$;
SELECT * FROM remote_statements('SELECT id, sum(n) OVER (PARTITION BY a ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM of_engine.g');
SELECT * FROM remote_statements('SELECT id, sum(id) OVER (ORDER BY d DESC RANGE BETWEEN ''1 mon'' PRECEDING AND ''3 days'' FOLLOWING) FROM of_engine.r');
SELECT * FROM remote_statements('SELECT a, rank() OVER (ORDER BY sum(n) DESC) FROM of_engine.g GROUP BY a ORDER BY 2 LIMIT 3');
SELECT * FROM remote_statements('SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY a ORDER BY id DESC) AS place FROM of_engine.g) x WHERE place <= 2');
SELECT * FROM remote_statements('SELECT a, b, grouping(a, b), count(*) FROM of_engine.g GROUP BY ROLLUP (a, b)');
SELECT * FROM remote_statements('SELECT ''x'', count(*) FROM of_engine.g GROUP BY 1');
SELECT * FROM remote_statements('SELECT array_agg(DISTINCT b ORDER BY b DESC), mode() WITHIN GROUP (ORDER BY a) FROM of_engine.g');

SET client_min_messages = warning;
DROP FUNCTION is_on_engine, remote_statements;
DROP SCHEMA of_engine, of_heap CASCADE;
DROP TABLE queries;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA windows CASCADE') \gset
