-- Paths into jsonb, jsonb_set, CASE, and text under C.UTF-8 are the engine's; EXPLAIN ANALYZE shows what its operators have done.
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA IF EXISTS exprs CASCADE') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA exprs');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE exprs.e (id int PRIMARY KEY, j jsonb, t text, v varchar(8), n int[])');
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
CREATE FOREIGN TABLE of_engine.e (id int OPTIONS (key 'true'), j jsonb, t text, v varchar(8), n int[]) SERVER kakehashi OPTIONS (schema_name 'exprs');
CREATE TABLE of_heap.e (id int PRIMARY KEY, j jsonb, t text, v varchar(8), n int[]);
INSERT INTO of_heap.e VALUES (1, '{"a": {"b": [1, 2]}, "k": "x"}', 'é', 'ab', '{1,2,3}'), (2, '[10, {"a": 1}]', 'z', 'abc', '{4}'), (3, '"s"', 'Z', NULL, '{}'), (4, NULL, '', 'x', NULL);
INSERT INTO of_engine.e SELECT * FROM of_heap.e;
CREATE TABLE queries (query text);
INSERT INTO queries VALUES
  ('SELECT id FROM e WHERE j[''a''][''b''] = ''[1, 2]'''),
  ('SELECT id FROM e WHERE j[''1''][''a''] IS NOT NULL'),
  ('SELECT id FROM e WHERE j[1] = ''{"a": 1}'''),
  ('SELECT id FROM e WHERE j[NULL::text] IS NULL'),
  ('SELECT id FROM e WHERE jsonb_set(j, ''{a,c}'', ''5'') @> ''{"a": {"c": 5}}'' AND id = 1'),
  ('SELECT id FROM e WHERE jsonb_set(j, ''{a}'', ''5'', false) IS NULL AND id <> 3'),
  ('SELECT id FROM e WHERE jsonb_set(j, ''{a}'', ''5'') IS NULL'),
  ('SELECT id FROM e WHERE n[2] = 2 OR n[1:2] = ''{4}'''),
  ('SELECT id FROM e WHERE t > ''a'''),
  ('SELECT id, t FROM e ORDER BY t DESC LIMIT 2'),
  ('SELECT max(t), min(t) FROM e'),
  ('SELECT id FROM e WHERE CASE v WHEN ''ab'' THEN 1 WHEN t THEN 2 END = 1');
SELECT query, both_sides(format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query)) FROM queries;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM of_engine.e WHERE j['a']['b'] = '[1, 2]' AND jsonb_set(j, '{a}', '5') @> '{"a": 5}';
EXPLAIN (VERBOSE, COSTS OFF) SELECT max(t) FROM of_engine.e WHERE t > 'a';
SELECT both_sides('UPDATE e SET v = v || ''y'' WHERE id < 3', 'SELECT string_agg(v, '','' ORDER BY id) FROM e');
SELECT both_sides('UPDATE e SET j = jsonb_set(j, ''{k}'', to_jsonb(id)) WHERE id < 2', 'SELECT string_agg(j::text, '','' ORDER BY id) FROM e');
EXPLAIN (VERBOSE, COSTS OFF) UPDATE of_engine.e SET j = jsonb_set(j, '{k}', '7') WHERE id < 2;
-- The engine's operators, with what they have done; what changes or locks rows is not done again for that
SET kakehashi.explain_remote_plan = on;
CREATE FUNCTION remote_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    IF line ~ 'rows=|Remote Plan|Memory:' THEN
      line := regexp_replace(line, '\d+kB', 'N kB');
      RETURN NEXT regexp_replace(regexp_replace(regexp_replace(line, '(rows=\d+)\.00', '\1', 'g'), '\d+\.\d+', 'N', 'g'), ' \(rows=\d+\)', '');
    END IF;
  END LOOP;
END $$;
SELECT * FROM remote_plan('SELECT t, count(*) FROM of_engine.e WHERE id > 1 GROUP BY t');
SELECT * FROM remote_plan('SELECT id FROM of_engine.e WHERE id = 1 FOR UPDATE');
RESET kakehashi.explain_remote_plan;

SET client_min_messages = warning;
DROP FUNCTION remote_plan;
DROP SCHEMA of_engine, of_heap CASCADE;
DROP TABLE queries;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA exprs CASCADE') \gset
