-- A statement sees what commands before it did, not what its own command and later ones do: each statement runs on heap tables, then on foreign tables
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS t');
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS log');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE t (id int PRIMARY KEY, v int)');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE log (id int, seen int)');
CREATE SCHEMA heap;
CREATE SCHEMA far;
CREATE TABLE heap.t (id int PRIMARY KEY, v int);
CREATE TABLE heap.log (id int, seen int);
IMPORT FOREIGN SCHEMA public LIMIT TO (t, log) FROM SERVER kakehashi INTO far;
ALTER FOREIGN TABLE far.t OPTIONS (ADD batch_size '100');
\set both 'SET search_path = heap, public; :q; SET search_path = far, public; :q;'
\set VERBOSITY terse
\t on
-- An INSERT of several batches whose subquery reads its own table
\set q 'INSERT INTO t SELECT g, (SELECT count(*) FROM t WHERE id <= g) FROM generate_series(1, 1000) g'
:both
\set q 'SELECT count(*), min(v), max(v) FROM t'
:both
\set q 'INSERT INTO t SELECT id + 1000, v + (SELECT count(*) FROM t AS o WHERE o.id < t.id + 1000) FROM t'
:both
\set q 'SELECT count(*), min(v), max(v) FROM t'
:both
\set q 'INSERT INTO t SELECT g, 0 FROM generate_series(2001, 2500) g WHERE NOT EXISTS (SELECT FROM t WHERE id = g - 1 AND id > 2000)'
:both
\set q 'SELECT count(*) FROM t'
:both
-- WITH beside the query that reads the table
\set q 'WITH d AS (DELETE FROM t WHERE id > 10 RETURNING *) SELECT (SELECT count(*) FROM d), (SELECT count(*) FROM t), (SELECT count(*) FROM t WHERE id IN (3, 30))'
:both
\set q 'WITH i AS (INSERT INTO t VALUES (11, 11), (12, 12) RETURNING id) SELECT (SELECT count(*) FROM i), (SELECT count(*) FROM t), (SELECT max(t.id) FROM t JOIN i ON t.id <= i.id)'
:both
\set q 'WITH u AS (UPDATE t SET v = v + 100 RETURNING v) SELECT (SELECT min(v) FROM u), (SELECT max(v) FROM t)'
:both
\set q 'WITH d AS (DELETE FROM t WHERE id = 12 RETURNING *) INSERT INTO t SELECT id, v + (SELECT count(*) FROM t) FROM d'
:both
:both
-- A row is changed once: the second change of the same command finds nothing to do
\set q 'WITH a AS (UPDATE t SET v = 1 WHERE id = 1 RETURNING v), b AS (UPDATE t SET v = 2 WHERE id = 1 RETURNING v) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)'
:both
\set q 'WITH a AS (DELETE FROM t WHERE id < 3 RETURNING v), b AS (UPDATE t SET v = v + 1 WHERE id < 5 RETURNING id) SELECT (SELECT count(*) FROM a), (SELECT array_agg(id ORDER BY id) FROM b)'
:both
\set q 'TABLE t ORDER BY id'
:both
-- Functions: a volatile one sees what the statement that calls it did, a stable one does not
CREATE FUNCTION public.seen_now() RETURNS bigint LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN (SELECT sum(v) FROM t); END';
CREATE FUNCTION public.seen_before() RETURNS bigint LANGUAGE plpgsql STABLE AS 'BEGIN RETURN (SELECT sum(v) FROM t); END';
TRUNCATE heap.t, far.t;
\set q 'INSERT INTO t SELECT g, g FROM generate_series(1, 4) g'
:both
\set q 'UPDATE t SET v = v + seen_before()'
:both
\set q 'TABLE t ORDER BY id'
:both
\set q 'UPDATE t SET v = v + seen_now() WHERE id IN (SELECT id FROM t)'
:both
\set q 'TABLE t ORDER BY id'
:both
\set q 'INSERT INTO t SELECT g, seen_before() FROM generate_series(5, 300) g'
:both
\set q 'INSERT INTO t SELECT g, seen_now() % 1000 FROM generate_series(301, 600) g'
:both
\set q 'SELECT sum(v), sum(v::bigint * id) FROM t'
:both
CREATE FUNCTION public.seen_caught() RETURNS bigint LANGUAGE plpgsql VOLATILE AS
$$ BEGIN RETURN (SELECT count(*) FROM t); EXCEPTION WHEN unique_violation THEN RETURN -1; END $$;
\set q 'DO $$ DECLARE n bigint; BEGIN INSERT INTO t SELECT g, seen_caught() FROM generate_series(601, 950) g; GET DIAGNOSTICS n = ROW_COUNT; RAISE NOTICE $n$%$n$, n; END $$'
:both
\set q 'INSERT INTO t SELECT 1001 + g % 3, seen_caught() FROM generate_series(1, 10) g'
:both
\set q 'SELECT count(*), max(id), sum(v) FROM t'
:both
DELETE FROM heap.t WHERE id > 4;
DELETE FROM far.t WHERE id > 4;
-- A function that writes: its rows are not seen by the statement that calls it, but by the next one
CREATE FUNCTION public.write_log(id int) RETURNS bigint LANGUAGE plpgsql VOLATILE AS
$$ BEGIN INSERT INTO log VALUES (id, (SELECT count(*) FROM log)); RETURN (SELECT count(*) FROM log); END $$;
\set q 'SELECT id, write_log(id), (SELECT count(*) FROM log WHERE log.id <= t.id) FROM t ORDER BY id'
:both
:both
\set q 'SELECT * FROM log ORDER BY seen'
:both
-- Triggers see their statement's rows; a row that they have changed before the statement does is refused
CREATE FUNCTION public.count_rows() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO log VALUES (new.id, (SELECT count(*) FROM t)); RETURN new; END $$;
CREATE TRIGGER b BEFORE INSERT ON heap.t FOR EACH ROW EXECUTE FUNCTION count_rows();
CREATE TRIGGER b BEFORE INSERT ON far.t FOR EACH ROW EXECUTE FUNCTION count_rows();
CREATE TRIGGER a AFTER INSERT ON heap.t FOR EACH ROW EXECUTE FUNCTION count_rows();
CREATE TRIGGER a AFTER INSERT ON far.t FOR EACH ROW EXECUTE FUNCTION count_rows();
TRUNCATE heap.log, far.log;
\set q 'INSERT INTO t SELECT g, (SELECT count(*) FROM t WHERE id < g) FROM generate_series(5, 7) g'
:both
\set q 'SELECT * FROM log ORDER BY id, seen'
:both
\set q 'SELECT * FROM t WHERE id > 4 ORDER BY id'
:both
CREATE FUNCTION public.change_again() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN UPDATE t SET v = 0 WHERE id = 1 AND v <> 0; RETURN new; END $$;
CREATE TRIGGER c BEFORE UPDATE ON heap.t FOR EACH ROW WHEN (new.v > 0) EXECUTE FUNCTION change_again();
CREATE TRIGGER c BEFORE UPDATE ON far.t FOR EACH ROW WHEN (new.v > 0) EXECUTE FUNCTION change_again();
\set q 'UPDATE t SET v = 1 WHERE id = 1'
:both
\set q 'UPDATE t SET v = 1 WHERE id = 2'
:both
\set q 'SELECT * FROM t WHERE id < 3 ORDER BY id'
:both
DROP TRIGGER c ON heap.t;
DROP TRIGGER c ON far.t;
DROP TRIGGER b ON heap.t;
DROP TRIGGER b ON far.t;
DROP TRIGGER a ON heap.t;
DROP TRIGGER a ON far.t;
-- ON CONFLICT
\set q 'INSERT INTO t SELECT 8 + g % 100, g FROM generate_series(1, 150) g ON CONFLICT (id) DO NOTHING'
:both
\set q 'SELECT count(*), sum(v) FROM t'
:both
-- A cursor sees what was there when it was declared, though its rows are asked for later; savepoints
BEGIN;
SET search_path = heap, public;
DECLARE h CURSOR FOR SELECT count(*), sum(v) FROM t;
SET search_path = far, public;
DECLARE f CURSOR FOR SELECT count(*), sum(v) FROM t;
\set q 'UPDATE t SET v = v + 1 WHERE id < 100'
:both
SET search_path = heap, public;
COPY t FROM STDIN;
1001	1
1002	2
\.
SET search_path = far, public;
COPY t FROM STDIN;
1001	1
1002	2
\.
SAVEPOINT s;
\set q 'DELETE FROM t WHERE id > 3'
:both
ROLLBACK TO s;
\set q 'DELETE FROM t WHERE id < 3'
:both
FETCH h;
FETCH f;
\set q 'SELECT count(*), sum(v) FROM t'
:both
COMMIT;
:both
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA heap CASCADE;
DROP SCHEMA far CASCADE;
DROP FUNCTION seen_now, seen_caught, seen_before, write_log, count_rows, change_again;
