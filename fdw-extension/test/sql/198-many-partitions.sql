-- A table may have more partitions than a session has response slots, and each of them is read by all processes of a parallel plan.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA many') \gset
CREATE SCHEMA many;
CREATE TABLE many.p (id int4, part int4, t text) PARTITION BY LIST (part);
DO $$
BEGIN
  FOR i IN 0..23 LOOP
    PERFORM kakehashi_execute('kakehashi', format('CREATE TABLE many.p%s (id int4 PRIMARY KEY, part int4, t text)', i));
    EXECUTE format('CREATE FOREIGN TABLE many.p%s PARTITION OF many.p FOR VALUES IN (%s) SERVER kakehashi OPTIONS (schema_name ''many'')', i, i);
    EXECUTE format('ALTER FOREIGN TABLE many.p%s ALTER COLUMN id OPTIONS (ADD key ''true'')', i);
  END LOOP;
END $$;
CREATE TABLE many.heap AS SELECT i AS id, i % 24 AS part, repeat('t', i % 100) AS t FROM generate_series(1, 24000) i;
CREATE FUNCTION many.local(int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 % 1000; END';
SET search_path = many, public;
-- Rows for all of them in turn: batches of some are waited for so that those of others can be sent
INSERT INTO p SELECT * FROM heap;
SELECT count(*), sum(id), sum(length(t)) FROM (SELECT * FROM p OFFSET 0) p;
SELECT count(*) FROM (SELECT * FROM p EXCEPT SELECT * FROM heap) d;
-- A failure in one of the batches that are under way
\set VERBOSITY terse
INSERT INTO p SELECT CASE WHEN id = 40000 THEN part + 24 ELSE id END, part, t FROM (SELECT id + 24000 AS id, part, t FROM heap) n;
\set VERBOSITY default
SELECT count(*) FROM (SELECT * FROM p OFFSET 0) p;
-- Requests that were given up are in nobody's way
SELECT count(*) FROM (SELECT * FROM p LIMIT 1) l;
SELECT count(*) FROM (SELECT * FROM p LIMIT 1) l;
SELECT count(*) FROM (SELECT * FROM p LIMIT 1) l;
-- Two of them in one plan, and one more table for each row
SET enable_hashjoin = off;
SELECT count(*), sum(a.id) FROM p a JOIN p b ON a.id = b.id AND local(a.id) = local(b.id);
RESET enable_hashjoin;
SELECT count(*), sum((SELECT count(*) FROM p1 q WHERE q.id = a.id + 1)) FROM p a WHERE id <= 240;
-- In order, changed, and read by cursors meanwhile
SELECT sum(id * n) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT id FROM p ORDER BY id OFFSET 0) o) q WHERE id <> n OR n = 24000;
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM p ORDER BY id;
DECLARE b CURSOR FOR SELECT id FROM p WHERE local(id) >= 0;
FETCH 2 FROM a;
MOVE 2 FROM b;
UPDATE p SET t = 'x' WHERE id % 2 = 0;
UPDATE p SET t = local(id)::text WHERE id % 100 = 1;
DELETE FROM p WHERE local(id) = 7;
SELECT count(*), count(*) FILTER (WHERE t = 'x'), count(*) FILTER (WHERE t = local(id)::text) FROM (SELECT * FROM p OFFSET 0) p;
MOVE ALL FROM b;
FETCH 2 FROM a;
ROLLBACK;
-- In parallel, also with many partitions
SET max_parallel_workers_per_gather = 3;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT sum(local(id)), count(*) FROM p WHERE part < 3;
SELECT sum(local(id)), count(*), sum(length(t)) FROM p WHERE part < 3;
SET parallel_leader_participation = off;
SELECT sum(local(id)), count(*), sum(length(t)) FROM p WHERE part < 8;
RESET parallel_leader_participation;
SELECT sum(local(id)), count(*), sum(length(t)) FROM p;
SELECT sum(local(id)), count(*), sum(length(t)) FROM heap;
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT local(id) FROM p WHERE part < 9 OFFSET 0) s;
-- Own changes, and a partition beside a table that is here
ALTER TABLE p DETACH PARTITION p0;
CREATE TABLE local_part PARTITION OF p FOR VALUES IN (0);
INSERT INTO local_part SELECT * FROM heap WHERE part = 0;
BEGIN;
UPDATE p SET t = 'own' WHERE part < 2 AND id < 100;
SELECT sum(local(id)), count(*), count(*) FILTER (WHERE t = 'own') FROM p WHERE part < 3;
ROLLBACK;
SET enable_partitionwise_join = on;
SELECT sum(local(a.id)), count(*) FROM p a JOIN p b ON a.part = b.part AND a.id = b.id WHERE a.part < 3 AND b.part < 3;
RESET enable_partitionwise_join;
-- Subqueries whose partitions the planner does not know yet
SELECT id, (SELECT sum(local(id)) FROM p WHERE part = 1) FROM p WHERE part = 2 AND local(id) = 2 AND id < (SELECT 5 * max(local(id)) FROM p) ORDER BY id;
SELECT count(local(id)) FROM p WHERE part = 3 AND EXISTS (SELECT FROM p q WHERE local(q.id) = 5);
RESET ALL;
SET client_min_messages = warning;
DROP SCHEMA many CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA many CASCADE') \gset
