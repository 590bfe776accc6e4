--engine: CREATE TABLE diff.part_low (id int4 PRIMARY KEY, v int4, t text)
--engine: CREATE TABLE diff.part_high (id int4 PRIMARY KEY, v int4, t text)
CREATE TABLE parts (id int4, v int4 DEFAULT 5, t text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE part_local PARTITION OF parts FOR VALUES FROM (0) TO (100);
--heap: CREATE TABLE part_low PARTITION OF parts FOR VALUES FROM (100) TO (200)
--heap: ALTER TABLE part_low ADD PRIMARY KEY (id)
--heap: CREATE TABLE part_high PARTITION OF parts FOR VALUES FROM (200) TO (300)
--heap: ALTER TABLE part_high ADD PRIMARY KEY (id)
--foreign: CREATE FOREIGN TABLE part_low PARTITION OF parts FOR VALUES FROM (100) TO (200) SERVER kakehashi OPTIONS (schema_name 'diff')
--foreign: ALTER FOREIGN TABLE part_low ALTER id OPTIONS (ADD key 'true')
--foreign: CREATE FOREIGN TABLE part_high PARTITION OF parts FOR VALUES FROM (200) TO (300) SERVER kakehashi OPTIONS (schema_name 'diff')
--foreign: ALTER FOREIGN TABLE part_high ALTER id OPTIONS (ADD key 'true')
INSERT INTO parts SELECT g * 10, g, 'p' || g FROM generate_series(0, 29) g;
INSERT INTO parts VALUES (5, 1, 'one'), (105, 2, 'two'), (205, 3, 'three') RETURNING tableoid::regclass::text LIKE '%part_%', *;
INSERT INTO parts VALUES (400, 1, 'nowhere');
INSERT INTO parts (id) VALUES (150), (151);
INSERT INTO parts (id) VALUES (151), (152) ON CONFLICT DO NOTHING RETURNING id, v;
SELECT count(*), sum(v) FROM parts;
SELECT split_part(tableoid::regclass::text, '.', 2) IN ('', 'part_low'), count(*) FROM parts WHERE id < 200 AND id >= 100 GROUP BY 1;
SELECT * FROM parts WHERE id IN (10, 110, 210) ORDER BY id;
SELECT a.id, b.id FROM parts a JOIN parts b ON a.v = b.v AND a.id < b.id ORDER BY 1, 2;
SELECT t, count(*) FROM parts GROUP BY t HAVING count(*) > 1 ORDER BY 1;
SELECT id, t FROM parts ORDER BY t DESC NULLS LAST, id LIMIT 7;
UPDATE parts SET v = v + 100 WHERE id % 20 = 0;
UPDATE parts SET t = upper(t) WHERE id BETWEEN 90 AND 120 RETURNING id, t;
UPDATE parts SET id = id + 1 WHERE id IN (60, 160) RETURNING id, v;
UPDATE part_local SET id = 500 WHERE id = 0;
DELETE FROM parts WHERE v > 115 RETURNING id;
DELETE FROM parts USING (VALUES (10), (110), (210)) gone (id) WHERE gone.id = parts.id RETURNING parts.id;
BEGIN;
TRUNCATE parts;
SELECT count(*) FROM parts;
ROLLBACK;
SELECT * FROM parts ORDER BY id;
ALTER TABLE parts DETACH PARTITION part_high;
SELECT count(*) FROM parts;
SELECT count(*) FROM part_high;
