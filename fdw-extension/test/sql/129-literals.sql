-- Where the engine has many rows to look at, constants stand in the remote SQL, so that it plans with them, and mean there what they mean here.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA lit') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE lit.t (id int8 PRIMARY KEY, s int2, i int4, n numeric, d date, ts timestamp, t text, v varchar(20), c char(8), f float8)') \gset
CREATE SCHEMA lit;
IMPORT FOREIGN SCHEMA lit FROM SERVER kakehashi INTO lit;
SET search_path = lit, public;
CREATE TABLE h (LIKE t);
INSERT INTO h SELECT i, i % 100 - 50, i * 7919 % 100000 - 50000, (i % 1000 - 500) * 0.010, date '1999-12-01' + i % 60, timestamp '1999-12-31 23:59:59.5' + i % 60 * interval '0.25 s',
  (ARRAY['it''s', 'a\b', 'é懸', '', '%_\', E'line\nbreak', '"q"', '$1', '--x', '/*'])[i % 10 + 1], 'v' || i % 7, 'c' || i % 3, i / 3.0 FROM generate_series(1, 51000) i;
INSERT INTO h VALUES (-1, -32768, -2147483648, '-1e100', '-infinity', 'infinity', NULL, '', '', 'NaN'), (-2, 32767, 2147483647, 'NaN', '4713-01-01 BC', '0044-03-15 BC', 'x', 'y', 'z', 'Infinity');
INSERT INTO t SELECT * FROM h;
ANALYZE t, h;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE s < -3::int2 AND i >= 5 AND n <> 1.50 AND d > '2000-01-01' AND ts < '2000-01-01 00:00:00.25' AND t = 'it''s' AND v <> 'v1' AND c = 'c2' AND f < 1.5 AND id > 3000000000;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE id = 5 AND i = 7;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM t WHERE d > '-infinity' AND ts > '0044-03-15 BC' AND n < 'NaN';
-- The same over both
CREATE FUNCTION same(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  remote text;
  here text;
BEGIN
  EXECUTE format('SELECT concat(count(*), '' '', sum(id), '' '', min(t), '' '', max(n)) FROM t WHERE %s', condition) INTO remote;
  EXECUTE format('SELECT concat(count(*), '' '', sum(id), '' '', min(t COLLATE "C"), '' '', max(n)) FROM h WHERE %s', condition) INTO here;
  RETURN CASE WHEN remote = here THEN remote ELSE format('DIFFERENT: %s, here %s', remote, here) END;
END $$;
SELECT condition, same(condition) FROM (VALUES
  ('s < -3::int2'), ('s = -32768'), ('i >= 2147483647'), ('i < -49000'), ('id > 3000000000'), ('id = -1 OR id > 11990'), ('n = 1.5'), ('n < -4.99'), ('n > 1e50'), ('n = ''NaN'''), ('n * 2.50 = 5.000'), ('n / 3 > 1.6'),
  ('d > ''2000-01-20'''), ('d = ''-infinity'''), ('d < ''0001-01-01 BC'''), ('d + 3 = ''2000-01-01'''), ('ts < ''2000-01-01 00:00:00.25'''), ('ts >= ''infinity'''), ('ts = ''0044-03-15 BC'''), ('d < timestamp ''1999-12-05 12:00'''),
  ('t = ''it''''s'''), ('t = ''a\b'''), ('t = ''é懸'''), ('t = '''''), ('t = ''%_\'''), ('t LIKE ''\%\_\\'''), ('t LIKE ''a%'''), ('t = E''line\nbreak'''), ('t = ''"q"'''), ('t = ''$1'''), ('t = ''--x'''), ('t = ''/*'''), ('t || ''\'' = ''a\b\'''),
  ('v = ''v3'''), ('v = ''v3   '''), ('c = ''c1'''), ('c = ''c1   '''), ('c || ''x'' = ''c1x'''), ('length(c) = 2'), ('f > 3999.5'), ('CASE WHEN i > 3 THEN n ELSE 0.00 END = 0'), ('coalesce(t, ''none'') = ''none'''), ('t IS NULL OR t = ''x''')) c (condition);
SELECT n + 1.10 AS k, count(*), sum(CASE WHEN i < 0 THEN 0.50 ELSE 1.000 END) FROM t WHERE n < -4.98 GROUP BY n + 1.10 ORDER BY 1;
SELECT n + 1.10 AS k, count(*), sum(CASE WHEN i < 0 THEN 0.50 ELSE 1.000 END) FROM h WHERE n < -4.98 GROUP BY n + 1.10 ORDER BY 1;
-- Settings of the session do not change them; parameters stay parameters
SET DateStyle = 'SQL, DMY';
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SELECT same('d > ''20/01/2000'''), same('t = ''a\\b'''), same('ts < ''01/01/2000 00:00:00.25''');
RESET DateStyle;
RESET standard_conforming_strings;
RESET escape_string_warning;
SET plan_cache_mode = force_generic_plan;
PREPARE p(int4, text) AS SELECT count(*) FROM t WHERE i < $1 AND t = $2;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE p(1, 'x');
EXECUTE p(0, 'it''s');
SET client_min_messages = warning;
DROP SCHEMA lit CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA lit CASCADE') \gset
