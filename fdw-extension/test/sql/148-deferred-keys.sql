-- Foreign keys on the engine that are looked at when the transaction commits: the failure comes before PostgreSQL commits anything.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA deferred') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE deferred.p (id int PRIMARY KEY)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE deferred.c (id int PRIMARY KEY, pid int REFERENCES deferred.p DEFERRABLE INITIALLY DEFERRED)') \gset
CREATE SCHEMA deferred;
IMPORT FOREIGN SCHEMA deferred FROM SERVER kakehashi INTO deferred;
SET search_path = deferred, public;
CREATE TABLE deferred.here (id int);
INSERT INTO c VALUES (1, 10);
BEGIN;
INSERT INTO c VALUES (1, 10);
INSERT INTO p VALUES (10);
COMMIT;
SELECT * FROM c;
-- One phase
BEGIN;
INSERT INTO p VALUES (11);
INSERT INTO c VALUES (2, 12);
COMMIT;
-- Two phases: the preparation refuses.
BEGIN;
INSERT INTO here VALUES (1);
INSERT INTO p VALUES (11);
DELETE FROM p WHERE id = 10;
COMMIT;
SELECT * FROM p;
SELECT * FROM c;
SELECT * FROM here;
-- Savepoints take checks back, and SET CONSTRAINTS is the engine's.
BEGIN;
SAVEPOINT a;
INSERT INTO c VALUES (2, 12);
ROLLBACK TO SAVEPOINT a;
INSERT INTO here VALUES (2);
COMMIT;
BEGIN;
SELECT kakehashi_execute('kakehashi', 'SET CONSTRAINTS ALL IMMEDIATE');
INSERT INTO c VALUES (2, 12);
ROLLBACK;
BEGIN;
INSERT INTO c VALUES (2, 12);
SELECT kakehashi_execute('kakehashi', 'SET CONSTRAINTS deferred.c_pid_fkey IMMEDIATE');
ROLLBACK;
SELECT * FROM here;
RESET search_path;
DROP SCHEMA deferred CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA deferred CASCADE') \gset
