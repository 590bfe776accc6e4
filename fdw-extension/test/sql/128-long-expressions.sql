-- Statements that a program has put together, of many conditions or operators: what is more than the engine takes is PostgreSQL's to compute.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE chained (id int PRIMARY KEY, a int, b int, t text)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (chained) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.chained (LIKE of_engine.chained, PRIMARY KEY (id));
INSERT INTO of_heap.chained SELECT g, g, g * 2, 't' || g FROM generate_series(1, 2000) g;
INSERT INTO of_engine.chained SELECT * FROM of_heap.chained;
CREATE FUNCTION pg_temp.chain(count int, link text, piece text) RETURNS text LANGUAGE sql AS
  $$SELECT string_agg(replace(piece, '#', g::text), link) FROM generate_series(1, count) g$$;
SELECT count, shape, both_sides(format(statement, pg_temp.chain(count, link, piece)))
FROM unnest(ARRAY[10, 260, 1500]) count, (VALUES
  (1, 'or', 'SELECT count(*)::text FROM chained WHERE %s', ' OR ', '(a = # AND b = 2 * #)'),
  (2, 'and', 'SELECT count(*)::text FROM chained WHERE %s', ' AND ', 'a <> # * 2'),
  (3, 'sum', 'SELECT sum(%s)::text FROM chained WHERE id < 10', ' + ', '(b::int8 - #)'),
  (4, 'sum in a condition', 'SELECT count(*)::text FROM chained WHERE %s > 0', ' + ', '(a - # - 900)'),
  (5, 'case', 'SELECT sum(CASE %s END)::text FROM chained', ' ', 'WHEN a = # THEN # * 2'),
  (6, 'texts', 'SELECT max(length(%s))::text FROM chained', ' || ', 't'),
  (7, 'list', 'SELECT count(*)::text FROM chained WHERE a IN (%s)', ', ', '#'),
  (8, 'order', 'SELECT id::text FROM chained ORDER BY %s DESC LIMIT 1', ' + ', '(a % #)')
  ) shapes (position, shape, statement, link, piece)
ORDER BY position, count;
-- As many of the conditions go over as are sure to be taken.
SELECT format('EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT id FROM of_engine.chained WHERE %s', pg_temp.chain(600, ' AND ', 'a <> # * 2')) AS query \gset
CREATE FUNCTION pg_temp.plan(query text) RETURNS json LANGUAGE plpgsql AS $$DECLARE plan json; BEGIN EXECUTE query INTO plan; RETURN plan; END$$;
SELECT regexp_count(plan ->> 'Remote SQL', '<>') AS there, regexp_count(plan ->> 'Filter', '<>') AS here FROM (SELECT pg_temp.plan(:'query') -> 0 -> 'Plan' AS plan) p;
-- A statement that changes rows does so one by one then.
SELECT both_sides(format('UPDATE chained SET b = %s WHERE id = 5', pg_temp.chain(400, ' + ', 'a * #')), 'SELECT sum(b)::text FROM chained');
SELECT both_sides(format('DELETE FROM chained WHERE %s', pg_temp.chain(1500, ' OR ', 'a = #')), 'SELECT count(*)::text FROM chained');
-- What only the engine can compute says so.
DO $do$
BEGIN
  PERFORM * FROM kakehashi_query('kakehashi', 'SELECT ' || pg_temp.chain(40000, ' + (', '1') || repeat(')', 39999)) AS t (n int);
EXCEPTION WHEN program_limit_exceeded THEN
  RAISE NOTICE '%', SQLSTATE;
END $do$;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE chained') \gset
