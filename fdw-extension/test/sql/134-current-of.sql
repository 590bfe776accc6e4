-- WHERE CURRENT OF changes the row that a cursor is on, as with PostgreSQL's own tables.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA positioned') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE positioned.t (a int4, b text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE positioned.k (a int4 PRIMARY KEY, b text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE VIEW positioned.v AS SELECT * FROM positioned.k') \gset
CREATE SCHEMA positioned;
IMPORT FOREIGN SCHEMA positioned FROM SERVER kakehashi INTO positioned;
SET search_path = positioned, public;
INSERT INTO t SELECT g, 'r' || g FROM generate_series(1, 5) g;
INSERT INTO k SELECT * FROM t;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t ORDER BY a;
UPDATE t SET b = 'x' WHERE CURRENT OF c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t ORDER BY a;
FETCH 2 FROM c;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET b = b || '!' WHERE CURRENT OF c;
-- The row as it is now, as often as it is asked for
UPDATE t SET b = b || '!' WHERE CURRENT OF c RETURNING *;
UPDATE t SET b = b || '!', a = a + 10 WHERE CURRENT OF c RETURNING *;
FETCH 1 FROM c;
SAVEPOINT s;
DELETE FROM t WHERE CURRENT OF c RETURNING *;
DELETE FROM t WHERE CURRENT OF c;
ROLLBACK TO s;
DELETE FROM t WHERE CURRENT OF c;
DELETE FROM k WHERE CURRENT OF c;
ROLLBACK TO s;
FETCH ALL FROM c;
DELETE FROM t WHERE CURRENT OF c;
ROLLBACK;
-- With a key, FOR UPDATE, row triggers and conditions that stay here
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '% %', TG_WHEN, OLD;
  RETURN NEW;
END $$;
CREATE TRIGGER before BEFORE UPDATE ON k FOR EACH ROW EXECUTE FUNCTION noted();
CREATE TRIGGER after AFTER UPDATE ON k FOR EACH ROW EXECUTE FUNCTION noted();
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM k WHERE a > 1 AND random() >= 0 FOR UPDATE;
MOVE 2 FROM c;
UPDATE k SET b = 'third' WHERE CURRENT OF c;
COMMIT;
DO $$
DECLARE
  c CURSOR FOR SELECT a FROM t WHERE a <> 3;
  r record;
BEGIN
  FOR r IN c LOOP
    IF r.a = 4 THEN
      DELETE FROM t WHERE CURRENT OF c;
    ELSE
      UPDATE t SET b = b || ' of ' || r.a WHERE CURRENT OF c;
    END IF;
  END LOOP;
END $$;
SELECT * FROM t ORDER BY a;
SELECT * FROM k ORDER BY a;
-- A tree of tables: the row is of one of them
CREATE TABLE p (a int4, b text COLLATE "C") PARTITION BY RANGE (a);
ALTER TABLE p ATTACH PARTITION t FOR VALUES FROM (0) TO (10);
CREATE TABLE far PARTITION OF p FOR VALUES FROM (10) TO (20);
INSERT INTO far VALUES (11, 'heap');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE positioned.q (a int4, b text)') \gset
CREATE FOREIGN TABLE q PARTITION OF p FOR VALUES FROM (20) TO (30) SERVER kakehashi;
INSERT INTO q VALUES (21, 'last');
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM p FOR UPDATE;
MOVE 1 FROM c;
UPDATE p SET b = 'first' WHERE CURRENT OF c RETURNING *;
MOVE 5 FROM c;
DELETE FROM p WHERE CURRENT OF c RETURNING *;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM p;
MOVE 1 FROM c;
UPDATE p SET b = 'first' WHERE CURRENT OF c;
ROLLBACK;
-- Cursors that are on no row
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM t;
FETCH c;
SAVEPOINT s;
UPDATE t SET b = 'x' WHERE CURRENT OF c;
ROLLBACK TO s;
DECLARE j CURSOR FOR SELECT * FROM t x JOIN t y USING (a);
FETCH j;
SAVEPOINT s;
UPDATE t SET b = 'x' WHERE CURRENT OF j;
ROLLBACK TO s;
UPDATE t SET b = 'x' WHERE CURRENT OF nothing;
ROLLBACK;
-- A cursor over a view of the engine is read as before
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM v ORDER BY a;
FETCH 1 FROM c;
UPDATE v SET b = 'x' WHERE CURRENT OF c;
ROLLBACK;
DROP SCHEMA positioned CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA positioned CASCADE') \gset
