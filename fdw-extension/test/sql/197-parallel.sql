-- Several processes of a parallel plan read one foreign scan: every row once, of one snapshot, own changes included, and nothing is left behind.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA par') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE par.t (id int4 PRIMARY KEY, grp int4, n numeric(12,2), t text, mood text, tags text)') \gset
CREATE SCHEMA par;
CREATE TYPE par.mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN par.checked AS par.mood CHECK (VALUE <> 'sad');
CREATE FOREIGN TABLE par.t (id int4 OPTIONS (key 'true'), grp int4, n numeric(12,2), t text, mood par.mood) SERVER kakehashi OPTIONS (schema_name 'par');
CREATE TABLE par.heap AS SELECT i AS id, i % 10 AS grp, i * 1.25 AS n, CASE WHEN i % 7 > 0 THEN repeat('t', i % 200) END AS t, (enum_range(NULL::par.mood))[i % 3 + 1] AS mood
FROM generate_series(1, 60000) i;
INSERT INTO par.t SELECT * FROM par.heap;
CREATE FUNCTION par.local(int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 % 1000; END';
ANALYZE par.t, par.heap;
SET search_path = par, public;
SET max_parallel_workers_per_gather = 3;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (VERBOSE, COSTS OFF) SELECT sum(local(id)), count(t) FROM t WHERE grp < 8 AND local(id) <> 5;
SELECT sum(local(id)), count(t), sum(length(t)), sum(n), count(*) FILTER (WHERE mood = 'ok') FROM t WHERE grp < 8 AND local(id) <> 5;
SELECT sum(local(id)), count(t), sum(length(t)), sum(n), count(*) FILTER (WHERE mood = 'ok') FROM heap WHERE grp < 8 AND local(id) <> 5;
-- Rows, in an order made here
SELECT count(*) FROM (SELECT id, n, t, mood FROM t WHERE local(id) < 900 EXCEPT ALL SELECT id, n, t, mood FROM heap WHERE local(id) < 900) d;
SELECT count(*) FROM (SELECT id, n, t, mood FROM heap WHERE local(id) < 900 EXCEPT ALL SELECT id, n, t, mood FROM t WHERE local(id) < 900) d;
SELECT id, local(id) FROM t WHERE local(id) = 7 ORDER BY local(id) + id LIMIT 3;
-- By the workers alone, and by the leader alone
SET parallel_leader_participation = off;
SELECT sum(local(id)), count(*) FROM t;
SET max_parallel_workers = 0;
SELECT sum(local(id)), count(*) FROM t;
RESET max_parallel_workers;
RESET parallel_leader_participation;
SELECT sum(local(id)), count(*) FROM heap;
-- Parameters of a prepared statement, and of a part that was computed before
PREPARE p(int4) AS SELECT count(*), sum(local(id)) FROM t WHERE grp = $1 AND id > (SELECT max(id) - 1000 FROM heap WHERE local(id) < 500);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(3);
EXECUTE p(4);
DEALLOCATE p;
-- Read again and again; given up early; more than one scan in a plan
SET enable_material = off;
SELECT * FROM (SELECT count(local(id)), sum(grp) FROM t) s RIGHT JOIN (VALUES (1), (2), (3)) v (x) ON true;
RESET enable_material;
SELECT count(*) FROM (SELECT id FROM t WHERE local(id) >= 0 LIMIT 10) l;
SELECT x, (SELECT id FROM t WHERE local(id) = 3 LIMIT 1) % 1000 AS y FROM generate_series(1, 3) x;
SET enable_mergejoin = off;
SELECT count(*), sum(a.grp) FROM t a JOIN heap b ON local(a.id) = b.id WHERE local(b.id) > 10;
SELECT count(*), sum(a.grp) FROM t a JOIN t b ON local(a.id) = local(b.id) + 900;
SELECT count(*), sum(a.grp) FROM heap a JOIN heap b ON local(a.id) = local(b.id) + 900;
RESET enable_mergejoin;
SELECT count(*) FROM (SELECT local(id) FROM t UNION ALL SELECT local(id) FROM heap UNION ALL SELECT local(grp) FROM t) u;
-- What the transaction has changed, under every isolation, with savepoints
BEGIN;
UPDATE t SET grp = 100 WHERE id <= 50;
SAVEPOINT s;
DELETE FROM t WHERE id <= 10;
SELECT count(local(id)), count(*) FILTER (WHERE grp = 100) FROM t;
ROLLBACK TO s;
SELECT count(local(id)), count(*) FILTER (WHERE grp = 100) FROM t;
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO t SELECT i FROM generate_series(60001, 60100) i;
SELECT count(local(id)), sum(local(id)) FROM t;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(local(id)), sum(local(id)) FROM t;
UPDATE t SET grp = grp WHERE id = 1;
COMMIT;
-- A failure here, on the engine, in a worker that reads alone; each leaves the session as it was
\set VERBOSITY sqlstate
SELECT sum(local(id) / (id - 30000)) FROM t;
SELECT sum(local(id)) FROM t WHERE 10 / (id - 30000) < 5;
SET parallel_leader_participation = off;
SELECT sum(local(id) / (id - 30000)) FROM t;
SELECT sum(local(id)) FROM t WHERE 10 / (id - 30000) < 5;
RESET parallel_leader_participation;
BEGIN;
SAVEPOINT s;
SELECT sum(local(id)) FROM t WHERE 10 / (id - 30000) < 5;
ROLLBACK TO s;
SELECT count(local(id)) FROM t;
SAVEPOINT s;
SET LOCAL statement_timeout = '200ms';
SELECT count(pg_sleep(0.001 * local(id))) FROM t;
ROLLBACK TO s;
SELECT count(local(id)) FROM t;
COMMIT;
\set VERBOSITY default
-- Not in parallel: what would check values by any expression, what was switched off, many tables at once
ALTER FOREIGN TABLE t ALTER COLUMN mood TYPE checked;
EXPLAIN (COSTS OFF) SELECT count(mood) FROM t WHERE local(id) > 0;
ALTER FOREIGN TABLE t ALTER COLUMN mood TYPE mood;
ALTER FOREIGN TABLE t OPTIONS (parallel_capable 'off');
EXPLAIN (COSTS OFF) SELECT count(mood) FROM t WHERE local(id) > 0;
ALTER FOREIGN TABLE t OPTIONS (DROP parallel_capable);
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT local(id) FROM t UNION ALL SELECT id FROM t UNION ALL SELECT id FROM t UNION ALL SELECT id FROM t UNION ALL SELECT id FROM t
UNION ALL SELECT id FROM t UNION ALL SELECT id FROM t UNION ALL SELECT id FROM t UNION ALL SELECT id FROM t OFFSET 0) u;
-- Work here that is worth it is worth it without a push; a scan alone is not
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE local(id) > 0;
EXPLAIN (COSTS OFF) SELECT id, grp FROM t;
-- Slots of what was canceled come back as soon as the engine has noticed
DO $$
BEGIN
  FOR i IN 1..6000 LOOP
    PERFORM count(*) FROM t WHERE id = i;
    EXIT WHEN (SELECT outstanding_calls = 0 FROM kakehashi_sessions WHERE server_name = 'kakehashi');
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SET client_min_messages = warning;
DROP SCHEMA par CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA par CASCADE') \gset
