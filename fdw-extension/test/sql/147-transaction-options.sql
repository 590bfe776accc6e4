-- Kind, label, priority, time-out and areas of a transaction on the engine
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS stock');
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS prices');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE stock (id int PRIMARY KEY, v int)');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE prices (id int PRIMARY KEY, v int)');
CREATE SCHEMA options;
SET search_path = options, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (stock, prices) FROM SERVER kakehashi INTO options;
INSERT INTO stock VALUES (1, 10), (2, 20);
CREATE FUNCTION open_transaction() RETURNS TABLE (label text, kind text, isolation text, priority int, long boolean)
LANGUAGE sql AS $$
  SELECT label, kind, isolation, priority, epoch > 0
  FROM kakehashi_query('kakehashi', 'SELECT label, kind, isolation, priority, epoch FROM kakehashi_catalog.transactions')
    AS t (label text, kind text, isolation text, priority int, epoch bigint)
$$;
-- By itself: what PostgreSQL says of the transaction
BEGIN;
SELECT kind, isolation FROM open_transaction();
COMMIT;
BEGIN READ ONLY;
SELECT kind, isolation FROM open_transaction();
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT kind, isolation FROM open_transaction();
COMMIT;
-- A long one: declared tables alone, in the order of its priority
BEGIN ISOLATION LEVEL SERIALIZABLE;
SET LOCAL kakehashi.transaction_label = 'nightly "stock"';
SET LOCAL kakehashi.transaction_priority = -2;
SET LOCAL kakehashi.write_preserve = 'public.stock';
SET LOCAL kakehashi.transaction_timeout = '10min';
UPDATE stock SET v = v + 1;
SELECT * FROM open_transaction();
SAVEPOINT a;
INSERT INTO prices VALUES (1, 1);
ROLLBACK TO a;
INSERT INTO stock VALUES (3, 30);
COMMIT;
SELECT * FROM stock ORDER BY id;
-- The settings were of that transaction
SHOW kakehashi.write_preserve;
BEGIN;
SELECT * FROM open_transaction();
COMMIT;
-- Read areas
BEGIN;
SET LOCAL kakehashi.transaction_kind = ltx;
SET LOCAL kakehashi.read_areas_exclude = 'prices';
SELECT count(*) FROM stock;
SELECT count(*) FROM prices;
ROLLBACK;
BEGIN;
SET LOCAL kakehashi.read_areas_include = 'prices';
SELECT count(*) FROM prices;
SELECT count(*) FROM stock;
ROLLBACK;
-- Read-only by its kind, whatever PostgreSQL thinks
BEGIN;
SET LOCAL kakehashi.transaction_kind = rtx;
SELECT count(*) FROM stock;
DELETE FROM stock;
ROLLBACK;
-- PostgreSQL's transaction has become read-only, or a part of it is: the engine is not told, and nothing is sent that changes something.
BEGIN;
SELECT kakehashi_execute('kakehashi', 'UPDATE stock SET v = v + 1 WHERE id = 1');
SAVEPOINT a;
SET TRANSACTION READ ONLY;
SELECT count(*) FROM stock;
SELECT kakehashi_execute('kakehashi', 'UPDATE stock SET v = 0');
ROLLBACK TO a;
SET TRANSACTION READ ONLY;
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE never (id int)');
ROLLBACK TO a;
SET TRANSACTION READ ONLY;
SELECT * FROM kakehashi_query('kakehashi', 'DELETE FROM stock RETURNING id') AS t (id int);
ROLLBACK TO a;
SELECT kakehashi_execute('kakehashi', 'UPDATE stock SET v = v - 1 WHERE id = 1');
COMMIT;
BEGIN;
SAVEPOINT a;
SET TRANSACTION READ ONLY;
SELECT kakehashi_execute('kakehashi', 'DELETE FROM stock');
ROLLBACK TO a;
SELECT count(*) FROM stock;
SET TRANSACTION READ ONLY;
SELECT kakehashi_execute('kakehashi', 'DELETE FROM stock');
ROLLBACK;
-- Errors
BEGIN;
SET LOCAL kakehashi.write_preserve = 'stock, nowhere';
SELECT count(*) FROM stock;
ROLLBACK;
BEGIN;
SET LOCAL kakehashi.transaction_kind = occ;
SET LOCAL kakehashi.write_preserve = 'stock';
SELECT count(*) FROM stock;
ROLLBACK;
BEGIN;
SELECT count(*) FROM stock;
SET LOCAL kakehashi.transaction_kind = ltx;
ROLLBACK;
SET kakehashi.transaction_kind = 'long';
\set VERBOSITY sqlstate
SET kakehashi.transaction_timeout = -1;
\set VERBOSITY default
SET kakehashi.transaction_tiemout = 1;
-- The time-out
BEGIN;
SET LOCAL kakehashi.transaction_timeout = '100ms';
DO $$
BEGIN
  LOOP
    UPDATE stock SET v = 0;
  END LOOP;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE '% %', SQLSTATE, SQLERRM;
END $$;
ROLLBACK;
SELECT * FROM stock ORDER BY id;
-- Handles
SELECT kakehashi_current_transaction() IS NULL AS none;
BEGIN;
SELECT kakehashi_current_transaction('kakehashi') <> 0 AS begun;
SELECT kakehashi_current_transaction() = kakehashi_current_transaction('kakehashi') AS same;
COMMIT;
-- Also while the rows of its first statement are still read
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM stock ORDER BY id;
FETCH c;
SELECT kakehashi_current_transaction() > 0 AS known;
FETCH c;
COMMIT;
DROP SCHEMA options CASCADE;
