-- What PostgreSQL makes a join of from version 17 on is one on the engine.
SELECT current_setting('server_version_num')::int < 170000 AS older \gset
\if :older
\quit
\endif
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA joins') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE joins.a (id int4 PRIMARY KEY, x int4, t text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE joins.b (id int4 PRIMARY KEY, x int4, t text)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA joins FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.a (id int PRIMARY KEY, x int, t text COLLATE "C");
CREATE TABLE of_heap.b (LIKE of_heap.a);
INSERT INTO of_heap.a SELECT i, nullif(i % 5, 2), chr(65 + i % 4) FROM generate_series(1, 40) i;
INSERT INTO of_heap.b SELECT i, nullif(i % 7, 3), chr(66 + i % 4) FROM generate_series(5, 60) i;
INSERT INTO of_engine.a SELECT * FROM of_heap.a;
INSERT INTO of_engine.b SELECT * FROM of_heap.b;
SET search_path = of_engine, public;
EXPLAIN (COSTS OFF) SELECT a.id FROM a WHERE a.x IN (SELECT b.x FROM b WHERE b.t = a.t);
RESET search_path;
\pset format unaligned
SELECT both_sides(format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query)) AS rows
FROM unnest(ARRAY[
  'SELECT a.id FROM a WHERE a.x IN (SELECT b.x FROM b WHERE b.t = a.t)',
  'SELECT a.id FROM a WHERE a.x + 1 IN (SELECT b.x FROM b WHERE b.id > a.id AND b.t <> a.t) AND a.id < 30',
  'SELECT a.id FROM a WHERE (a.x, a.t) IN (SELECT b.x, b.t FROM b WHERE b.id = a.id + 4)',
  'SELECT count(*) FROM a WHERE a.x IN (SELECT b.x FROM b WHERE b.t = a.t)',
  'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b WHERE b.t = a.t AND b.x IN (SELECT c.x FROM a c WHERE c.id = b.id))',
  'SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE b.x IN (SELECT c.x FROM a c WHERE c.id = b.id) AND b.id = a.id)',
  'SELECT DISTINCT a.t, a.x FROM a JOIN b ON b.id = a.id ORDER BY a.x, a.t',
  'SELECT t, x, count(*) FROM a GROUP BY t, x ORDER BY x, t',
  'SELECT a.id FROM a JOIN a c ON c.id = a.id WHERE c.x > 1']) query;
\pset format aligned
SET search_path = of_engine, public;
PREPARE listed (int[]) AS SELECT count(*) FROM a WHERE x = ANY ($1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE listed ('{1,3}');
EXECUTE listed ('{1,3}');
RESET plan_cache_mode;
UPDATE a SET t = 'q' WHERE x IN (SELECT b.x FROM b WHERE b.id = a.id) AND id < 12 RETURNING id;
SET client_min_messages = warning;
RESET search_path;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA joins CASCADE') \gset
