-- What became of a transaction, by its handle
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS asked');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE asked (id int PRIMARY KEY)');
SELECT kakehashi_transaction_status('kakehashi', 0), kakehashi_transaction_status('kakehashi', 9223372036854775807), kakehashi_transaction_status('kakehashi', NULL);
BEGIN;
SELECT kakehashi_execute('kakehashi', 'INSERT INTO asked VALUES (1)');
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
SELECT kakehashi_transaction_status('kakehashi', :handle);
COMMIT;
SELECT kakehashi_transaction_status('kakehashi', :handle);
BEGIN;
SELECT kakehashi_execute('kakehashi', 'INSERT INTO asked VALUES (2)');
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
ROLLBACK;
SELECT kakehashi_transaction_status('kakehashi', :handle);
-- It is the engine's part that is asked about, and that is decided as PostgreSQL's
CREATE TABLE asked_here (id int);
BEGIN;
INSERT INTO asked_here VALUES (1);
SELECT kakehashi_execute('kakehashi', 'INSERT INTO asked VALUES (3)');
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
PREPARE TRANSACTION 'asked';
SELECT kakehashi_transaction_status('kakehashi', :handle);
ROLLBACK PREPARED 'asked';
SELECT kakehashi_transaction_status('kakehashi', :handle);
DROP TABLE asked_here;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE asked');
DO $$ BEGIN PERFORM kakehashi_transaction_status('nosuch', 1); EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', sqlerrm; END $$;
