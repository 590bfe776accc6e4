-- What does one durable row cost? Ids are far from each other, so that clients do not meet.
\set id random(10000000, 9000000000000)
INSERT INTO events (id, val) VALUES (:id, 1);
