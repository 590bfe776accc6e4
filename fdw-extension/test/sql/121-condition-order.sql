-- Conditions are checked in PostgreSQL's order, so that one that may fail does so for the same rows as over PostgreSQL's own tables.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS checked') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE checked (id int PRIMARY KEY, g int, z int, b bool, t text, e text)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
CREATE TYPE amount AS ENUM ('none', 'some');
IMPORT FOREIGN SCHEMA public LIMIT TO (checked) FROM SERVER kakehashi INTO of_engine;
ALTER FOREIGN TABLE of_engine.checked ALTER e TYPE amount, ALTER t TYPE text COLLATE "C";
CREATE TABLE of_heap.checked (LIKE of_engine.checked, PRIMARY KEY (id));
INSERT INTO of_heap.checked SELECT id, id % 4, id % 4, id % 4 = 0, CASE id % 4 WHEN 0 THEN 'zero' ELSE (id % 4)::text END,
  (CASE id % 4 WHEN 0 THEN 'none' ELSE 'some' END)::amount FROM generate_series(1, 40) id;
INSERT INTO of_engine.checked SELECT * FROM of_heap.checked;
CREATE TABLE wanted AS SELECT id, id * 5 AS five FROM generate_series(1, 40) id;
ANALYZE wanted, of_heap.checked;
SELECT both_sides(statement), statement FROM (VALUES
  -- Cheaper conditions go first, wherever they stand; those of no cost before all.
  ('SELECT sum(id) FROM checked WHERE 12 / z > 3 AND g > 0'),
  ('SELECT sum(id) FROM checked WHERE 12 / z > 3 AND NOT b'),
  ('SELECT sum(id) FROM checked WHERE 12 / z > 3 AND b IS NOT TRUE'),
  ('SELECT sum(id) FROM (SELECT * FROM checked WHERE 12 / z > 3) c WHERE NOT b'),
  ('SELECT string_agg(id::text, '','' ORDER BY id) FROM checked WHERE 12 / z > 3 AND g > 0'),
  ('SELECT count(*) FROM checked WHERE t::int > 1 AND g > 0'),
  ('SELECT count(*) FROM checked WHERE t::int + z > 1 AND t < ''a'''),
  -- Of the same cost: in order.
  ('SELECT sum(id) FROM checked WHERE 12 / z > 3 AND g + 1 > 1'),
  ('SELECT sum(id) FROM checked WHERE g + 1 > 1 AND 12 / z > 3'),
  ('SELECT sum(id) FROM checked WHERE g + 1 > 1 AND NOT (12 / z > 3)'),
  ('SELECT sum(id) FROM checked WHERE NOT (12 / z > 3) AND g + 1 > 1'),
  ('SELECT sum(id) FROM checked WHERE g > 0 OR 12 / z > 3'),
  ('SELECT sum(id) FROM checked WHERE 12 / z > 3 OR g > 0'),
  -- What is checked here goes before what the engine could check, if that may fail.
  ('SELECT sum(id) FROM checked WHERE 12 / z > 3 AND e > ''none'''),
  ('SELECT sum(id) FROM checked WHERE g > 1 AND e > ''none'' AND id < 30'),
  -- Joins
  ('SELECT sum(a.id) FROM checked a JOIN checked c USING (id) WHERE 12 / a.z > 3 AND a.g > 0 AND 12 / c.z > 3 AND NOT c.b'),
  ('SELECT sum(a.id) FROM checked a LEFT JOIN checked c ON a.id = c.id + 1 AND 12 / c.z > 3 AND c.g > 0 WHERE a.id < 20'),
  ('SELECT sum(a.id) FROM checked a WHERE a.id < 20 AND EXISTS (SELECT FROM checked c WHERE 12 / c.z > 3 AND c.id = a.id + 1 AND NOT c.b)'),
  ('SELECT sum(a.id) FROM checked a WHERE NOT EXISTS (SELECT FROM checked c WHERE 12 / c.z > 3 AND c.id = a.id AND NOT c.b)'),
  ('SELECT sum(five) FROM wanted JOIN checked USING (id) WHERE 12 / z > 3 AND g > 0'),
  ('SELECT sum(five) FROM wanted LEFT JOIN checked ON checked.id = wanted.id AND 12 / z > 3 AND g > 0'),
  ('SELECT sum(five) FROM wanted JOIN checked USING (id) WHERE 12 / z > 3 AND e > ''none'''),
  ('SELECT count(*) FROM checked a JOIN checked c ON a = c AND a.tableoid = c.tableoid'),
  -- Groups
  ('SELECT sum(g) FROM (SELECT g FROM checked GROUP BY g HAVING 12 / min(z) > 3 AND min(g) > 0) s'),
  ('SELECT sum(g) FROM (SELECT g FROM checked GROUP BY g HAVING 12 / min(z) > 3 AND min(e) = ''some'') s'),
  ('SELECT sum(12 / z) FILTER (WHERE g > 0) FROM checked'),
  -- Changes
  ('WITH c AS (UPDATE checked SET t = t WHERE 12 / z > 3 AND NOT b RETURNING id) SELECT sum(id) FROM c'),
  ('WITH c AS (DELETE FROM checked WHERE 12 / z > 30 AND g > 0 RETURNING id) SELECT count(*) FROM c'),
  ('WITH c AS (UPDATE checked SET t = t FROM wanted WHERE wanted.id = checked.id AND 12 / z > 3 AND g > 0 RETURNING five) SELECT sum(five) FROM c')
  ) s (statement);
-- What is sent, and what stays here
SET search_path = of_engine, public;
EXPLAIN (VERBOSE, COSTS OFF) SELECT sum(id) FROM checked WHERE 12 / z > 3 AND g > 0 AND NOT b;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM checked WHERE 12 / z > 3 AND e > 'none' AND t LIKE 'a%' AND coalesce(t, 'x') > 'b';
PREPARE by_key(int) AS SELECT id FROM checked WHERE e > 'none' AND id = $1 + 1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE by_key(1);
EXECUTE by_key(1);
RESET plan_cache_mode;
DEALLOCATE by_key;
-- A view that keeps rows back does so before conditions that would tell of them.
CREATE VIEW open WITH (security_barrier) AS SELECT * FROM checked WHERE g + id * 0 > 0;
SELECT count(*) FROM open WHERE 12 / z > 3;
CREATE VIEW happy WITH (security_barrier) AS SELECT * FROM checked WHERE e > 'none' AND initcap(t) <> 'Zero';
SELECT count(*) FROM happy WHERE 12 / z > 3;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
DROP TABLE wanted;
DROP TYPE amount;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE checked') \gset
