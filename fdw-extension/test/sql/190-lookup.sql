-- Joins with a foreign table by its key send the keys of many rows in one request, and find what a join of heap tables finds.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA looked') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE looked.up (id int8 PRIMARY KEY, a int4, t text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE looked.pair (x int4, y text, v int4, PRIMARY KEY (x, y))') \gset
CREATE SCHEMA looked;
IMPORT FOREIGN SCHEMA looked FROM SERVER kakehashi INTO looked;
CREATE SCHEMA heap_looked;
CREATE TABLE heap_looked.up AS SELECT i::int8 AS id, nullif(i % 7, 3)::int4 AS a, repeat('t', (i % 40)::int) || i AS t FROM generate_series(1, 20000) i;
CREATE TABLE heap_looked.pair AS SELECT i % 100 AS x, 'y' || i / 100 AS y, i AS v FROM generate_series(0, 9999) i;
INSERT INTO looked.up SELECT * FROM heap_looked.up;
INSERT INTO looked.pair SELECT * FROM heap_looked.pair;
-- More rows than one request takes; duplicates, nulls, keys that are not there
CREATE TABLE heap_looked.keys AS
  SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE i * 31 % 25000 END::int8 AS k, i AS n, repeat('k', i % 50) AS pad FROM generate_series(1, 3000) i;
INSERT INTO heap_looked.keys SELECT k, -n, pad FROM heap_looked.keys WHERE n % 5 = 0;
ANALYZE heap_looked.keys, heap_looked.up, heap_looked.pair;

-- Here the tables are too small for it to be cheapest.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET search_path = looked;
EXPLAIN (VERBOSE, COSTS OFF) SELECT k.n, u.t FROM heap_looked.keys k JOIN up u ON u.id = k.k WHERE u.a < 5;
EXPLAIN (VERBOSE, COSTS OFF) SELECT k.n, u.t FROM heap_looked.keys k LEFT JOIN up u ON u.id = k.k AND u.a < k.n;
EXPLAIN (VERBOSE, COSTS OFF) SELECT k.n FROM heap_looked.keys k WHERE EXISTS (SELECT FROM up u WHERE u.id = k.k AND u.a = 1);
EXPLAIN (VERBOSE, COSTS OFF) SELECT k.n FROM heap_looked.keys k WHERE NOT EXISTS (SELECT FROM up u WHERE u.id = k.k);
-- A condition that only PostgreSQL knows, and a key of two columns
EXPLAIN (VERBOSE, COSTS OFF) SELECT k.n FROM heap_looked.keys k JOIN up u ON u.id = k.k AND initcap(u.t) <> k.pad;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(v) FROM heap_looked.keys k JOIN pair p ON p.x = k.k AND p.y = 'y' || k.n % 90;

-- The same over both schemas; a difference is a row
CREATE FUNCTION pg_temp.difference(query text) RETURNS TABLE (side text, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
  plan text;
BEGIN
  SET LOCAL search_path = looked, heap_looked;
  SET LOCAL enable_hashjoin = off;
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  IF plan NOT LIKE '%KakehashiLookup%' THEN
    RAISE EXCEPTION 'no lookup in %', plan;
  END IF;
  EXECUTE 'CREATE TEMP TABLE foreign_result ON COMMIT DROP AS ' || query;
  SET LOCAL search_path = heap_looked;
  SET LOCAL enable_hashjoin = on;
  EXECUTE 'CREATE TEMP TABLE heap_result ON COMMIT DROP AS ' || query;
  RETURN QUERY SELECT 'foreign only', count(*) FROM (SELECT * FROM foreign_result EXCEPT ALL SELECT * FROM heap_result) d
    UNION ALL SELECT 'heap only', count(*) FROM (SELECT * FROM heap_result EXCEPT ALL SELECT * FROM foreign_result) d
    UNION ALL SELECT 'both', count(*) FROM foreign_result;
  DROP TABLE foreign_result, heap_result;
END $$;
SELECT * FROM pg_temp.difference('SELECT k.*, u.* FROM keys k JOIN up u ON u.id = k.k');
SELECT * FROM pg_temp.difference('SELECT k.n, k.pad, u.t, u.a FROM keys k LEFT JOIN up u ON u.id = k.k AND u.a < k.n');
SELECT * FROM pg_temp.difference('SELECT k.n, u.t FROM keys k LEFT JOIN up u ON u.id = k.k WHERE u.a IS DISTINCT FROM 2');
SELECT * FROM pg_temp.difference('SELECT k.n FROM keys k WHERE EXISTS (SELECT FROM up u WHERE u.id = k.k AND u.a = 1)');
SELECT * FROM pg_temp.difference('SELECT k.n FROM keys k WHERE NOT EXISTS (SELECT FROM up u WHERE u.id = k.k)');
SELECT * FROM pg_temp.difference('SELECT k.n FROM keys k LEFT JOIN up u ON u.id = k.k WHERE u.id IS NULL');
SELECT * FROM pg_temp.difference('SELECT k.n, u.id FROM keys k JOIN up u ON u.id = k.k AND initcap(u.t) <> k.pad');
SELECT * FROM pg_temp.difference('SELECT k.n, v FROM keys k JOIN pair p ON p.x = k.k AND p.y = ''y'' || k.n % 90');
SELECT * FROM pg_temp.difference('SELECT count(*), sum(a.id) AS a, sum(b.id) AS b FROM keys k JOIN up a ON a.id = k.k LEFT JOIN up b ON b.id = a.id + k.n');
SELECT * FROM pg_temp.difference('SELECT n, (SELECT sum(u.a) FROM generate_series(k.n, k.n + 2) g JOIN up u ON u.id = g) FROM keys k WHERE n < 100');

-- The order of the outer side stays; LIMIT ends it early; cursors go on from where they were
SELECT k.n, u.a FROM (SELECT * FROM heap_looked.keys ORDER BY n OFFSET 0) k JOIN up u ON u.id = k.k LIMIT 5;
BEGIN;
DECLARE c CURSOR FOR SELECT k.n, u.a FROM (SELECT * FROM heap_looked.keys ORDER BY n OFFSET 0) k JOIN up u ON u.id = k.k;
FETCH 2 FROM c;
SAVEPOINT s;
INSERT INTO up VALUES (30001, 1, 'x');
FETCH 2 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
ROLLBACK;
-- Changes of the own transaction are seen
BEGIN;
UPDATE up SET a = 100 WHERE id = 31;
SELECT k.n, u.a FROM heap_looked.keys k JOIN up u ON u.id = k.k WHERE k.n = 1;
ROLLBACK;

RESET ALL;
SELECT outstanding_calls FROM kakehashi_sessions;
SET client_min_messages = warning;
DROP SCHEMA looked, heap_looked CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE looked.up') \gset
SELECT kakehashi_execute('kakehashi', 'DROP TABLE looked.pair') \gset
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA looked') \gset
