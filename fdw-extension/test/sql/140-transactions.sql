-- A transaction of PostgreSQL is one on the engine, with its savepoints; both end together.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS ledger');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE ledger (id int PRIMARY KEY, v int)');
CREATE SCHEMA tx;
SET search_path = tx, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (ledger) FROM SERVER kakehashi INTO tx;
CREATE TABLE local_ledger (id int PRIMARY KEY, v int);
BEGIN;
INSERT INTO ledger VALUES (1, 1);
INSERT INTO local_ledger SELECT * FROM ledger;
SELECT in_transaction FROM kakehashi_sessions WHERE server_name = 'kakehashi';
COMMIT;
SELECT in_transaction FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SELECT * FROM ledger JOIN local_ledger USING (id);
BEGIN;
UPDATE ledger SET v = 2;
SELECT v FROM ledger;
ROLLBACK;
SELECT v FROM ledger;
-- Savepoints, also such that do nothing on the engine
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
INSERT INTO ledger VALUES (2, 2);
SAVEPOINT c;
INSERT INTO ledger VALUES (3, 3);
ROLLBACK TO c;
INSERT INTO ledger VALUES (4, 4);
RELEASE b;
INSERT INTO ledger VALUES (5, 5);
SAVEPOINT d;
DELETE FROM ledger;
SELECT count(*) FROM ledger;
ROLLBACK TO d;
SELECT id FROM ledger ORDER BY id;
ROLLBACK TO a;
SELECT id FROM ledger ORDER BY id;
INSERT INTO ledger VALUES (6, 6);
COMMIT;
SELECT id FROM ledger ORDER BY id;
-- A rollback that nothing follows but the commit
BEGIN;
INSERT INTO ledger VALUES (7, 7);
SAVEPOINT a;
INSERT INTO ledger VALUES (8, 8);
ROLLBACK TO a;
COMMIT;
SELECT id FROM ledger ORDER BY id;
-- The outer savepoint keeps nothing of a released inner one that is rolled back
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
INSERT INTO ledger VALUES (9, 9);
RELEASE b;
ROLLBACK TO a;
RELEASE a;
COMMIT;
SELECT id FROM ledger ORDER BY id;
-- An error undoes its statement; the savepoint saves the rest
\set VERBOSITY sqlstate
BEGIN;
INSERT INTO ledger VALUES (10, 10);
SAVEPOINT a;
INSERT INTO ledger VALUES (11, 11), (10, 10);
ROLLBACK TO a;
INSERT INTO ledger VALUES (12, 12);
COMMIT;
SELECT id FROM ledger WHERE id >= 10 ORDER BY id;
-- Without a savepoint nothing is left
BEGIN;
INSERT INTO ledger VALUES (13, 13);
INSERT INTO ledger VALUES (13, 13);
COMMIT;
SELECT id FROM ledger WHERE id = 13;
\set VERBOSITY default
-- Blocks with exception handlers are subtransactions
DO $$
BEGIN
  FOR i IN 20..25 LOOP
    BEGIN
      INSERT INTO ledger VALUES (i, i);
      IF i % 2 = 0 THEN
        RAISE division_by_zero;
      END IF;
      BEGIN
        INSERT INTO ledger VALUES (i, -1);
      EXCEPTION WHEN unique_violation THEN
        UPDATE ledger SET v = -i WHERE id = i;
      END;
    EXCEPTION WHEN division_by_zero THEN
      NULL;
    END;
  END LOOP;
END $$;
SELECT * FROM ledger WHERE id >= 20 ORDER BY id;
-- An error on PostgreSQL's side rolls the engine back
\set VERBOSITY sqlstate
BEGIN;
INSERT INTO ledger VALUES (30, 30);
INSERT INTO local_ledger VALUES (1, 1);
COMMIT;
\set VERBOSITY default
SELECT count(*) FROM ledger WHERE id = 30;
-- A deferred error at commit, too
CREATE TABLE checked (id int, CONSTRAINT once UNIQUE (id) DEFERRABLE INITIALLY DEFERRED);
\set VERBOSITY sqlstate
BEGIN;
INSERT INTO ledger VALUES (31, 31);
INSERT INTO checked VALUES (1), (1);
COMMIT;
\set VERBOSITY default
SELECT count(*) FROM ledger WHERE id = 31;
-- Every isolation level
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM ledger;
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT count(*) FROM ledger;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
UPDATE ledger SET v = v + 1 WHERE id = 1;
COMMIT;
SELECT v FROM ledger WHERE id = 1;
-- A read-only transaction refuses to write
\set VERBOSITY sqlstate
BEGIN READ ONLY;
INSERT INTO ledger VALUES (40, 40);
ROLLBACK;
-- Two-phase commit of changes is refused without the library in every backend
BEGIN;
INSERT INTO ledger VALUES (50, 50);
PREPARE TRANSACTION 'kakehashi';
BEGIN;
SELECT id FROM ledger WHERE id = 50;
PREPARE TRANSACTION 'kakehashi';
COMMIT PREPARED 'kakehashi';
\set VERBOSITY default
SELECT count(*) FROM ledger;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA tx CASCADE;
