-- What came with PostgreSQL 17 and 18, and a foreign table meets
SELECT current_setting('server_version_num')::int < 180000 AS older \gset
\if :older
\quit
\endif
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA newer') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE newer.span (id int4 PRIMARY KEY, span interval, spans interval[], at timestamp)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE newer.item (id int4 PRIMARY KEY, a int4, b int4)') \gset
CREATE SCHEMA newer;
IMPORT FOREIGN SCHEMA newer FROM SERVER kakehashi INTO newer;
SET search_path = newer, public;
-- Infinite intervals are values like others; what is computed with them is computed here.
INSERT INTO span VALUES (1, '1 day', NULL, '2020-01-01'), (2, 'infinity', '{infinity,"1 day"}', '2020-01-01'), (3, '-infinity', '{}', '2020-01-01'), (4, NULL, NULL, 'infinity');
SELECT id, span, spans FROM span ORDER BY span DESC NULLS LAST, id;
SELECT id FROM span WHERE span = 'infinity' OR span < '-1000 years' ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM span WHERE at + span > '2020-06-01';
SELECT id, at + span FROM span WHERE at + span > '2020-06-01' ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM span WHERE at + '1 day' > '2020-06-01';
SELECT id FROM span WHERE at - interval 'infinity' < '2020-06-01' ORDER BY id;
SELECT min(span), max(span), sum(span) FROM span WHERE id <> 3;
UPDATE span SET span = -span WHERE id = 2 RETURNING span;
-- The engine itself has none.
SELECT kakehashi_execute('kakehashi', 'INSERT INTO newer.span (id, span) VALUES (5, ''infinity'')');
-- Virtual generated columns are no columns of the engine's.
DROP FOREIGN TABLE item;
CREATE FOREIGN TABLE item (id int4 OPTIONS (key 'true'), a int4, v int4 GENERATED ALWAYS AS (a * 2) VIRTUAL, b int4) SERVER kakehashi OPTIONS (schema_name 'newer');
INSERT INTO item (id, a, b) VALUES (1, 5, 7), (2, 6, 8) RETURNING *;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, v FROM item WHERE v > 10;
SELECT item, v FROM item WHERE v > 10;
COPY item (id, a, b) FROM stdin (ON_ERROR ignore);
20	1	1
21	x	1
\.
SELECT * FROM item ORDER BY id;
ANALYZE item;
-- Old and new rows
UPDATE item SET a = a + 1 WHERE id < 3 RETURNING old.id, old.a, new.a, old.v, new.v, old IS NULL, new;
UPDATE item x SET a = y.a * 10 FROM item y WHERE y.id = x.id AND x.id < 3 RETURNING x.id, old.a, new.a, y.a, y.v;
UPDATE item x SET a = y.b FROM item y WHERE y.id = x.id AND x.id < 3 RETURNING x.*, y.v;
DELETE FROM item WHERE id = 20 RETURNING old.*, new.a;
INSERT INTO item (id, a, b) VALUES (3, 1, 1) RETURNING old.a, new.v;
INSERT INTO item (id, a, b) VALUES (1, 50, 70) ON CONFLICT (id) DO UPDATE SET a = excluded.v, b = excluded.a + item.v RETURNING new.*;
INSERT INTO item (id, a, b) VALUES (1, 50, 70) ON CONFLICT (id) DO UPDATE SET a = 1 RETURNING old.a;
INSERT INTO item (id, a, b) VALUES (1, 50, 70) ON CONFLICT (id) DO UPDATE SET a = 1 RETURNING old IS NOT NULL;
INSERT INTO item (id, a, b) VALUES (1, 50, 70), (4, 4, 4) ON CONFLICT (id) DO NOTHING RETURNING old.a, new.a;
-- Checks that are not enforced promise nothing.
ALTER FOREIGN TABLE item ADD CONSTRAINT positive CHECK (a > 0) NOT ENFORCED;
SET constraint_exclusion = on;
EXPLAIN (COSTS OFF) SELECT id FROM item WHERE a < 0;
RESET constraint_exclusion;
MERGE INTO item USING (VALUES (1)) s (id) ON item.id = s.id WHEN MATCHED THEN DELETE RETURNING merge_action();
SELECT id, any_value(b) FROM item WHERE a IN (1_00, 0x4) GROUP BY id ORDER BY id;
SELECT id FROM item WHERE b::text IS JSON SCALAR ORDER BY id;
EXPLAIN (ANALYZE, SERIALIZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT b FROM item WHERE id = 1;
SELECT outstanding_calls FROM kakehashi_sessions;
RESET search_path;
