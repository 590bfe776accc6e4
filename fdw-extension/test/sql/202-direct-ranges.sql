-- Short ranges of an index are read out of the engine's memory without a request, and are those of a table of PostgreSQL.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA ranges') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE ranges.entry (id int8 PRIMARY KEY, kind text NOT NULL, n int4, day date, note text, price numeric(10,2), part uuid, UNIQUE (kind, n))') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE INDEX entry_day ON ranges.entry (day DESC, part)') \gset
CREATE SCHEMA of_ranges;
IMPORT FOREIGN SCHEMA ranges FROM SERVER kakehashi INTO of_ranges;
CREATE TABLE of_ranges.heap (id int8 PRIMARY KEY, kind text COLLATE "C" NOT NULL, n int4, day date, note text, price numeric(10,2), part uuid);
SET search_path = of_ranges, public;
INSERT INTO heap SELECT i, 'kind ' || i % 5, CASE WHEN i % 11 <> 0 THEN i END, CASE WHEN i % 13 <> 0 THEN date '2026-01-01' + (i * 7 % 500)::int4 END, repeat('n', (i % 50)::int4), i / 4.0, md5(i::text)::uuid FROM generate_series(-40, 6000) i;
INSERT INTO entry SELECT * FROM heap;
SET plan_cache_mode = force_generic_plan;
PREPARE between_ids (int8, int8) AS SELECT id, kind, n, day, price FROM entry WHERE id BETWEEN $1 AND $2;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE between_ids(-2, 3);
EXECUTE between_ids(-2, 3);
EXECUTE between_ids(5999, 7000);
EXECUTE between_ids(3, 2);
EXECUTE between_ids(NULL, 2);
-- More rows than a backend reads by itself.
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE between_ids(1, 3000);
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE between_ids(1, 1000);
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE between_ids(1, 1001);
-- Bounds of one side, in both orders of the rows, and behind columns that equal something.
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT id, note FROM entry WHERE id > 5995 ORDER BY id DESC;
SELECT id, note FROM entry WHERE id > 5995 ORDER BY id DESC;
SELECT id, part FROM entry WHERE id <= -38 ORDER BY id;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT id, n FROM entry WHERE kind = 'kind 3' AND n >= 5950 AND n < 5988 ORDER BY n;
SELECT id, n FROM entry WHERE kind = 'kind 3' AND n >= 5950 AND n < 5988 ORDER BY n;
SELECT id, n FROM entry WHERE kind = 'kind 3' AND n < -30 ORDER BY n DESC;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT id, day FROM entry WHERE day = '2026-01-09';
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT day, id FROM entry WHERE day > '2027-05-10';
SELECT count(*), count(day), sum(id) FROM (SELECT day, id FROM entry WHERE day > '2027-05-10' OFFSET 0) e;
-- The same rows as in the table of PostgreSQL, whatever the range and whatever has changed.
CREATE TABLE asked (number serial, condition text);
INSERT INTO asked (condition) SELECT * FROM unnest(ARRAY['id BETWEEN 100 AND 300', 'id > 5900', 'id >= 5900 AND id < 5901', 'id < 10', 'id <= -40', 'id > 9000', 'kind = ''kind 1'' AND n > 5000',
  'kind = ''kind 2'' AND n BETWEEN -10 AND 200', 'kind = ''kind 2'' AND n <= 40', 'kind = ''kind'' AND n > 0', 'kind > ''kind 4''', 'kind < ''kind 0''', 'day = ''2026-03-04''', 'day < ''2026-01-20''', 'day >= ''2027-05-01''',
  'day BETWEEN ''2026-07-01'' AND ''2026-07-30''', 'day > ''2026-07-01'' AND day < ''2026-07-02''', 'day = ''2026-03-04'' AND part > ''80000000-0000-0000-0000-000000000000''', 'kind = ''kind 4'' AND n < 1000 ORDER BY n DESC LIMIT 7']);
CREATE VIEW steps AS
  SELECT format('CREATE TABLE found AS SELECT * FROM entry WHERE %s', condition) AS read,
    format('SELECT %L AS condition, (SELECT count(*) FROM found) AS rows, (SELECT count(*) FROM (SELECT * FROM found EXCEPT ALL (SELECT * FROM heap WHERE %s)) f) AS more, (SELECT count(*) FROM ((SELECT * FROM heap WHERE %s) EXCEPT ALL SELECT * FROM found) f) AS fewer', condition, condition, condition) AS compare,
    'DROP TABLE found' AS forget
  FROM asked ORDER BY number;
CREATE VIEW reads AS SELECT direct_reads FROM public.kakehashi_sessions('kakehashi') e WHERE process_id = pg_backend_pid();
SELECT direct_reads AS before FROM reads \gset
\set expected 15
\set ECHO none
\t on
SELECT * FROM steps \gexec
\t off
\set ECHO all
SELECT direct_reads - :before > :expected AS direct FROM reads;
UPDATE entry SET day = day + 3, note = 'later' WHERE id % 3 = 0;
UPDATE heap SET day = day + 3, note = 'later' WHERE id % 3 = 0;
UPDATE entry SET kind = 'kind 1', n = 10000 + n WHERE kind = 'kind 2' AND n > 100;
UPDATE heap SET kind = 'kind 1', n = 10000 + n WHERE kind = 'kind 2' AND n > 100;
DELETE FROM entry WHERE id % 4 = 1;
DELETE FROM heap WHERE id % 4 = 1;
UPDATE entry SET id = -id WHERE id BETWEEN 200 AND 240;
UPDATE heap SET id = -id WHERE id BETWEEN 200 AND 240;
INSERT INTO heap SELECT i, 'again', i, '2026-03-04', NULL, 'NaN', NULL FROM generate_series(101, 197, 4) i;
INSERT INTO entry SELECT * FROM heap WHERE kind = 'again';
\set expected 30
\set ECHO none
\t on
SELECT * FROM steps \gexec
\t off
\set ECHO all
SELECT direct_reads - :before > :expected AS direct FROM reads;
-- What was taken back is not there, and was not changed.
BEGIN;
UPDATE entry SET id = id + 20000 WHERE id BETWEEN 100 AND 200;
DELETE FROM entry WHERE kind = 'kind 1';
INSERT INTO entry SELECT i, 'kind 2', i, '2026-07-01' FROM generate_series(10001, 10040) i;
SELECT count(*) FROM (SELECT id FROM entry WHERE id BETWEEN 10000 AND 10100 OFFSET 0) e;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT id FROM entry WHERE id BETWEEN 10000 AND 10003;
ROLLBACK;
\set expected 45
\set ECHO none
\t on
SELECT * FROM steps \gexec
\t off
\set ECHO all
SELECT direct_reads - :before > :expected AS direct FROM reads;
-- Definitions change below prepared statements.
SELECT kakehashi_execute('kakehashi', 'DROP INDEX ranges.entry_day') \gset
EXECUTE between_ids(-2, 3);
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT id FROM entry WHERE day = '2026-03-04';
SELECT id FROM entry WHERE day = '2026-03-04' AND id < 150 ORDER BY id;
SELECT kakehashi_execute('kakehashi', 'TRUNCATE ranges.entry') \gset
EXECUTE between_ids(-2, 3);
RESET search_path;
\set VERBOSITY terse
DROP SCHEMA of_ranges CASCADE;
\set VERBOSITY default
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA ranges CASCADE') \gset
