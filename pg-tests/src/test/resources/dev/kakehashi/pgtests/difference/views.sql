--engine: CREATE TABLE diff.base (id int4 PRIMARY KEY, v int4, t text)
--heap: CREATE TABLE base (id int4 PRIMARY KEY, v int4 DEFAULT 7, t text COLLATE "C" DEFAULT 'd')
--foreign: CREATE FOREIGN TABLE base (id int4 OPTIONS (key 'true'), v int4 DEFAULT 7, t text COLLATE "C" DEFAULT 'd') SERVER kakehashi OPTIONS (schema_name 'diff')
CREATE VIEW low AS SELECT id, v, t FROM base WHERE v < 10;
CREATE VIEW checked AS SELECT id, v, t FROM base WHERE v < 10 WITH CHECK OPTION;
CREATE VIEW nested AS SELECT id, v AS value FROM low WHERE id < 100 WITH LOCAL CHECK OPTION;
CREATE VIEW deep AS SELECT id, v AS value FROM low WHERE id < 100 WITH CASCADED CHECK OPTION;
CREATE VIEW computed AS SELECT id, v, upper(t) AS t FROM base;
INSERT INTO low VALUES (1, 1, 'a'), (2, 20, 'invisible');
INSERT INTO low (id) VALUES (3) RETURNING *;
INSERT INTO base VALUES (4, DEFAULT, DEFAULT), (5, NULL, NULL) RETURNING *;
INSERT INTO base DEFAULT VALUES;
INSERT INTO base (id) SELECT g FROM generate_series(30, 35) g;
SELECT * FROM low ORDER BY id;
UPDATE low SET v = v + 8 RETURNING *;
SELECT * FROM base ORDER BY id;
INSERT INTO checked VALUES (6, 6, 'ok') RETURNING id;
INSERT INTO checked VALUES (7, 17, 'refused');
INSERT INTO checked VALUES (8, 8, 'ok'), (9, 19, 'refused');
INSERT INTO checked SELECT g, g, 'many' FROM generate_series(8, 12) g;
UPDATE checked SET v = 20 WHERE id = 6;
UPDATE checked SET v = 9 WHERE id = 6 RETURNING *;
UPDATE checked SET t = initcap(t), v = v - 1 RETURNING id, v, t;
DELETE FROM checked WHERE v = 8 RETURNING id;
INSERT INTO nested VALUES (50, 50);
INSERT INTO nested VALUES (150, 5);
INSERT INTO deep VALUES (51, 51);
INSERT INTO deep VALUES (52, 5) RETURNING *;
UPDATE deep SET value = 70 WHERE id = 52;
UPDATE computed SET v = 3 WHERE t = 'D' RETURNING *;
UPDATE computed SET t = 'x';
DELETE FROM computed WHERE id = 3;
SELECT * FROM base ORDER BY id;
ALTER TABLE base ALTER v SET DEFAULT 70;
ALTER TABLE base ALTER t SET DEFAULT upper('new');
INSERT INTO base (id) VALUES (60) RETURNING *;
UPDATE base SET v = DEFAULT, t = DEFAULT WHERE id = 1 RETURNING *;
ALTER TABLE base ADD COLUMN local_only int4 GENERATED ALWAYS AS (v * 2) STORED;
