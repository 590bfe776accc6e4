-- What became of a transaction, by its handle
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE asked (id int PRIMARY KEY)') \gset
SELECT kakehashi_transaction_status('kakehashi', 0), kakehashi_transaction_status('kakehashi', 9223372036854775807), kakehashi_transaction_status('kakehashi', NULL);
BEGIN;
SELECT kakehashi_execute('kakehashi', 'INSERT INTO asked VALUES (1)') \gset
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
SELECT kakehashi_transaction_status('kakehashi', :handle);
COMMIT;
SELECT kakehashi_transaction_status('kakehashi', :handle);
BEGIN;
SELECT kakehashi_execute('kakehashi', 'INSERT INTO asked VALUES (2)') \gset
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
ROLLBACK;
SELECT kakehashi_transaction_status('kakehashi', :handle);
SELECT kakehashi_execute('kakehashi', 'DROP TABLE asked') \gset
DO $$ BEGIN PERFORM kakehashi_transaction_status('nosuch', 1); EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', sqlerrm; END $$;
