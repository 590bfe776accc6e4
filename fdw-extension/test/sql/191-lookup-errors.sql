-- A lookup asks about many outer rows at once, and a condition that fails for one of them is an error only when that row is reached, as with heap tables.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA failing') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE failing.up (id int8 PRIMARY KEY, a int4, t text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE failing.many (k int8, n int4, t text, PRIMARY KEY (k, n))') \gset
CREATE SCHEMA failing;
IMPORT FOREIGN SCHEMA failing FROM SERVER kakehashi INTO failing;
CREATE SCHEMA heap_failing;
CREATE TABLE heap_failing.up (id int8 PRIMARY KEY, a int4, t text);
INSERT INTO heap_failing.up SELECT i, i % 1000, 't' || i FROM generate_series(1, 5000) i;
CREATE TABLE heap_failing.many (k int8, n int4, t text, PRIMARY KEY (k, n));
-- More for one key than a buffer of rows holds
INSERT INTO heap_failing.many SELECT k, n, repeat(k || '.' || n || ' ', 100) FROM generate_series(1, 40) k, generate_series(1, 3000) n WHERE k = 7 OR n < 4;
INSERT INTO failing.up SELECT * FROM heap_failing.up;
INSERT INTO failing.many SELECT * FROM heap_failing.many;
ANALYZE failing.up, failing.many;
-- Some keys are not there
CREATE TABLE heap_failing.keys (n int4 PRIMARY KEY, k int8);
INSERT INTO heap_failing.keys SELECT i, CASE WHEN i % 13 = 0 THEN -i ELSE i END FROM generate_series(1, 3000) i;
ANALYZE heap_failing.keys, heap_failing.up, heap_failing.many;
-- Without it the engine's indexes are not known, and keys of one column of two are not looked up
SET kakehashi.column_statistics = on;

SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_material = off;
SET enable_memoize = off;
CREATE FUNCTION pg_temp.both(query text) RETURNS TABLE (same boolean, outcome text) LANGUAGE plpgsql SET enable_nestloop = on SET search_path = failing, heap_failing AS $$
DECLARE
  of_heap text := public.rows_before_error(query, 'heap_failing');
  of_engine text;
  plan text;
BEGIN
  SET LOCAL enable_nestloop = off;
  SET LOCAL search_path = failing, heap_failing;
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  IF plan NOT LIKE '%KakehashiLookup%' THEN
    of_engine := 'has no lookup in ' || plan;
  ELSE
    of_engine := public.rows_before_error(query, 'failing, heap_failing');
  END IF;
  RETURN QUERY SELECT of_heap = of_engine, CASE WHEN of_heap = of_engine THEN regexp_replace(of_engine, ', -?\d+', '') ELSE 'heap ' || of_heap || ' engine ' || of_engine END;
END $$;
-- The whole of it, and what stops before: in the first request, at its end, and in later ones
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n) k JOIN up u ON u.id = k.k AND 100 / (u.a - 40) < 200');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n) k JOIN up u ON u.id = k.k AND 100 / (u.a - 40) < 200 LIMIT 30');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n) k JOIN up u ON u.id = k.k AND 100 / (u.a - 40) < 200 LIMIT 36');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n) k JOIN up u ON u.id = k.k AND 100 / (u.a - 40) < 200 LIMIT 37');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n) k JOIN up u ON u.id = k.k AND 100 / (u.a - 1) < 200 LIMIT 1');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n) k JOIN up u ON u.id = k.k AND 100 / (u.a - 700) < 200 LIMIT 600');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n) k JOIN up u ON u.id = k.k AND 100 / (u.a - 700) < 200 LIMIT 1000');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n DESC) k LEFT JOIN up u ON u.id = k.k AND 100 / (u.a - 700) < 200 LIMIT 290');
SELECT * FROM pg_temp.both('SELECT k.n, u.t FROM (SELECT * FROM keys ORDER BY n DESC) k LEFT JOIN up u ON u.id = k.k AND 100 / (u.a - 700) < 200 LIMIT 301');
SELECT * FROM pg_temp.both('SELECT k.n FROM (SELECT * FROM keys ORDER BY n) k WHERE EXISTS (SELECT FROM up u WHERE u.id = k.k AND 100 / (u.a - 40) < 200) LIMIT 36');
SELECT * FROM pg_temp.both('SELECT k.n FROM (SELECT * FROM keys ORDER BY n) k WHERE EXISTS (SELECT FROM up u WHERE u.id = k.k AND 100 / (u.a - 40) < 200)');
SELECT * FROM pg_temp.both('SELECT k.n FROM (SELECT * FROM keys ORDER BY n) k WHERE NOT EXISTS (SELECT FROM up u WHERE u.id = k.k AND 100 / (u.a - 40) < 200) LIMIT 3');
SELECT * FROM pg_temp.both('SELECT k.n FROM (SELECT * FROM keys ORDER BY n) k WHERE NOT EXISTS (SELECT FROM up u WHERE u.id = k.k AND 100 / (u.a - 40) < 200)');
-- Rows found for one outer row fill many batches, and the next outer row fails; or one that has been found is enough
SELECT * FROM pg_temp.both('SELECT k.n, m.n, m.t FROM (SELECT * FROM keys ORDER BY n) k JOIN many m ON m.k = k.k AND 100 / (m.n + k.n * 10000 - 80001) < 200');
SELECT * FROM pg_temp.both('SELECT k.n, m.n, m.t FROM (SELECT * FROM keys ORDER BY n) k LEFT JOIN many m ON m.k = k.k AND 100 / (m.n + k.n * 10000 - 80001) < 200 LIMIT 3018');
SELECT * FROM pg_temp.both('SELECT k.n FROM (SELECT * FROM keys ORDER BY n) k WHERE EXISTS (SELECT FROM many m WHERE m.k = k.k AND 100 / (m.n + k.n * 10000 - 72900) < 200)');
-- The transaction goes on after what was forgiven
BEGIN;
INSERT INTO failing.up VALUES (9001, 1, 'of this transaction');
SET LOCAL enable_nestloop = off;
SELECT count(*) FROM (SELECT u.t FROM (SELECT * FROM heap_failing.keys ORDER BY n) k JOIN failing.up u ON u.id = k.k AND 100 / (u.a - 40) < 200 LIMIT 30) s;
COMMIT;
SELECT * FROM failing.up WHERE id > 9000;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_material;
RESET enable_memoize;
SET client_min_messages = warning;
DROP SCHEMA failing, heap_failing CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA failing CASCADE');
