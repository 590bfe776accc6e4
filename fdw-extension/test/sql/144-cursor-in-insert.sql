-- A cursor that a function of an INSERT has declared, and whose rows are asked for when the INSERT has gone on, sees the rows that it has inserted meanwhile, as over PostgreSQL's own tables.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE grown (id int PRIMARY KEY, v bigint)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (grown) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.grown (id int PRIMARY KEY, v bigint);
-- So many rows that it is worth looking up keys
INSERT INTO of_heap.grown SELECT -g, -g FROM generate_series(1, 5000) g;
INSERT INTO of_engine.grown SELECT * FROM of_heap.grown;
ANALYZE of_heap.grown, of_engine.grown;
-- What is computed before keeps the request from being sent with the declaration.
CREATE FUNCTION later(g int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  c refcursor := 'later';
  n bigint := g;
BEGIN
  IF g = 3 THEN
    OPEN c FOR SELECT count(*) FROM grown WHERE id > (SELECT 0 * count(*) FROM generate_series(1, 3));
  ELSIF g = 60 THEN
    FETCH c INTO n;
    CLOSE c;
  END IF;
  RETURN n;
END $$;
-- By keys of other rows
CREATE TABLE asked AS SELECT g AS id FROM generate_series(1, 200, 7) g;
CREATE FUNCTION looked_up(g int) RETURNS bigint LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_nestloop = off AS $$
DECLARE
  c refcursor := 'later';
  n bigint := g;
BEGIN
  IF g = 3 THEN
    OPEN c FOR SELECT sum(grown.id) FROM asked JOIN grown USING (id);
  ELSIF g = 60 THEN
    FETCH c INTO n;
    CLOSE c;
  END IF;
  RETURN n;
END $$;
SELECT both_sides(statement, $$SELECT count(*) || ' rows, ' || coalesce(string_agg(id || ' has ' || v, ' ' ORDER BY id) FILTER (WHERE v <> id), 'all alike') FROM grown WHERE id > 0$$), statement FROM (VALUES
  ('INSERT INTO grown SELECT g, later(g) FROM generate_series(1, 100) g'),
  ('DELETE FROM grown WHERE id > 0'),
  ('INSERT INTO grown SELECT g, looked_up(g) FROM generate_series(1, 100) g')
  ) s (statement);
DROP SCHEMA of_engine, of_heap CASCADE;
DROP FUNCTION later, looked_up;
DROP TABLE asked;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE grown') \gset
