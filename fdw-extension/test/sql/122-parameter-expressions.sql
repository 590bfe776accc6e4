-- An expression of parameters alone that may fail does so when a row needs it, as over PostgreSQL's own tables, and not before the statement is sent.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE given (id int PRIMARY KEY, a int, b text, d date, n numeric)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (given) FROM SERVER kakehashi INTO of_engine;
ALTER FOREIGN TABLE of_engine.given ALTER b TYPE text COLLATE "C";
CREATE TABLE of_heap.given (LIKE of_engine.given, PRIMARY KEY (id));
INSERT INTO of_heap.given SELECT g, g % 7, 'b' || g % 5, '2020-01-01'::date + g, g / 10.0 FROM generate_series(1, 200) g;
INSERT INTO of_engine.given SELECT * FROM of_heap.given;
CREATE TABLE outside AS SELECT g AS id, g % 4 AS z FROM generate_series(1, 20) g;
ANALYZE of_heap.given, outside;
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION pg_temp.both_sides(statement text, VARIADIC given int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answers text[];
  side text;
BEGIN
  FOREACH side IN ARRAY ARRAY['of_engine', 'of_heap'] LOOP
    PERFORM set_config('search_path', side || ', public', true);
    EXECUTE 'PREPARE given(int, int) AS ' || statement;
    BEGIN
      EXECUTE format('EXECUTE given(%s, %s)', given[1], given[2]) INTO STRICT side;
    EXCEPTION WHEN OTHERS THEN
      side := SQLSTATE;
    END;
    DEALLOCATE given;
    answers := array_append(answers, side);
  END LOOP;
  RETURN coalesce(answers[1], 'null') || CASE WHEN answers[1] IS DISTINCT FROM answers[2] THEN ', but ' || coalesce(answers[2], 'null') ELSE '' END;
END $$;
SELECT pg_temp.both_sides(statement, one, two), one, two, statement FROM (VALUES
  (0, 0, 'SELECT count(*) FROM given WHERE id < 0 AND a = 12 / $1'),
  (0, 0, 'SELECT count(*) FROM given WHERE a = 12 / $1'),
  (4, 0, 'SELECT count(*) FROM given WHERE a = 12 / $1'),
  (4, 0, 'SELECT count(*) FROM given WHERE 12 / $1 = a AND id < 100'),
  (2147483647, 1, 'SELECT count(*) FROM given WHERE a < $1 + $2 AND id < 0'),
  (2147483647, 1, 'SELECT count(*) FROM given WHERE a < $1 + $2'),
  (2, 1, 'SELECT count(*) FROM given WHERE a < $1 + $2'),
  (2, 1, 'SELECT sum(id) FROM given WHERE id > 20 * $1 AND id <= 100 / $2'),
  -- In lists, choices, and arguments
  (0, 9, 'SELECT count(*) FROM given WHERE a > $2 AND a IN (12 / $1, 3)'),
  (0, 9, 'SELECT count(*) FROM given WHERE a IN (12 / $1, 3)'),
  (4, 5, 'SELECT count(*) FROM given WHERE a IN (12 / $1, $2)'),
  (4, 5, 'SELECT count(*) FROM given WHERE a NOT IN (12 / $1, $2)'),
  (0, 5, 'SELECT count(*) FROM given WHERE CASE WHEN $1 <> 0 THEN a = 12 / $1 ELSE a = $2 END'),
  (0, 5, 'SELECT count(*) FROM given WHERE a = coalesce($2, 12 / $1)'),
  (0, 9, 'SELECT count(*) FROM given WHERE a > $2 AND left(b, 12 / $1) = ''b'''),
  (12, 1, 'SELECT count(*) FROM given WHERE left(b, 12 / $1) = ''b'''),
  (0, 9, 'SELECT count(*) FROM given WHERE a > $2 AND n > 12.0 / $1'),
  (3, 9, 'SELECT count(*) FROM given WHERE n > 12.0 / $1 AND d > current_date - $2 * 100000 / 10'),
  (3, 9, 'SELECT count(*) FROM given WHERE d = ''2020-01-01''::date + $1 + $2 AND n < 5 * $1'),
  -- What is computed of rows, groups and joins
  (0, 9, 'SELECT sum(a + 12 / $1) FROM given WHERE a > $2'),
  (0, 5, 'SELECT sum(a + 12 / $1) FROM given WHERE a > $2'),
  (5, 5, 'SELECT sum(a + 12 / $1) FROM given WHERE a > $2'),
  (0, 9, 'SELECT count(*) FROM (SELECT a + 12 / $1 FROM given WHERE a > $2 GROUP BY a + 12 / $1) s'),
  (3, 2, 'SELECT count(*) FROM (SELECT a + 12 / $1 FROM given WHERE a > $2 GROUP BY a + 12 / $1 ORDER BY a + 12 / $1) s'),
  (0, 9, 'SELECT count(*) FROM (SELECT a FROM given WHERE a > $2 GROUP BY a HAVING sum(id) > 12 / $1) s'),
  (1, 3, 'SELECT count(*) FROM (SELECT a FROM given WHERE a > $2 GROUP BY a HAVING sum(id) > 12 / $1) s'),
  (0, 9, 'SELECT count(*) FROM (SELECT id FROM given WHERE a > $2 ORDER BY id LIMIT 12 / $1) s'),
  (3, 2, 'SELECT sum(id) FROM (SELECT id FROM given WHERE a > $2 ORDER BY id LIMIT 12 / $1 OFFSET $1 - $2) s'),
  (0, 9, 'SELECT count(*) FROM given x JOIN given y ON y.id = x.id + 12 / $1 WHERE x.a > $2'),
  (4, 2, 'SELECT count(*) FROM given x JOIN given y ON y.id = x.id + 12 / $1 WHERE x.a > $2'),
  (3, 9, 'SELECT sum(o.id) FROM outside o WHERE EXISTS (SELECT FROM given t WHERE t.id = o.id + 12 / $1 AND t.a < $2)'),
  (0, 9, 'SELECT sum(o.id) FROM outside o WHERE (SELECT count(*) FROM given t WHERE t.a > $2 AND t.a = 12 / o.z) = 0'),
  (0, 5, 'SELECT sum(o.id) FROM outside o WHERE o.z > 0 AND (SELECT count(*) FROM given t WHERE t.a > $2 AND t.a * 2 = 12 / o.z) > 0'),
  -- Changes
  (0, 9, 'WITH c AS (UPDATE given SET a = 12 / $1 WHERE a > $2 RETURNING id) SELECT count(*) FROM c'),
  (0, 3, 'WITH c AS (UPDATE given SET a = 12 / $1 WHERE a > $2 RETURNING id) SELECT count(*) FROM c'),
  (6, 3, 'WITH c AS (UPDATE given SET a = a + 12 / $1 WHERE a > $2 RETURNING id) SELECT count(*) FROM c'),
  (0, 99, 'WITH c AS (DELETE FROM given WHERE a > $2 AND a = 12 / $1 RETURNING id) SELECT count(*) FROM c'),
  (2, 4, 'WITH c AS (DELETE FROM given WHERE a > $2 AND id > 1000 / $1 - 400 RETURNING id) SELECT count(*) FROM c'),
  (0, 1001, 'WITH c AS (INSERT INTO given (id, a) VALUES ($2, $1) ON CONFLICT (id) DO UPDATE SET a = 12 / excluded.a RETURNING id) SELECT count(*) FROM c'),
  (0, 1001, 'WITH c AS (INSERT INTO given (id, a) VALUES ($2, $1) ON CONFLICT (id) DO UPDATE SET a = 12 / excluded.a RETURNING id) SELECT count(*) FROM c'),
  (5, 1001, 'WITH c AS (INSERT INTO given (id, a) VALUES ($2, $1) ON CONFLICT (id) DO UPDATE SET a = given.a + 12 / excluded.a + 3 * $1 RETURNING a) SELECT sum(a) FROM c'),
  (0, 0, 'SELECT count(*) || '' '' || sum(a) FROM given')
  ) s (one, two, statement);
-- What is sent
SET search_path = of_engine, public;
PREPARE sent(int, int) AS SELECT id FROM given WHERE id = $1 + 1 AND a = 12 / $2 AND n > 1.5 * $1 AND b = lower('B' || $2) AND a IN ($1, $2);
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE sent(1, 2);
DEALLOCATE sent;
RESET plan_cache_mode;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
DROP TABLE outside;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE given') \gset
