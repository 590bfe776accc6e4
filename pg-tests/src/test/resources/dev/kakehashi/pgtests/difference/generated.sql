--engine: CREATE TABLE diff.made (id int4 PRIMARY KEY, v int4, twice int4, t text, shout text)
--heap: CREATE TABLE made (id int4 PRIMARY KEY, v int4, twice int4 GENERATED ALWAYS AS (v * 2) STORED, t text, shout text GENERATED ALWAYS AS (upper(t) || '!') STORED)
--foreign: CREATE FOREIGN TABLE made (id int4 OPTIONS (key 'true'), v int4, twice int4 GENERATED ALWAYS AS (v * 2) STORED, t text, shout text GENERATED ALWAYS AS (upper(t) || '!') STORED) SERVER kakehashi OPTIONS (schema_name 'diff')
INSERT INTO made (id, v, t) VALUES (1, 1, 'a'), (2, NULL, NULL) RETURNING *;
INSERT INTO made SELECT g, g, DEFAULT FROM generate_series(3, 4) g;
INSERT INTO made (id, v, t) SELECT g, g, 't' || g FROM generate_series(10, 1100) g;
SELECT count(*), sum(twice), min(shout), max(shout) FROM made;
INSERT INTO made VALUES (5, 5, 5, 'x', 'y');
INSERT INTO made VALUES (5, 5, DEFAULT, 'x', DEFAULT) RETURNING twice, shout;
UPDATE made SET v = v + 1 WHERE id < 6 RETURNING *;
UPDATE made SET v = v + 1, t = t || '?' WHERE v > 1090 RETURNING id, twice, shout;
UPDATE made SET t = 'same' WHERE id = 3 RETURNING twice, shout;
UPDATE made SET twice = 9 WHERE id = 3;
UPDATE made SET twice = DEFAULT WHERE id = 3;
UPDATE made SET v = 2147483647 WHERE id = 3;
SELECT id FROM made WHERE twice > 2150 AND shout LIKE 'T%' ORDER BY id;
DELETE FROM made WHERE twice % 4 = 0 RETURNING id;
SELECT * FROM made WHERE id < 20 ORDER BY id;
