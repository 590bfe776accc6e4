-- Scans below one Append run at the same time, over servers and with local tables between them, and bring what they bring in turn.
\getenv runtime_dir KAKEHASHI_RUNTIME_DIR
CREATE SERVER second FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir :'runtime_dir');
CREATE USER MAPPING FOR CURRENT_USER SERVER second;
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA parts') \gset
SELECT kakehashi_execute('kakehashi', format('CREATE TABLE parts.p%s (id int4 PRIMARY KEY, part int4, t text)', i)) FROM generate_series(1, 3) i \gset _
CREATE SCHEMA parts;
CREATE TABLE parts.p (id int4, part int4, t text) PARTITION BY LIST (part);
CREATE FOREIGN TABLE parts.p1 PARTITION OF parts.p FOR VALUES IN (1) SERVER kakehashi OPTIONS (schema_name 'parts', table_name 'p1');
CREATE FOREIGN TABLE parts.p2 PARTITION OF parts.p FOR VALUES IN (2) SERVER second OPTIONS (schema_name 'parts', table_name 'p2');
CREATE FOREIGN TABLE parts.p3 PARTITION OF parts.p FOR VALUES IN (3) SERVER second OPTIONS (schema_name 'parts', table_name 'p3', async_capable 'off');
CREATE TABLE parts.p4 PARTITION OF parts.p FOR VALUES IN (4);
CREATE TABLE parts.heap AS SELECT i AS id, i % 4 + 1 AS part, repeat('t', i % 100) AS t FROM generate_series(1, 40000) i;
INSERT INTO parts.p SELECT * FROM parts.heap;
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM parts.p WHERE t <> 'x';
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM parts.p1 UNION ALL SELECT id FROM parts.p2;
SELECT part, count(*), sum(id), sum(length(t)) FROM (SELECT * FROM parts.p OFFSET 0) p GROUP BY part ORDER BY part;
SELECT count(*) FROM (SELECT * FROM parts.p EXCEPT SELECT * FROM parts.heap) d;
-- Conditions that are checked here, no rows at all, LIMIT that leaves requests behind
SELECT part, count(*) FROM parts.p WHERE initcap(t) = 'Tt' GROUP BY part ORDER BY part;
SELECT count(*) FROM (SELECT id FROM parts.p1 WHERE id < 0 UNION ALL SELECT id FROM parts.p2 WHERE id < 0 OFFSET 0) u;
SELECT count(*) FROM (SELECT * FROM parts.p LIMIT 5) l;
-- Scanned again and again
SELECT g, (SELECT count(*) FROM (SELECT id FROM parts.p1 WHERE id <= g UNION ALL SELECT id FROM parts.p2 WHERE id <= g OFFSET 0) u) FROM generate_series(1, 4001, 1000) g;
-- A failure of one ends all
SELECT count(10 / id) FROM (SELECT id FROM parts.p1 UNION ALL SELECT id / (id - id) FROM parts.p2 OFFSET 0) u;
SELECT sum(n) FROM (SELECT count(*) AS n FROM parts.p1 UNION ALL SELECT count(*) FROM parts.p2) u;
SELECT server_name, outstanding_calls FROM kakehashi_sessions ORDER BY 1;

SET client_min_messages = warning;
DROP SCHEMA parts CASCADE;
DROP SERVER second CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA parts CASCADE') \gset
