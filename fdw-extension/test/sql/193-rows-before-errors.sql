-- What fails for a row of a scan is an error when that row is reached, as with heap tables: rows before it come, and a LIMIT may never get there.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE dented (id int PRIMARY KEY, z int, t text, e text)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (dented) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.dented (LIKE of_engine.dented, PRIMARY KEY (id));
INSERT INTO of_heap.dented SELECT g, CASE WHEN g = 1700 THEN 0 ELSE 1 END, 't' || g, CASE WHEN g = 1800 THEN 'x' ELSE g::text END FROM generate_series(1, 3000) g;
INSERT INTO of_engine.dented SELECT * FROM of_heap.dented;
ANALYZE of_heap.dented;
SELECT engine = heap AS same, engine, query FROM (VALUES
  ('SELECT * FROM dented WHERE 12 / z > 3'),
  ('SELECT id FROM dented WHERE 12 / z > 3 LIMIT 1699'),
  ('SELECT id FROM dented WHERE 12 / z > 3 LIMIT 1700'),
  ('SELECT id, 12 / z FROM dented LIMIT 1699'),
  ('SELECT id FROM dented WHERE id % 100 = 99 AND 12 / z > 3'),
  ('SELECT id FROM dented WHERE id > 1000 AND 12 / z > 3 AND initcap(t) <> ''T1'' LIMIT 600'),
  ('SELECT id FROM dented WHERE 12 / z > 3 AND initcap(t) <> ''T1'' LIMIT 1698'),
  ('SELECT id FROM dented WHERE 12 / z > 3 AND initcap(t) <> ''T1'' LIMIT 1699'),
  ('SELECT id FROM dented WHERE left(t, length(t) / z) <> ''T1'' LIMIT 20'),
  ('SELECT id FROM dented WHERE id > 1750 AND e::int > 0 LIMIT 49'),
  ('SELECT id FROM dented WHERE id > 1750 AND e::int > 0 LIMIT 50'),
  ('SELECT EXISTS (SELECT FROM dented WHERE 12 / z > 3)'),
  ('SELECT g, (SELECT id FROM dented WHERE id > g AND 12 / z > 3 LIMIT 1) FROM generate_series(0, 1500, 100) g'),
  ('SELECT count(*) FROM dented WHERE 12 / z > 3'),
  ('SELECT id FROM dented WHERE 12 / z > 3 ORDER BY t LIMIT 1')
  ) s (query), LATERAL (SELECT rows_before_error(query, 'of_engine, public') AS engine, rows_before_error(query, 'of_heap, public') AS heap) o;
-- The transaction goes on after a request whose error nobody came to.
SET search_path = of_engine, public;
BEGIN;
SELECT count(*) FROM (SELECT id FROM dented WHERE 12 / z > 3 AND initcap(t) <> 'x' LIMIT 3) s;
UPDATE dented SET z = 2 WHERE id = 1;
SELECT count(*) FROM (SELECT id FROM dented WHERE 12 / z > 3 AND initcap(t) <> 'x' LIMIT 3) s;
SELECT z FROM dented WHERE id = 1;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM (SELECT id FROM dented WHERE 12 / z > 3 AND initcap(t) <> 'x' LIMIT 3) s;
UPDATE dented SET z = 3 WHERE id = 1;
COMMIT;
SELECT z FROM dented WHERE id = 1;
BEGIN;
DECLARE c CURSOR FOR SELECT id, 12 / z AS q FROM dented WHERE 12 / z > 3;
MOVE 1699 FROM c;
SAVEPOINT s;
FETCH c;
ROLLBACK TO s;
SELECT count(*) FROM dented;
COMMIT;
-- Nothing is changed.
UPDATE dented SET t = 'gone' WHERE 12 / z > 3;
SELECT count(*) FROM dented WHERE t = 'gone';
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE dented') \gset
