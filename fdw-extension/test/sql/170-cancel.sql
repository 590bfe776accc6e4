-- A statement that is canceled leaves the session usable, the transaction abortable, and no response slot behind.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS slow');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE slow (id int PRIMARY KEY, v int)');
CREATE SCHEMA slow;
IMPORT FOREIGN SCHEMA public LIMIT TO (slow) FROM SERVER kakehashi INTO slow;
INSERT INTO slow.slow SELECT g, g % 10 FROM generate_series(1, 3000) g;
\set VERBOSITY sqlstate
-- 27 thousand million combinations: nobody waits for that.
BEGIN;
INSERT INTO slow.slow VALUES (0, 0);
SAVEPOINT s;
SELECT clock_timestamp() AS start \gset
SET LOCAL statement_timeout = '300ms';
SELECT count(*) FROM slow.slow a, slow.slow b, slow.slow c WHERE a.v * b.v * c.v = 5;
ROLLBACK TO s;
SELECT clock_timestamp() - :'start' < interval '30 s' AS in_time;
SELECT count(*) FROM slow.slow WHERE id < 5;
COMMIT;
SELECT count(*) FROM slow.slow WHERE id < 5;
-- The first request of a transaction, and one whose rows are being read
-- (each with its limit in a transaction of its own, because on a busy machine a RESET could meet the limit, too)
SET LOCAL statement_timeout = '300ms' \; SELECT count(*) FROM slow.slow a, slow.slow b, slow.slow c WHERE a.v * b.v * c.v = 5;
SET LOCAL statement_timeout = '300ms' \; SELECT count(pg_sleep(0.1)) FROM slow.slow a, slow.slow b;
SET LOCAL statement_timeout = '300ms' \; UPDATE slow.slow SET v = 1 WHERE id = (SELECT count(*) FROM slow.slow a, slow.slow b, slow.slow c WHERE a.v * b.v * c.v = 5);
SELECT count(*) FROM slow.slow WHERE v = 1;
-- Slots of canceled requests come back as soon as the engine has noticed
DO $$
BEGIN
  FOR i IN 1..6000 LOOP
    PERFORM count(*) FROM slow.slow WHERE id = i;
    EXIT WHEN (SELECT outstanding_calls = 0 FROM kakehashi_sessions WHERE server_name = 'kakehashi');
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SET client_min_messages = warning;
DROP SCHEMA slow CASCADE;
