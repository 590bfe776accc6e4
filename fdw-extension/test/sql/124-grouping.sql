-- GROUPING is answered wherever PostgreSQL takes it: with plain groups, which the engine makes, and with sets of them.
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA IF EXISTS grouping CASCADE') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA grouping');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE grouping.g (id int PRIMARY KEY, a int, b text, n numeric)');
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA grouping FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.g (id int PRIMARY KEY, a int, b text, n numeric);
INSERT INTO of_heap.g SELECT i, nullif(i % 4, 3), chr(65 + i % 3), i / 8.0 FROM generate_series(1, 60) i;
INSERT INTO of_engine.g SELECT * FROM of_heap.g;

CREATE TABLE queries (query text);
INSERT INTO queries VALUES
  ('SELECT a, grouping(a) FROM g GROUP BY a'),
  ('SELECT grouping(a), grouping(b, a), sum(n) FROM g GROUP BY a, b'),
  ('SELECT grouping(a + 1) + 5, count(*) FROM g GROUP BY a + 1'),
  ('SELECT a FROM g GROUP BY a HAVING grouping(a) = 0'),
  ('SELECT a FROM g GROUP BY a HAVING grouping(a) = 1'),
  ('SELECT a, count(*) FROM g GROUP BY a HAVING grouping(a) + count(*) > 10'),
  ('SELECT a FROM g GROUP BY a HAVING to_char(grouping(a), ''9'') = '' 0'''),
  ('SELECT a, max(b) FROM g GROUP BY a ORDER BY grouping(a), a LIMIT 3'),
  ('SELECT to_char(grouping(a), ''FM9'') || count(*)::text FROM g GROUP BY a'),
  ('SELECT a, rank() OVER (PARTITION BY grouping(a) ORDER BY sum(n)) FROM g GROUP BY a'),
  ('SELECT x.a, grouping(x.a) FROM g x JOIN g y ON y.id = x.id + 1 GROUP BY x.a'),
  ('SELECT a, (SELECT count(*) FROM g y WHERE y.id > grouping(x.a) AND y.a = x.a) FROM g x GROUP BY a'),
  ('SELECT a, (SELECT max(y.id) FROM g y WHERE y.id <= count(x.id) + grouping(x.a)) FROM g x GROUP BY a HAVING count(*) > 3'),
  ('SELECT DISTINCT grouping(a), a FROM g GROUP BY a, b'),
  ('SELECT a, b, grouping(a, b), count(*) FROM g GROUP BY ROLLUP (a, b)'),
  ('SELECT a, grouping(a) FROM g GROUP BY GROUPING SETS ((a))'),
  ('SELECT grouping(a), count(*) FROM g GROUP BY CUBE (a) HAVING grouping(a) = 1'),
  ('SELECT grouping(b) FROM g GROUP BY a');
SELECT query, both_sides(format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query)) FROM queries;
-- The groups are made by the engine.
EXPLAIN (VERBOSE, COSTS OFF) SELECT a, grouping(a), count(*) FROM of_engine.g GROUP BY a HAVING grouping(a) < 1 ORDER BY grouping(a), a;

SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
DROP TABLE queries;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA grouping CASCADE') \gset
