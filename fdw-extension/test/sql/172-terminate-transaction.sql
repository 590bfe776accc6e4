-- kakehashi_terminate_transaction() ends a transaction of the engine by its number, here the own one: what comes next in it says so.
SELECT kakehashi_terminate_transaction('kakehashi', 0), kakehashi_terminate_transaction('kakehashi', NULL);
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE ended (id int PRIMARY KEY)') \gset
CREATE FOREIGN TABLE ended (id int OPTIONS (key 'true')) SERVER kakehashi OPTIONS (schema_name 'public', table_name 'ended');
-- With its next statement
BEGIN;
INSERT INTO ended VALUES (1);
SELECT count(*) FROM ended;
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
SELECT transaction_id AS id FROM kakehashi_transactions('kakehashi') WHERE handle = :handle \gset
SELECT kakehashi_terminate_transaction('kakehashi', :id);
SELECT count(*) FROM ended;
\echo :LAST_ERROR_SQLSTATE
COMMIT;
SELECT kakehashi_terminate_transaction('kakehashi', :id);
-- With its commit
BEGIN;
INSERT INTO ended VALUES (2);
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
SELECT transaction_id AS id FROM kakehashi_transactions('kakehashi') WHERE handle = :handle \gset
SELECT kakehashi_terminate_transaction('kakehashi', :id);
COMMIT;
\echo :LAST_ERROR_SQLSTATE
-- The session goes on
SELECT count(*) FROM ended;
DROP FOREIGN TABLE ended;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE ended') \gset
-- Only those to whom it is granted
CREATE ROLE kakehashi_terminate_user;
SET ROLE kakehashi_terminate_user;
SELECT kakehashi_terminate_transaction('kakehashi', 0);
RESET ROLE;
DROP ROLE kakehashi_terminate_user;
