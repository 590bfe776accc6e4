-- A cursor shows what was there when it was declared, and outlives the rollback of a savepoint, also if it was first read after that.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA cur') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE cur.t (id int4 PRIMARY KEY, v text)') \gset
CREATE SCHEMA cur;
IMPORT FOREIGN SCHEMA cur FROM SERVER kakehashi INTO cur;
SET search_path = cur, public;
CREATE TABLE h (id int4 PRIMARY KEY, v text);
INSERT INTO h SELECT i, 'v' || i FROM generate_series(1, 2000) i;
INSERT INTO t SELECT * FROM h;
-- Changes before the first FETCH
BEGIN;
DECLARE f CURSOR FOR SELECT count(*), min(v), max(id) FROM t;
DECLARE g CURSOR FOR SELECT count(*), min(v), max(id) FROM h;
INSERT INTO t VALUES (-1, 'a');
INSERT INTO h VALUES (-1, 'a');
FETCH f;
FETCH g;
ROLLBACK;
-- First read within a savepoint that is rolled back
BEGIN;
DECLARE f CURSOR FOR SELECT id, v FROM t ORDER BY id;
DECLARE g CURSOR FOR SELECT id, v FROM h ORDER BY id;
SAVEPOINT s;
DELETE FROM t WHERE id < 10;
DELETE FROM h WHERE id < 10;
FETCH 2 FROM f;
FETCH 2 FROM g;
ROLLBACK TO s;
FETCH 2 FROM f;
FETCH 2 FROM g;
SAVEPOINT s2;
MOVE 1500 FROM f;
MOVE 1500 FROM g;
SELECT 1 / 0;
ROLLBACK TO s2;
FETCH f;
FETCH g;
MOVE ALL FROM f;
MOVE ALL FROM g;
COMMIT;
-- A result that the engine has not made whole before the rollback
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE cur.long (id int4 PRIMARY KEY, v text)') \gset
SELECT kakehashi_execute('kakehashi', 'INSERT INTO cur.long SELECT i, ''v'' || i FROM generate_series(1, 200000) i') \gset
IMPORT FOREIGN SCHEMA cur LIMIT TO (long) FROM SERVER kakehashi INTO cur;
BEGIN;
DECLARE f CURSOR FOR SELECT id, v FROM long ORDER BY id;
SAVEPOINT s;
DELETE FROM long WHERE id % 2 = 0;
FETCH f;
DECLARE g CURSOR FOR SELECT id, v FROM long ORDER BY id;
FETCH 2 FROM g;
ROLLBACK TO s;
FETCH f;
SAVEPOINT s2;
MOVE 150000 FROM f;
SELECT 1 / 0;
ROLLBACK TO s2;
FETCH f;
FETCH g;
ROLLBACK TO s2;
MOVE ALL FROM f;
SELECT count(*) FROM long;
COMMIT;
-- With conditions of outer rows and of parts that are computed before, backwards, and held
BEGIN ISOLATION LEVEL REPEATABLE READ;
DECLARE f SCROLL CURSOR WITH HOLD FOR SELECT t.id, (SELECT v FROM t q WHERE q.id = t.id + 1) FROM t WHERE id > (SELECT max(id) - 3 FROM t) ORDER BY id;
DECLARE g SCROLL CURSOR WITH HOLD FOR SELECT t.id, (SELECT v FROM h q WHERE q.id = t.id + 1) FROM h t WHERE id > (SELECT max(id) - 3 FROM h) ORDER BY id;
FETCH LAST FROM f;
FETCH LAST FROM g;
FETCH BACKWARD 1 FROM f;
FETCH BACKWARD 1 FROM g;
COMMIT;
SELECT kakehashi_disconnect('kakehashi');
FETCH ABSOLUTE 1 FROM f;
FETCH ABSOLUTE 1 FROM g;
CLOSE ALL;
-- More cursors than response slots: the later ones are read when they are fetched
BEGIN;
DO $$
BEGIN
  FOR i IN 1..12 LOOP
    EXECUTE format('DECLARE c%s CURSOR FOR SELECT id FROM t WHERE id >= %s ORDER BY id', i, i);
  END LOOP;
END $$;
FETCH c1;
FETCH c8;
FETCH c12;
SELECT count(*) FROM t;
CLOSE c1;
CLOSE c2;
FETCH c11;
COMMIT;
-- Loops over queries that change what they read
DO $$
DECLARE
  r record;
  f bigint := 0;
  g bigint := 0;
BEGIN
  FOR r IN SELECT id FROM t WHERE id % 2 = 0 LOOP
    UPDATE t SET v = 'even' WHERE id = r.id;
    INSERT INTO t VALUES (r.id + 10000, 'new');
    f := f + 1;
  END LOOP;
  FOR r IN SELECT id FROM h WHERE id % 2 = 0 LOOP
    UPDATE h SET v = 'even' WHERE id = r.id;
    INSERT INTO h VALUES (r.id + 10000, 'new');
    g := g + 1;
  END LOOP;
  RAISE NOTICE '% and %', f, g;
END $$;
SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM h) d;
SELECT count(*) FROM (SELECT * FROM h EXCEPT SELECT * FROM t) d;
-- One that fails on the engine fails when it is read, or declared, and leaves nothing behind
BEGIN;
SAVEPOINT s;
\set VERBOSITY sqlstate
DECLARE f CURSOR FOR SELECT 1 / (id - id) FROM t;
FETCH f;
\set VERBOSITY default
ROLLBACK TO s;
SELECT count(*) FROM t WHERE id <= 2000;
COMMIT;
SET client_min_messages = warning;
DROP SCHEMA cur CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA cur CASCADE') \gset
