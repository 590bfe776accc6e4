-- EXPLAIN VERBOSE shows what goes to the engine: what it computes as PostgreSQL does, and nothing else.
CREATE SERVER planned FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (use_remote_estimate 'false');
CREATE USER MAPPING FOR CURRENT_USER SERVER planned;
CREATE SCHEMA planned;
SET search_path = planned;
CREATE FOREIGN TABLE t (
  id bigint OPTIONS (key 'true') NOT NULL, a int, n numeric(10,2), f float8, b bool, d date, u uuid, ts timestamptz,
  c text COLLATE "C", e text COLLATE "ucs_basic", p char(5), renamed text OPTIONS (column_name 'Odd "name"') COLLATE "C")
  SERVER planned OPTIONS (schema_name 'public', table_name 'T');
CREATE FOREIGN TABLE other (id bigint, t_id bigint, v int) SERVER planned OPTIONS (schema_name 'public');
CREATE FOREIGN TABLE keyless (id int) SERVER planned OPTIONS (schema_name 'public');
CREATE TABLE local AS SELECT g AS id FROM generate_series(1, 10) g;
ANALYZE local;

-- Columns
EXPLAIN (VERBOSE, COSTS OFF) SELECT a, renamed FROM t;
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1 FROM t;
EXPLAIN (VERBOSE, COSTS OFF) SELECT t FROM t;
-- Filters
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE a = 1 AND n BETWEEN 1 AND 2.5 AND (b OR NOT b) AND d IS NOT NULL;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE a IN (1, 2, 3) AND id NOT IN (4, 5) AND b IS NOT TRUE;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE a + 1 > id * 2 AND -a < 5 AND a % 2 = 0 AND f / 2 > 1.5;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE c LIKE 'x%' AND renamed NOT LIKE '_y' AND c IS DISTINCT FROM 'z';
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE coalesce(a, 0) = 1 AND CASE WHEN a > 1 THEN b ELSE false END AND nullif(a, 2) = 3;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE u = '00000000-0000-0000-0000-000000000001' AND ts > now() - interval '1 day';
-- Kept here: other collations' order, blank-padded text, functions that are not known to be the same, volatile ones
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE c > 'x' AND c COLLATE "en-x-icu" > 'x' AND p = 'y';
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE upper(c) = 'X' AND random() < 2 AND ctid::text <> '';
-- Parameters, of statements and of joins
PREPARE by_id(bigint) AS SELECT a FROM t WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE by_id(1);
RESET plan_cache_mode;
EXPLAIN (VERBOSE, COSTS OFF) SELECT local.id, t.a FROM local JOIN t ON t.id = local.id;
-- Order and limit
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, c FROM t ORDER BY c DESC, id;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, c FROM t ORDER BY d NULLS FIRST LIMIT 10 OFFSET 5;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE initcap(e) = 'X' LIMIT 1;
-- Groups
EXPLAIN (VERBOSE, COSTS OFF) SELECT c, count(*), sum(a), avg(n) FILTER (WHERE b), count(DISTINCT d) + 1 FROM t GROUP BY c HAVING max(id) > 5 ORDER BY 2 DESC LIMIT 3;
EXPLAIN (VERBOSE, COSTS OFF) SELECT DISTINCT a, c FROM t;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM t WHERE initcap(e) = 'X';
EXPLAIN (VERBOSE, COSTS OFF) SELECT string_agg(c, ',') FROM t;
-- Joins
EXPLAIN (VERBOSE, COSTS OFF) SELECT t.c, other.v FROM t JOIN other ON other.t_id = t.id WHERE other.v > 3;
EXPLAIN (VERBOSE, COSTS OFF) SELECT t.c, other.v FROM t LEFT JOIN other ON other.t_id = t.id AND other.v > 3 WHERE t.a = 1;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM t WHERE EXISTS (SELECT FROM other WHERE other.t_id = t.id) AND NOT EXISTS (SELECT FROM other WHERE other.id = t.a);
-- Changes
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO t (id, a) SELECT id, id FROM local;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO t (id) VALUES (1) ON CONFLICT DO NOTHING RETURNING id, a;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET a = a + 1, c = 'x' WHERE id = 5 RETURNING id, a;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET a = local.id FROM local WHERE t.id = local.id;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM t WHERE d < '2020-01-01';
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM t WHERE initcap(e) = 'X';
-- Rows are locked where they are read
EXPLAIN (VERBOSE, COSTS OFF) SELECT a FROM t WHERE id = 1 FOR KEY SHARE NOWAIT;
EXPLAIN (VERBOSE, COSTS OFF) SELECT t.a FROM t, local WHERE t.id = local.id ORDER BY t.a LIMIT 1 FOR NO KEY UPDATE OF t SKIP LOCKED;
EXPLAIN (VERBOSE, COSTS OFF) SELECT a FROM t WHERE id > 1 ORDER BY a DESC LIMIT 2 FOR UPDATE SKIP LOCKED;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM keyless WHERE id = 1;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM keyless USING local WHERE keyless.id = local.id;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = t.a + excluded.a, n = excluded.n * 2;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA planned CASCADE;
DROP SERVER planned CASCADE;
