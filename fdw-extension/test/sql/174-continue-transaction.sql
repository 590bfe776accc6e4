-- A transaction of the engine goes on wherever its token is known: statements, savepoints and ends of two servers of one backend are those of one transaction.
\getenv runtime_dir KAKEHASHI_RUNTIME_DIR
\if :{?runtime_dir}
\else
\set runtime_dir /dev/shm/kakehashi/main
\endif
CREATE SERVER beside FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir :'runtime_dir');
CREATE USER MAPPING FOR CURRENT_USER SERVER beside;
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA continued') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE continued.item (id int4 PRIMARY KEY, v int4)') \gset
CREATE SCHEMA one;
CREATE SCHEMA two;
CREATE FOREIGN TABLE one.item (id int4 OPTIONS (key 'true'), v int4) SERVER kakehashi OPTIONS (schema_name 'continued');
CREATE FOREIGN TABLE two.item (id int4 OPTIONS (key 'true'), v int4) SERVER beside OPTIONS (schema_name 'continued');
CREATE TABLE local_item (id int4 PRIMARY KEY, v int4);
-- What is committed, as sessions see it that know nothing of the transaction
CREATE FUNCTION committed() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(id || '=' || v, ' ' ORDER BY id) FROM one.item $$;
\df kakehashi_transaction_token
\df kakehashi_continue_transaction
-- A token stays the same, and is of this transaction alone.
SELECT kakehashi_transaction_token();
BEGIN;
SELECT kakehashi_transaction_token();
SELECT kakehashi_transaction_token('kakehashi') AS token \gset
SELECT :'token' ~ '^[0-9a-f]{32}$' AS form, :'token' = kakehashi_transaction_token() AS same;
INSERT INTO one.item VALUES (1, 1);
SELECT :'token' = kakehashi_transaction_token() AS same;
COMMIT;
BEGIN;
SELECT :'token' = kakehashi_transaction_token('kakehashi') AS same;
COMMIT;
-- Both servers are in it, whoever was first: each sees what the other has done, and one COMMIT or ROLLBACK is for both.
CREATE FUNCTION continue(first name, second name) RETURNS void LANGUAGE sql AS $$
  SELECT kakehashi_continue_transaction(second, kakehashi_transaction_token(first))
$$;
BEGIN;
SELECT continue('kakehashi', 'beside');
INSERT INTO one.item VALUES (2, 2);
INSERT INTO two.item VALUES (3, 3);
UPDATE one.item SET v = v + 10 WHERE id = 3;
UPDATE two.item SET v = v + 10 WHERE id = 2;
SELECT (SELECT sum(v) FROM one.item) AS one, (SELECT sum(v) FROM two.item) AS two;
SELECT one.id FROM one.item one JOIN two.item two USING (id, v) ORDER BY 1;
COMMIT;
SELECT committed();
BEGIN;
SELECT continue('beside', 'kakehashi');
INSERT INTO one.item VALUES (4, 4);
INSERT INTO two.item VALUES (5, 5);
SELECT kakehashi_current_transaction('kakehashi') = kakehashi_current_transaction('beside') AS same, kakehashi_current_transaction() IS NOT NULL AS one;
ROLLBACK;
SELECT committed();
-- Together with local tables: both sides or none
BEGIN;
SELECT continue('kakehashi', 'beside');
INSERT INTO two.item VALUES (4, 4);
INSERT INTO local_item VALUES (4, 4);
COMMIT;
SELECT committed(), (SELECT count(*) FROM local_item) AS local, (SELECT count(*) FROM kakehashi_prepared_transactions('kakehashi')) AS prepared;
BEGIN;
SELECT continue('beside', 'kakehashi');
INSERT INTO local_item VALUES (5, 5);
INSERT INTO one.item VALUES (5, 5);
ROLLBACK;
SELECT committed(), (SELECT count(*) FROM local_item) AS local;
\set VERBOSITY sqlstate
ALTER TABLE local_item ADD UNIQUE (v) DEFERRABLE INITIALLY DEFERRED;
BEGIN;
SELECT continue('beside', 'kakehashi');
INSERT INTO one.item VALUES (6, 6);
INSERT INTO local_item VALUES (5, 4);
COMMIT;
\set VERBOSITY default
SELECT committed(), (SELECT count(*) FROM local_item) AS local;
-- Savepoints are of the transaction, whichever server has been used in them.
CREATE PROCEDURE savepoints(first name, second name) LANGUAGE plpgsql AS $$
DECLARE
  n int;
BEGIN
  PERFORM continue(first, second);
  INSERT INTO one.item VALUES (10, 0);
  BEGIN
    INSERT INTO two.item VALUES (11, 0);
    INSERT INTO one.item VALUES (12, 0);
    RAISE division_by_zero;
  EXCEPTION WHEN division_by_zero THEN
  END;
  -- First the one, then the other that has not heard of the rollback yet
  INSERT INTO one.item VALUES (11, 1);
  INSERT INTO two.item VALUES (12, 1);
  BEGIN
    INSERT INTO one.item VALUES (13, 0);
    BEGIN
      INSERT INTO two.item VALUES (14, 0);
      RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN
    END;
    INSERT INTO two.item VALUES (14, 1);
    BEGIN
      INSERT INTO two.item VALUES (15, 0);
      INSERT INTO one.item VALUES (15, 0);
    EXCEPTION WHEN unique_violation THEN
    END;
    BEGIN
      INSERT INTO one.item VALUES (16, 0);
    EXCEPTION WHEN unique_violation THEN
    END;
    INSERT INTO two.item VALUES (17, 0);
  EXCEPTION WHEN division_by_zero THEN
  END;
  BEGIN
    DELETE FROM two.item WHERE id > 9;
    SELECT count(*) INTO n FROM one.item WHERE id > 9;
    RAISE division_by_zero;
  EXCEPTION WHEN division_by_zero THEN
    RAISE NOTICE '% left', n;
  END;
END $$;
CALL savepoints('kakehashi', 'beside');
SELECT committed();
DELETE FROM one.item WHERE id > 9;
CALL savepoints('beside', 'kakehashi');
SELECT committed();
DELETE FROM one.item WHERE id > 9;
-- What a rolled back subtransaction has continued is left as it is.
BEGIN;
SELECT kakehashi_transaction_token('kakehashi') AS token \gset
INSERT INTO one.item VALUES (20, 0);
SAVEPOINT a;
SELECT kakehashi_continue_transaction('beside', :'token');
INSERT INTO two.item VALUES (21, 0);
ROLLBACK TO a;
SELECT kakehashi_current_transaction() = kakehashi_current_transaction('kakehashi') AS one;
SELECT count(*) FROM two.item WHERE id = 20;
SELECT kakehashi_current_transaction('beside') = kakehashi_current_transaction('kakehashi') AS same;
COMMIT;
BEGIN;
SELECT kakehashi_transaction_token('kakehashi') AS token \gset
SAVEPOINT a;
SELECT kakehashi_continue_transaction('beside', :'token');
ROLLBACK TO a;
SAVEPOINT b;
SELECT kakehashi_continue_transaction('beside', :'token');
INSERT INTO two.item VALUES (22, 0);
RELEASE b;
ROLLBACK TO a;
SELECT kakehashi_continue_transaction('beside', :'token');
INSERT INTO two.item VALUES (23, 0);
COMMIT;
SELECT committed();
-- What the one has defined is there for the other, which does not wait for itself.
BEGIN;
SELECT continue('kakehashi', 'beside');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE continued.made (id int4 PRIMARY KEY)') \gset
IMPORT FOREIGN SCHEMA continued LIMIT TO (made) FROM SERVER beside INTO two;
SELECT attname FROM pg_attribute WHERE attrelid = 'two.made'::regclass AND attnum > 0;
ROLLBACK;
-- A cursor of the one reads what was there when it was opened, whatever the other does.
BEGIN;
SELECT continue('beside', 'kakehashi');
DECLARE c CURSOR FOR SELECT id FROM one.item ORDER BY id;
FETCH 1 FROM c;
DELETE FROM two.item;
SELECT count(*) FROM one.item;
FETCH ALL FROM c;
ROLLBACK;
-- What cannot be continued
SELECT kakehashi_continue_transaction('kakehashi', :'token');
BEGIN;
SELECT kakehashi_transaction_token('kakehashi') AS token \gset
SELECT kakehashi_continue_transaction('kakehashi', :'token');
ROLLBACK;
BEGIN;
SELECT kakehashi_transaction_token('kakehashi') AS token \gset
SELECT count(*) FROM two.item;
SELECT kakehashi_continue_transaction('beside', :'token');
ROLLBACK;
DO $$
DECLARE
  token text;
BEGIN
  FOREACH token IN ARRAY ARRAY['', 'x', repeat('0', 32), repeat('f', 32), repeat('ä', 16), repeat('0', 100000)] LOOP
    BEGIN
      PERFORM kakehashi_continue_transaction('kakehashi', token);
    EXCEPTION WHEN no_active_sql_transaction THEN
      RAISE NOTICE '% %: %', sqlstate, left(token, 3), sqlerrm;
    END;
  END LOOP;
END $$;
SELECT kakehashi_continue_transaction('kakehashi', NULL) IS NULL AS nothing;
SELECT kakehashi_continue_transaction('nosuch', :'token');
SELECT kakehashi_transaction_token('nosuch');
BEGIN;
SELECT count(*) FROM one.item, two.item WHERE one.item.id = two.item.id;
SELECT kakehashi_transaction_token();
ROLLBACK;
-- The settings of a transaction are those of who has begun it.
BEGIN;
SELECT continue('kakehashi', 'beside');
SET LOCAL kakehashi.transaction_label = 'late';
ROLLBACK;
-- Only those to whom it is granted
CREATE ROLE kakehashi_continue_user;
SET ROLE kakehashi_continue_user;
SELECT kakehashi_transaction_token('kakehashi');
SELECT kakehashi_continue_transaction('kakehashi', :'token');
RESET ROLE;
DROP ROLE kakehashi_continue_user;
-- PREPARE TRANSACTION is refused as a whole where the library is not preloaded.
BEGIN;
SELECT continue('beside', 'kakehashi');
PREPARE TRANSACTION 'continued';
SELECT committed();
SELECT kakehashi_execute('kakehashi', 'DROP TABLE continued.item') \gset
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA continued') \gset
SET client_min_messages = warning;
DROP SCHEMA one, two CASCADE;
DROP SERVER beside CASCADE;
