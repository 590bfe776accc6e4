-- What PostgreSQL refuses for foreign tables and the engine does: the error says how, and that way works.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS hinted') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE hinted (id int, v int)') \gset
CREATE FOREIGN TABLE hinted (id int, v int) SERVER kakehashi OPTIONS (schema_name 'public');
CREATE VIEW of_hinted AS SELECT * FROM hinted;
INSERT INTO hinted VALUES (1, 1);
MERGE INTO hinted t USING (VALUES (1, 5), (2, 6)) s (id, v) ON s.id = t.id
  WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v);
DO $$ BEGIN EXECUTE 'MERGE INTO hinted t USING hinted s ON false WHEN MATCHED THEN DELETE'; END $$;
SELECT * FROM hinted TABLESAMPLE BERNOULLI (10);
CREATE INDEX ON hinted (v);
ALTER TABLE hinted ADD PRIMARY KEY (id);
ALTER TABLE hinted ADD UNIQUE (id);
ALTER TABLE hinted ADD FOREIGN KEY (id) REFERENCES hinted;
-- A partition has the collation of its parent.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE hinted_part (id int PRIMARY KEY, name text)') \gset
IMPORT FOREIGN SCHEMA public LIMIT TO (hinted_part) FROM SERVER kakehashi INTO public;
CREATE TABLE hinted_parent (id int, name text) PARTITION BY RANGE (id);
ALTER TABLE hinted_parent ATTACH PARTITION hinted_part FOR VALUES FROM (0) TO (10);
CREATE TABLE hinted_parent_c (id int, name text COLLATE "C") PARTITION BY RANGE (id);
ALTER TABLE hinted_parent_c ALTER id SET NOT NULL;
ALTER TABLE hinted_parent_c ATTACH PARTITION hinted_part FOR VALUES FROM (0) TO (10);
INSERT INTO hinted_parent_c VALUES (1, 'one');
SELECT tableoid::regclass, * FROM hinted_parent_c;
DROP TABLE hinted_parent, hinted_parent_c;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE hinted_part') \gset
-- The same error of another relation is PostgreSQL's own.
CREATE INDEX ON of_hinted (v);
-- As the hints say
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE hinted ADD PRIMARY KEY (id)');
SELECT kakehashi_execute('kakehashi', 'CREATE INDEX ON hinted (v)');
SELECT kakehashi_execute('kakehashi', 'MERGE INTO hinted t USING (VALUES (1, 5), (2, 6)) s (id, v) ON s.id = t.id
  WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)');
SELECT * FROM kakehashi_query('kakehashi', 'SELECT * FROM hinted TABLESAMPLE BERNOULLI (100) ORDER BY id') AS (id int, v int);
SET client_min_messages = warning;
DROP FOREIGN TABLE hinted CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE hinted') \gset
