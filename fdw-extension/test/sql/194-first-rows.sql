-- EXISTS asks for one row, and the least or greatest value that an index leads to comes from its end: neither meets what fails for the rows behind, as with heap tables.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE dented (id int PRIMARY KEY, g int NOT NULL, z int, e text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE INDEX ON dented (g)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (dented) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.dented (LIKE of_engine.dented, PRIMARY KEY (id));
CREATE INDEX ON of_heap.dented (g);
INSERT INTO of_heap.dented SELECT g, g * 2, CASE WHEN g = 1700 THEN 0 ELSE 1 END, CASE WHEN g = 1800 THEN 'x' ELSE g::text END FROM generate_series(1, 3000) g;
INSERT INTO of_engine.dented SELECT * FROM of_heap.dented;
ANALYZE of_heap.dented;
SELECT kakehashi_execute('kakehashi', 'ANALYZE dented') \gset
SELECT both_sides(query), query FROM (VALUES
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3)'),
  ('SELECT NOT EXISTS (SELECT 12 / (id - 1) FROM dented)'),
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3 AND id > 1690)'),
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3 AND id >= 1700)'),
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3 AND initcap(e) = ''1699'')'),
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3 AND initcap(e) = ''1701'')'),
  ('SELECT EXISTS (SELECT g FROM dented WHERE 12 / z > 3 GROUP BY g ORDER BY g)'),
  ('SELECT EXISTS (SELECT sum(g) FROM dented WHERE id < 0), EXISTS (SELECT g FROM dented WHERE id < 0 GROUP BY g)'),
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3 OFFSET 1698)'),
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3 OFFSET 1699)'),
  ('SELECT EXISTS (SELECT FROM dented LIMIT 0)'),
  ('SELECT count(*) FROM generate_series(1690, 1699) i WHERE i = 1 OR EXISTS (SELECT FROM dented d WHERE 12 / z > 3 AND d.id >= i)'),
  ('SELECT count(*) FROM generate_series(1690, 1700) i WHERE i = 1 OR EXISTS (SELECT FROM dented d WHERE 12 / z > 3 AND d.id >= i)'),
  ('SELECT count(*) FROM (SELECT 1 FROM (SELECT id FROM dented WHERE 12 / z > 3) d WHERE EXISTS (SELECT FROM dented WHERE g = 2) LIMIT 5) s'),
  -- A query in FROM of which the query around it drops rows
  ('SELECT count(*) FROM (SELECT 1 FROM (SELECT FROM dented OFFSET 0) d WHERE random() < 2 LIMIT 7) s'),
  ('SELECT EXISTS (SELECT FROM (SELECT id FROM dented OFFSET 0) d WHERE initcap(id::text) = ''7'')'),
  ('SELECT min(id) FROM dented WHERE 12 / z > 3'),
  ('SELECT max(id) FROM dented WHERE 12 / z > 3'),
  ('SELECT max(g) FROM dented WHERE 12 / z > 3 AND id > 5'),
  ('SELECT min(id) FROM dented WHERE 12 / z > 3 AND id > 1690'),
  ('SELECT min(id) FROM dented WHERE 12 / z > 3 AND id > 1699'),
  ('SELECT max(id) FROM dented WHERE 12 / z > 3 AND id < 1700'),
  ('SELECT max(id) FROM dented WHERE 12 / z > 3 AND id < 1701'),
  ('SELECT max(id) FROM dented WHERE id < 0'),
  ('SELECT sum(id) FROM dented WHERE 12 / z > 3')
  ) s (query);
-- What is sent
CREATE FUNCTION pg_temp.sent(query text) RETURNS SETOF text LANGUAGE plpgsql SET search_path = of_engine AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line ~ 'Remote SQL' THEN
      RETURN NEXT ltrim(line);
    END IF;
  END LOOP;
END $$;
SELECT pg_temp.sent('SELECT EXISTS (SELECT e FROM dented WHERE z > 3 ORDER BY g)');
SELECT pg_temp.sent('SELECT EXISTS (SELECT FROM dented WHERE g = i) FROM generate_series(1, 3) i');
SELECT pg_temp.sent('SELECT EXISTS (SELECT FROM dented a JOIN dented b USING (g))');
SELECT pg_temp.sent('SELECT EXISTS (SELECT FROM dented FOR UPDATE)');
SELECT pg_temp.sent('SELECT 1 FROM (SELECT FROM dented OFFSET 0) d WHERE random() < 2 LIMIT 7');
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE dented') \gset
