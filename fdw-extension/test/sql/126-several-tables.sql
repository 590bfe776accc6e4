-- Unions, partitions, full joins and locked joins of tables of one engine are one request, with PostgreSQL's results.
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA IF EXISTS several CASCADE') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA several');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE several.a (id int PRIMARY KEY, x int, t text)');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE several.b (id int PRIMARY KEY, x int, t text)');
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA several FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.a (id int PRIMARY KEY, x int, t text COLLATE "C");
CREATE TABLE of_heap.b (id int PRIMARY KEY, x int, t text COLLATE "C");
INSERT INTO of_heap.a SELECT i, nullif(i % 5, 2), chr(65 + i % 4) FROM generate_series(1, 20) i;
INSERT INTO of_heap.b SELECT i, nullif(i % 7, 3), chr(66 + i % 4) FROM generate_series(5, 30) i;
INSERT INTO of_engine.a SELECT * FROM of_heap.a;
INSERT INTO of_engine.b SELECT * FROM of_heap.b;
-- Columns of other types, and a table without a key, one of whose rows has nulls alone
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE several.c (big int8, n numeric, v varchar(9), f float4)');
IMPORT FOREIGN SCHEMA several LIMIT TO (c) FROM SERVER kakehashi INTO of_engine;
ALTER FOREIGN TABLE of_engine.c ADD COLUMN gone int;
ALTER FOREIGN TABLE of_engine.c DROP COLUMN gone;
CREATE TABLE of_heap.c (big int8, n numeric, v varchar(9) COLLATE "C", f float4);
INSERT INTO of_heap.c VALUES (1, 1.0, 'A', 1.5), (2, 2.50, 'B', 2), (4, 4, 'Z', 4), (NULL, NULL, NULL, NULL), (4294967297, 0.1, 'A', 0.1);
INSERT INTO of_engine.c SELECT * FROM of_heap.c;
-- Partitions: the same rows by ranges of id
CREATE TABLE of_heap.p (id int, x int, t text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE of_engine.p (id int, x int, t text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE of_heap.p1 PARTITION OF of_heap.p FOR VALUES FROM (0) TO (21);
CREATE TABLE of_heap.p2 PARTITION OF of_heap.p FOR VALUES FROM (21) TO (100);
CREATE FOREIGN TABLE of_engine.p1 PARTITION OF of_engine.p FOR VALUES FROM (0) TO (21) SERVER kakehashi OPTIONS (schema_name 'several', table_name 'a');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE several.p2 (id int PRIMARY KEY, x int, t text)');
CREATE FOREIGN TABLE of_engine.p2 PARTITION OF of_engine.p FOR VALUES FROM (21) TO (100) SERVER kakehashi OPTIONS (schema_name 'several');
INSERT INTO of_heap.p SELECT * FROM of_heap.a UNION ALL SELECT id, x, t FROM of_heap.b WHERE id > 20;
INSERT INTO of_engine.p2 SELECT id, x, t FROM of_heap.b WHERE id > 20;

CREATE TABLE queries (query text, on_engine bool DEFAULT true);
INSERT INTO queries VALUES
  ('SELECT id, t FROM a UNION ALL SELECT id, t FROM b'),
  ('SELECT id, ''a'' FROM a WHERE x > 1 UNION ALL SELECT id + 1, t FROM b WHERE id < 9 UNION ALL SELECT x, NULL FROM a'),
  ('SELECT t, count(*) FROM (SELECT id, t FROM a UNION ALL SELECT id, t FROM b) u WHERE id > 3 GROUP BY t'),
  ('SELECT u.id, a.x FROM (SELECT id, t FROM a UNION ALL SELECT id, t FROM b) u JOIN a ON a.id = u.id'),
  ('SELECT id, rank() OVER (ORDER BY t) FROM (SELECT id, t FROM a UNION ALL SELECT id, t FROM b) u'),
  ('SELECT id FROM (SELECT id FROM a UNION ALL SELECT id FROM b) u ORDER BY id DESC LIMIT 5'),
  ('SELECT count(*) FROM (SELECT 1 FROM a UNION ALL SELECT 2 FROM b) u'),
  ('SELECT t FROM a UNION SELECT t FROM b'),
  ('SELECT t, x FROM a INTERSECT SELECT t, x FROM b'),
  ('SELECT x FROM a EXCEPT ALL SELECT x FROM b WHERE id < 12'),
  ('(SELECT t FROM a WHERE x = 1 UNION SELECT t FROM b) EXCEPT SELECT t FROM a WHERE x = 3'),
  ('SELECT t, count(*) FROM a GROUP BY t UNION ALL SELECT t, sum(x) FROM b GROUP BY t'),
  ('(SELECT id FROM a ORDER BY id LIMIT 3) UNION (SELECT id FROM b ORDER BY id DESC LIMIT 2)'),
  ('SELECT DISTINCT t FROM a UNION ALL SELECT ''z'' FROM b WHERE id = 7'),
  ('SELECT t FROM a UNION SELECT t FROM b ORDER BY t DESC LIMIT 2'),
  ('SELECT id, t FROM a UNION ALL SELECT id, t FROM b ORDER BY t, id DESC OFFSET 3 LIMIT 4'),
  ('SELECT id, x FROM a EXCEPT SELECT id, x FROM b ORDER BY x DESC NULLS LAST, 1 LIMIT (SELECT 6)'),
  ('SELECT x, t FROM a INTERSECT ALL SELECT x, t FROM b ORDER BY 2, x OFFSET 1'),
  ('SELECT count(*) > 0 FROM a UNION SELECT count(*) > 100 FROM b ORDER BY 1 LIMIT 1 OFFSET 0'),
  ('SELECT t FROM a UNION SELECT t FROM b ORDER BY t LIMIT (random() * 0)::int + 2'),
  ('SELECT x FROM a UNION SELECT big FROM c'),
  ('SELECT x, t FROM a UNION ALL SELECT n, v FROM c ORDER BY 1, 2 LIMIT 5'),
  ('SELECT x FROM a INTERSECT SELECT n FROM c UNION ALL SELECT n FROM c'),
  ('SELECT x FROM a UNION ALL SELECT x FROM b UNION ALL SELECT big FROM c'),
  ('SELECT max(x), t FROM a GROUP BY t UNION ALL SELECT sum(big), v FROM c GROUP BY v'),
  ('SELECT u.t, a.id FROM (SELECT t FROM a WHERE x > 1 UNION SELECT t FROM b WHERE id < 9) u JOIN a ON a.t = u.t AND a.x < 3'),
  ('SELECT count(*), max(x) FROM (SELECT x FROM a INTERSECT SELECT x FROM b EXCEPT SELECT id FROM b WHERE id < 6) u WHERE x > 0'),
  ('SELECT id FROM a WHERE x IN (SELECT x FROM b WHERE id > 20 UNION SELECT big FROM c)'),
  ('SELECT t, row_number() OVER (ORDER BY t) FROM (SELECT t FROM a UNION SELECT v FROM c) u ORDER BY t DESC LIMIT 3'),
  ('SELECT a, b FROM a JOIN b ON a.id = b.id'),
  ('SELECT b, a.id FROM a LEFT JOIN b ON a.id = b.id AND b.x > 1'),
  ('SELECT a.id, c, a IS NULL, c IS NULL, c IS NOT DISTINCT FROM NULL FROM a FULL JOIN c ON a.x = c.big'),
  ('SELECT a.id, c FROM a LEFT JOIN c ON c.big IS NULL AND a.id < 3'),
  ('SELECT c, a.id FROM (a JOIN b ON a.id = b.id) RIGHT JOIN c ON c.big = b.x'),
  ('SELECT a FROM a JOIN b ON a.id = b.id ORDER BY b.x DESC, a.id LIMIT 3'),
  ('SELECT a, a.t FROM a ORDER BY id DESC OFFSET 2 LIMIT 3'),
  ('SELECT a FROM a WHERE EXISTS (SELECT FROM b WHERE b.id = a.id)'),
  ('SELECT q FROM (SELECT a.id, b.t FROM a JOIN b USING (id) OFFSET 0) q JOIN c ON q.id = c.big'),
  ('SELECT q, a.x FROM (SELECT t, count(*) AS n FROM b GROUP BY t) q JOIN a ON a.t = q.t'),
  ('SELECT a.id, q, q IS NULL FROM a LEFT JOIN (SELECT t, nullif(max(id), 30) AS m FROM b WHERE id > 20 GROUP BY t) q ON q.t = a.t AND a.x > 1'),
  ('SELECT a.id, q FROM a LEFT JOIN (SELECT NULL::int AS n, b.id FROM b OFFSET 0) q ON q.id = a.id'),
  ('SELECT row_to_json(q), to_jsonb(a) FROM (SELECT t AS "T t", count(*) AS n FROM b GROUP BY t) q JOIN a ON a.t = q."T t" WHERE a.id < 9'),
  ('SELECT u, a.t FROM (SELECT t FROM a UNION SELECT t FROM b) u JOIN a ON a.t = u.t ORDER BY a.id, u.t LIMIT 4'),
  ('SELECT u FROM (SELECT id, t FROM a UNION ALL SELECT id, t FROM b) u'),
  ('SELECT a.id, u, u IS NULL FROM a LEFT JOIN (SELECT id, t, x FROM a WHERE x > 1 UNION ALL SELECT id, NULL, x FROM b) u ON u.id = a.id + 8'),
  ('SELECT row_to_json(u) FROM (SELECT id AS n, t FROM a UNION ALL SELECT id, t FROM b) u JOIN a ON a.id = u.n'),
  ('SELECT p, a.t FROM p JOIN a ON a.x = p.x WHERE p.id > 15'),
  ('SELECT a.id, p, to_jsonb(p) FROM a LEFT JOIN p ON p.id = a.id + 15'),
  ('SELECT count(*), sum(x), max(t) FROM p'),
  ('SELECT t, avg(x) FROM p WHERE id BETWEEN 5 AND 25 GROUP BY t HAVING count(*) > 1'),
  ('SELECT p.id, a.t FROM p JOIN a ON a.x = p.x WHERE p.id > 15'),
  ('SELECT a.id, b.id, a.t, b.t FROM (SELECT * FROM a WHERE x > 1) a FULL JOIN (SELECT * FROM b WHERE t <> ''C'') b ON a.id = b.id'),
  ('SELECT a.id, b.id FROM (SELECT * FROM a WHERE id < 3) a FULL JOIN (SELECT * FROM b WHERE id > 28) b ON true'),
  ('SELECT q.id, q.x, b.id FROM (SELECT a.id, c.x FROM a JOIN a c ON c.id = a.id + 1 WHERE a.x = 1) q FULL JOIN b ON q.id = b.id AND b.x = 1'),
  ('SELECT a.id, b.id FROM (SELECT * FROM a WHERE EXISTS (SELECT FROM b WHERE b.x = a.id)) a FULL JOIN b ON a.id = b.id'),
  ('SELECT a.id, b.id FROM (SELECT * FROM a WHERE x = 1) a FULL JOIN (SELECT * FROM b WHERE x = 2) b ON a.id = b.id WHERE coalesce(a.id, b.id) > 8'),
  ('SELECT a.id, b.t FROM a JOIN b ON a.id = b.id FOR UPDATE'),
  ('SELECT a.id, b.t FROM a LEFT JOIN b ON a.id = b.id AND b.x > 2 ORDER BY a.id DESC LIMIT 4 FOR SHARE OF a SKIP LOCKED'),
  ('SELECT a.id FROM a WHERE EXISTS (SELECT FROM b WHERE b.id = a.id) FOR NO KEY UPDATE'),
  ('SELECT a.id FROM a WHERE a.x IN (SELECT b.x FROM b WHERE b.id > 20) FOR UPDATE NOWAIT'),
  ('SELECT CASE x WHEN 1 THEN ''one'' WHEN 3 THEN t END, count(*) FROM a GROUP BY 1');
-- In part
INSERT INTO queries VALUES
  ('SELECT x FROM a EXCEPT SELECT f FROM c ORDER BY 1', false),
  ('SELECT (a).t || ''!'', row_to_json(b)->>''t'', count(a) OVER () FROM a JOIN b ON a.id = b.id WHERE b.id < 9', false),
  ('SELECT DISTINCT c.f FROM c UNION SELECT n FROM c', null),
  ('(SELECT x FROM a UNION SELECT x FROM b) UNION ALL SELECT big FROM c', false),
  ('SELECT a FROM a LEFT JOIN b ON a.id = b.id WHERE b.id IS NULL', null),
  ('SELECT b FROM a LEFT JOIN b ON a.id = b.id WHERE b.id IS NULL', null),
  ('SELECT p FROM p ORDER BY id DESC LIMIT 3', null),
  ('SELECT a.id, q FROM a LEFT JOIN (SELECT id, x + 1 AS y FROM b) q ON q.id = a.id', null),
  ('SELECT t::varchar(5) FROM a UNION SELECT t FROM b', true),
  ('SELECT upper(t) FROM a UNION SELECT t FROM b', false);
SELECT query, both_sides(CASE WHEN query ~ 'FOR ' THEN format('WITH q AS (%s) SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM q', query)
  ELSE format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query) END) FROM queries;
-- Where they are computed
CREATE FUNCTION is_on_engine(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  PERFORM set_config('search_path', 'of_engine, public', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'WindowAgg|Aggregate|Group|Unique|Sort|Append|Join|Nested Loop|SetOp|Subquery' THEN
      RETURN false;
    END IF;
  END LOOP;
  RETURN true;
END $$;
SELECT query, is_on_engine(query) FROM queries WHERE is_on_engine(query) <> on_engine;
-- Range table indexes and the names of columns differ between PostgreSQL's versions.
CREATE FUNCTION remote_statements(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line !~ 'Output:|Sort Key:' THEN
      RETURN NEXT regexp_replace(line, '\mr\d+\M', 'r', 'g');
    END IF;
  END LOOP;
END $$;
SELECT * FROM remote_statements('SELECT id, ''a'' FROM of_engine.a WHERE x > 1 UNION ALL SELECT id + 1, t FROM of_engine.b WHERE id < 9');
SELECT * FROM remote_statements('SELECT t FROM of_engine.a WHERE x > 1 UNION SELECT t FROM of_engine.b EXCEPT ALL SELECT max(t) FROM of_engine.a ORDER BY 1');
SELECT * FROM remote_statements('SELECT id, x FROM of_engine.a EXCEPT SELECT id, x FROM of_engine.b ORDER BY x DESC NULLS LAST, 1 OFFSET 2 LIMIT 5');
SELECT * FROM remote_statements('SELECT x, t FROM of_engine.a UNION SELECT n, v FROM of_engine.c');
SELECT * FROM remote_statements('SELECT c, a.id FROM of_engine.a JOIN of_engine.c ON a.x = c.big');
SELECT * FROM remote_statements('SELECT a.id, c FROM of_engine.a LEFT JOIN of_engine.c ON a.x = c.big');
SELECT * FROM remote_statements('SELECT a.id, q FROM of_engine.a LEFT JOIN (SELECT t, count(*) AS n FROM of_engine.b GROUP BY t) q ON q.t = a.t');
SELECT * FROM remote_statements('SELECT u FROM (SELECT id, t FROM of_engine.a UNION ALL SELECT id, t FROM of_engine.b) u');
SELECT * FROM remote_statements('SELECT p, a.id FROM of_engine.a LEFT JOIN of_engine.p ON p.id = a.x');
SELECT * FROM remote_statements('SELECT t, avg(x) FROM of_engine.p WHERE id > 3 GROUP BY t');
SELECT * FROM remote_statements('SELECT a.id, b.id FROM (SELECT * FROM of_engine.a WHERE x > 1) a FULL JOIN (SELECT * FROM of_engine.b WHERE t <> ''C'') b ON a.id = b.id');
SELECT * FROM remote_statements('SELECT a.id, b.t FROM of_engine.a JOIN of_engine.b ON a.id = b.id FOR UPDATE OF a FOR SHARE OF b NOWAIT');
SELECT * FROM remote_statements('SELECT a.id FROM of_engine.a WHERE EXISTS (SELECT FROM of_engine.b WHERE b.id = a.id) ORDER BY a.id LIMIT 2 FOR UPDATE');
-- Who may not read a table is told so, whatever the plan
CREATE ROLE kakehashi_reader;
GRANT USAGE ON SCHEMA of_engine TO kakehashi_reader;
GRANT SELECT ON of_engine.a TO kakehashi_reader;
CREATE VIEW of_engine.u AS SELECT t FROM of_engine.a UNION SELECT t FROM of_engine.b;
CREATE VIEW of_engine.v AS SELECT id, t FROM of_engine.a UNION ALL SELECT id, t FROM of_engine.b;
GRANT SELECT ON of_engine.u, of_engine.v TO kakehashi_reader;
CREATE USER MAPPING FOR kakehashi_reader SERVER kakehashi OPTIONS (password_required 'false');
SET ROLE kakehashi_reader;
\set VERBOSITY sqlstate
SELECT t FROM of_engine.a UNION SELECT t FROM of_engine.b;
SELECT t FROM of_engine.a UNION ALL SELECT t FROM of_engine.b;
SELECT count(*) FROM (SELECT t FROM of_engine.b OFFSET 0) b JOIN of_engine.a USING (t);
RESET ROLE;
DROP USER MAPPING FOR kakehashi_reader SERVER kakehashi;
-- A view reads as its owner does, who has a mapping.
SET ROLE kakehashi_reader;
SELECT * FROM of_engine.a;
SELECT * FROM of_engine.u ORDER BY t LIMIT 2;
SELECT count(*), min(t) FROM of_engine.v;
SELECT v.id FROM of_engine.v JOIN (SELECT t FROM of_engine.u OFFSET 2) u USING (t) WHERE v.id < 8 ORDER BY 1;
RESET ROLE;
SELECT * FROM remote_statements('SELECT * FROM of_engine.u ORDER BY t LIMIT 2');
SELECT * FROM remote_statements('SELECT count(*), min(t) FROM of_engine.v');
-- A plan is made again when one of its tables is another one.
PREPARE two_tables AS SELECT x FROM of_engine.a WHERE id = 1 UNION SELECT x FROM of_engine.b WHERE id = 5;
EXECUTE two_tables;
ALTER FOREIGN TABLE of_engine.b OPTIONS (SET table_name 'a');
EXECUTE two_tables;

SET client_min_messages = warning;
DROP FUNCTION is_on_engine, remote_statements;
DROP SCHEMA of_engine, of_heap CASCADE;
DROP ROLE kakehashi_reader;
DROP TABLE queries;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA several CASCADE') \gset
