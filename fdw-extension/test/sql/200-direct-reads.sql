-- A select by a whole unique key reads the engine's memory without a request, and says the same.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA direct') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE direct.item (id int8 PRIMARY KEY, code text NOT NULL, part uuid, n int4, f float8, d date, note varchar(40), fixed char(5), span interval, price numeric(10,2), UNIQUE (code, n))') \gset
CREATE SCHEMA of_direct;
IMPORT FOREIGN SCHEMA direct FROM SERVER kakehashi INTO of_direct;
SET search_path = of_direct, public;
INSERT INTO item SELECT i, 'code ' || i % 7, md5(i::text)::uuid, i, i / 3.0, date '2026-01-01' + i, repeat('n', i), 'f' || i, i * interval '1 day', i FROM generate_series(1, 40) i;
INSERT INTO item (id, code) VALUES (-1, ''), (1000000000000, E'tab\tand ''quote''');
SET plan_cache_mode = force_generic_plan;
PREPARE by_id (int8) AS SELECT id, code, part, n, f, d, note, fixed, span FROM item WHERE id = $1;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE by_id(7);
EXECUTE by_id(7);
EXECUTE by_id(-1);
EXECUTE by_id(1000000000000);
EXECUTE by_id(41);
EXECUTE by_id(NULL);
PREPARE by_code (text, int4) AS SELECT id, note FROM item WHERE code = $1 AND n = $2;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE by_code('code 3', 10);
EXECUTE by_code('code 3', 10);
EXECUTE by_code('code 3', 11);
EXECUTE by_code('code', 10);
-- Numbers, short and long ones.
PREPARE priced (int8) AS SELECT price FROM item WHERE id = $1;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE priced(7);
EXECUTE priced(7);
UPDATE item SET price = CASE id WHEN 11 THEN 0 WHEN 12 THEN -0.01 WHEN 13 THEN 99999999.99 WHEN 14 THEN -10000 WHEN 15 THEN 'NaN' ELSE 1000.1 END WHERE id BETWEEN 11 AND 16;
EXECUTE priced(11);
EXECUTE priced(12);
EXECUTE priced(13);
EXECUTE priced(14);
EXECUTE priced(15);
EXECUTE priced(16);
-- Changes are seen: others' after they are committed, own ones at once.
UPDATE item SET note = 'changed', code = 'moved' WHERE id = 7;
EXECUTE by_id(7);
EXECUTE by_code('code 0', 7);
EXECUTE by_code('moved', 7);
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE by_id(7);
BEGIN;
EXECUTE by_id(8);
UPDATE item SET note = 'own' WHERE id = 8;
EXECUTE by_id(8);
DELETE FROM item WHERE id = 8;
EXECUTE by_id(8);
ROLLBACK;
EXECUTE by_id(8);
DELETE FROM item WHERE id = 9;
EXECUTE by_id(9);
INSERT INTO item (id, code) VALUES (9, 'again');
EXECUTE by_id(9);
-- A transaction that keeps its snapshot asks.
BEGIN ISOLATION LEVEL REPEATABLE READ;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE by_code('moved', 7);
COMMIT;
BEGIN;
DELETE FROM item WHERE id = 40;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE by_code('moved', 7);
ROLLBACK;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT note FROM item WHERE n < 0;
CREATE FUNCTION of_direct.one() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT note, of_direct.one() FROM item WHERE id = 10;
-- A join that sends keys reads them all as of one moment, if it is all that the statement reads.
CREATE TABLE of_direct.local (k int8, name text);
INSERT INTO local SELECT i, 'local ' || i FROM generate_series(10, 50) i;
ANALYZE local;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT l.k, l.name, i.code, i.price FROM local l JOIN item i ON i.id = l.k;
SELECT l.k, l.name, i.code, i.price FROM local l JOIN item i ON i.id = l.k WHERE l.k < 14 ORDER BY 1;
SELECT count(*), sum(i.n), count(i.id) FROM local l LEFT JOIN item i ON i.id = l.k;
SELECT count(*) FROM local l WHERE EXISTS (SELECT FROM item i WHERE i.id = l.k);
SELECT count(*) FROM local l WHERE NOT EXISTS (SELECT FROM item i WHERE i.id = l.k);
BEGIN;
UPDATE item SET code = 'own' WHERE id = 12;
SELECT l.k, i.code FROM local l JOIN item i ON i.id = l.k WHERE l.k < 14 ORDER BY 1;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT l.k, i.code FROM local l JOIN item i ON i.id = l.k;
ROLLBACK;
SELECT direct_reads AS before FROM kakehashi_sessions('kakehashi') e WHERE process_id = pg_backend_pid() \gset
SELECT count(*), max(o.code) FROM local l JOIN item i ON i.id = l.k, item o WHERE o.id = 10;
SELECT direct_reads - :before AS of_two_reads FROM kakehashi_sessions('kakehashi') e WHERE process_id = pg_backend_pid();
SELECT l.k, i.code FROM local l JOIN item i ON i.id = l.k ORDER BY 1 LIMIT 2;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- The endpoint counts them.
SELECT direct_reads > 20 AS counted FROM kakehashi_sessions('kakehashi') e WHERE process_id = pg_backend_pid();
-- Definitions change below prepared statements.
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE direct.item ADD COLUMN late int4 DEFAULT 5') \gset
EXECUTE by_id(10);
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE by_id(10);
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE direct.item DROP COLUMN f') \gset
PREPARE fewer (int8) AS SELECT id, d, note FROM item WHERE id = $1;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE fewer(10);
EXECUTE fewer(10);
SELECT kakehashi_execute('kakehashi', 'TRUNCATE direct.item') \gset
EXECUTE fewer(10);
SELECT kakehashi_execute('kakehashi', 'INSERT INTO direct.item (id, code, note) VALUES (10, ''new'', ''after'')') \gset
EXECUTE fewer(10);
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE fewer(10);
-- A session can do without.
SET kakehashi.direct_reads = off;
EXECUTE fewer(10);
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE fewer(10);
RESET kakehashi.direct_reads;
-- Functions read as each of their statements does.
CREATE FUNCTION notes(n int8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found text;
  result text := '';
BEGIN
  FOR i IN 8 .. n LOOP
    SELECT coalesce(note, '-') INTO found FROM item WHERE id = i;
    result := result || ' ' || coalesce(found, 'none');
  END LOOP;
  RETURN result;
END $$;
SELECT notes(12);
DROP FUNCTION notes;
-- A stable function has the snapshot of its caller: all that it reads is of one state.
CREATE FUNCTION stable_note(k int8) RETURNS text STABLE LANGUAGE plpgsql AS $$ DECLARE found text; BEGIN SELECT note INTO found FROM item WHERE id = k; RETURN found; END $$;
CREATE FUNCTION volatile_note(k int8) RETURNS text LANGUAGE plpgsql AS $$ DECLARE found text; BEGIN SELECT note INTO found FROM item WHERE id = k; RETURN found; END $$;
CREATE FUNCTION sql_note(k int8) RETURNS text STABLE LANGUAGE sql AS $$ SELECT note FROM item WHERE id = k OFFSET 0 $$;
SELECT direct_reads AS before FROM kakehashi_sessions('kakehashi') e WHERE process_id = pg_backend_pid() \gset
SELECT count(stable_note(i)), count(sql_note(i)) FROM generate_series(9, 11) i;
SELECT direct_reads - :before AS of_stable FROM kakehashi_sessions('kakehashi') e WHERE process_id = pg_backend_pid();
SELECT count(volatile_note(i)) FROM generate_series(9, 11) i;
SELECT direct_reads - :before AS of_volatile FROM kakehashi_sessions('kakehashi') e WHERE process_id = pg_backend_pid();
DROP FUNCTION stable_note, volatile_note, sql_note;
-- Functions of PostgreSQL that run SQL would see another moment.
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT note, query_to_xml('SELECT 1', true, false, '') IS NULL AS other FROM item WHERE id = 10;
-- Columns get other types below a prepared statement.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE direct.item') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE direct.item (id int8 PRIMARY KEY, d text, note text)') \gset
SELECT kakehashi_execute('kakehashi', 'INSERT INTO direct.item VALUES (10, ''no date'', ''other'')') \gset
\set VERBOSITY terse
EXECUTE fewer(10);
EXECUTE fewer(10);
\set VERBOSITY default
-- A session that may have another role on the engine asks.
PREPARE noted (int8) AS SELECT note FROM item WHERE id = $1;
EXECUTE noted(10);
SELECT kakehashi_execute('kakehashi', 'RESET ROLE') \gset
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE noted(10);
SELECT kakehashi_execute('kakehashi', 'DROP TABLE direct.item') \gset
EXECUTE fewer(10);
RESET search_path;
DROP SCHEMA of_direct CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA direct') \gset
