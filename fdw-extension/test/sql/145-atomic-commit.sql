-- Changes on the engine and in local tables commit together: PostgreSQL's commit record decides.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS debit');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE debit (id int PRIMARY KEY, v int)');
CREATE SCHEMA atomic;
SET search_path = atomic, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (debit) FROM SERVER kakehashi INTO atomic;
CREATE TABLE credit (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v int);
CREATE FUNCTION prepared_parts() RETURNS bigint LANGUAGE sql AS $$
  SELECT n FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM kakehashi_catalog.prepared_transactions') AS t (n bigint)
$$;
BEGIN;
INSERT INTO debit VALUES (1, -10);
INSERT INTO credit VALUES (1, 10);
COMMIT;
SELECT debit.v, credit.v FROM debit JOIN credit USING (id);
SELECT prepared_parts();
-- Neither side is changed when one refuses: PostgreSQL's deferred check, and the engine's at the commit
\set VERBOSITY sqlstate
BEGIN;
INSERT INTO debit VALUES (2, -10);
INSERT INTO credit VALUES (1, 10);
COMMIT;
SELECT count(*) FROM debit;
SELECT count(*) FROM credit;
\set VERBOSITY default
SET kakehashi.atomic_commit = off;
BEGIN;
INSERT INTO debit VALUES (3, -10);
INSERT INTO credit VALUES (3, 10);
COMMIT;
RESET kakehashi.atomic_commit;
SELECT count(*) FROM debit JOIN credit USING (id);
-- Parts that a crash has left: they have the names of a transaction that PostgreSQL has committed, and of one that it has not.
CREATE FUNCTION part(xid xid8) RETURNS text LANGUAGE sql AS $$
  SELECT format('kakehashi/%s/%s/%s/0', system_identifier, oid, xid)
  FROM pg_control_system(), pg_database WHERE datname = current_database()
$$;
CREATE FUNCTION prepare_part(xid xid8, id int) RETURNS bigint LANGUAGE sql AS $$
  SELECT kakehashi_execute('kakehashi', format('INSERT INTO debit VALUES (%s, 0)', id));
  SELECT kakehashi_execute('kakehashi', format('PREPARE TRANSACTION %L', part(xid)))
$$;
BEGIN;
SELECT pg_current_xact_id() AS committed \gset
COMMIT;
BEGIN;
SELECT pg_current_xact_id() AS aborted \gset
ROLLBACK;
SELECT prepare_part(:'committed', 11);
SELECT prepare_part(:'aborted', 12);
SELECT prepared_parts();
SELECT id FROM debit ORDER BY id;
SELECT outcome FROM kakehashi_resolve('kakehashi') ORDER BY 1;
SELECT prepared_parts();
SELECT id FROM debit ORDER BY id;
-- A new session resolves them by itself.
SELECT prepare_part(:'committed', 13);
SELECT kakehashi_disconnect('kakehashi');
SELECT id FROM debit ORDER BY id;
-- What is still going on is left alone, and so is what is not of this database.
BEGIN;
SELECT prepare_part(pg_current_xact_id(), 14);
SELECT outcome FROM kakehashi_resolve('kakehashi');
ROLLBACK;
SELECT outcome FROM kakehashi_resolve('kakehashi');
BEGIN;
SELECT kakehashi_execute('kakehashi', 'INSERT INTO debit VALUES (15, 0)');
SELECT kakehashi_execute('kakehashi', 'PREPARE TRANSACTION ''somebody else''');
ROLLBACK;
SELECT outcome FROM kakehashi_resolve('kakehashi');
SELECT kakehashi_execute('kakehashi', 'ROLLBACK PREPARED ''somebody else''');
-- TRUNCATE is part of the transaction.
BEGIN;
TRUNCATE debit, credit;
SELECT count(*) FROM debit;
ROLLBACK;
SELECT count(*) FROM debit;
TRUNCATE debit;
SELECT count(*) FROM debit;
ALTER FOREIGN TABLE debit OPTIONS (ADD updatable 'false');
TRUNCATE debit;
