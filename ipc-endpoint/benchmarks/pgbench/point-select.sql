-- What does one row by its key cost? Prepared.
\set id random(1, 1000000)
SELECT grp, val FROM numbers WHERE id = :id;
