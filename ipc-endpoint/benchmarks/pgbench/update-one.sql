-- What does one durable change by key cost?
\set id random(1, 100000)
UPDATE accounts SET balance = balance + 1 WHERE id = :id;
