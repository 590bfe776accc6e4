-- What does a transaction of ten statements cost?
\set a random(1, 50000)
\set b random(50001, 100000)
\set c :a + :b
BEGIN;
SELECT balance FROM accounts WHERE id = :a;
SELECT balance FROM accounts WHERE id = :b;
UPDATE accounts SET balance = balance - 1 WHERE id = :a;
UPDATE accounts SET balance = balance + 1 WHERE id = :b;
SELECT grp, val FROM numbers WHERE id = :a;
SELECT grp, val FROM numbers WHERE id = :b;
SELECT val FROM numbers WHERE id = :c;
SELECT balance FROM accounts WHERE id = :a;
SELECT balance FROM accounts WHERE id = :b;
COMMIT;
