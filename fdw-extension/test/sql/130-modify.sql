-- INSERT, UPDATE and DELETE change the engine's table, and RETURNING gives what is there now.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS items');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE items (id int PRIMARY KEY, name text NOT NULL, price numeric(10,2), stock int)');
CREATE SCHEMA m;
SET search_path = m, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (items) FROM SERVER kakehashi INTO m;
INSERT INTO items VALUES (1, 'nail', 0.05, 1000), (2, 'hammer', 12.5, 10), (3, 'saw', 20, 5);
INSERT INTO items (id, name) VALUES (4, 'glue') RETURNING *;
INSERT INTO items VALUES (5, 'rope', 1.005, 7) RETURNING price, upper(name);
-- As one statement of the engine
UPDATE items SET stock = stock + 1 WHERE id IN (1, 2) RETURNING id, stock;
UPDATE items SET price = NULL, name = 'super' WHERE id = 4 RETURNING id, name, price IS NULL AS no_price;
UPDATE items SET stock = 1 / (stock - 5) WHERE id = 3;
-- Row by row: values or conditions that only PostgreSQL computes
UPDATE items SET name = initcap(name) WHERE id <= 2 RETURNING id, name;
UPDATE items SET price = price * 2 WHERE upper(name) = 'SAW' RETURNING *;
UPDATE items SET id = id + 100 WHERE initcap(name) = 'Rope' RETURNING id;
CREATE TEMP TABLE changes AS SELECT * FROM (VALUES (1, 5), (2, -5), (99, 1)) v (id, delta);
UPDATE items SET stock = stock + delta FROM changes WHERE changes.id = items.id RETURNING items.id, stock, delta;
DELETE FROM items USING changes WHERE changes.id = items.id AND delta < 0 RETURNING items.*;
DELETE FROM items WHERE id = 105;
SELECT * FROM items ORDER BY id;
-- Every row is changed once, although the change makes it match again
UPDATE items SET id = id + 10 WHERE initcap(name) = initcap(name);
SELECT id FROM items ORDER BY id;
UPDATE items SET id = id + 10 WHERE id > 0;
SELECT id FROM items ORDER BY id;
-- Local triggers see rows, and change them
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'BEFORE' THEN
    NEW.name := NEW.name || '!';
    RETURN NEW;
  END IF;
  RAISE NOTICE '% % %', TG_OP, OLD, NEW;
  RETURN NULL;
END $$;
CREATE TRIGGER before_row BEFORE INSERT OR UPDATE ON items FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER after_row AFTER INSERT OR UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION note();
INSERT INTO items VALUES (50, 'new', 1, 1);
UPDATE items SET stock = 2 WHERE id = 50;
DELETE FROM items WHERE id = 50;
DROP TRIGGER before_row ON items;
DROP TRIGGER after_row ON items;
-- A view with a check
CREATE VIEW cheap AS SELECT * FROM items WHERE price < 10 WITH CHECK OPTION;
INSERT INTO cheap VALUES (60, 'dear', 11, 1);
INSERT INTO cheap VALUES (61, 'cheap', 9, 1);
UPDATE cheap SET price = 12 WHERE id = 61;
DELETE FROM cheap WHERE id = 61;
-- Many rows at once: batches, of which some are longer than a frame of the queue
INSERT INTO items SELECT g, 'item ' || g, g / 100.0, g FROM generate_series(1000, 6000) g;
SELECT count(*), sum(stock), min(name), max(price) FROM items WHERE id >= 1000;
INSERT INTO items SELECT g, repeat(chr(65 + g % 26), 20000), 1, g FROM generate_series(10001, 10100) g;
SELECT count(*), sum(length(name)) FROM items WHERE id > 10000;
COPY items FROM stdin;
20001	copied	1.5	\N
20002	\\	\N	2
\.
SELECT * FROM items WHERE id > 20000 ORDER BY id;
\copy items FROM PROGRAM 'seq 50001 53500 | sed s/$/,copied,1,1/' CSV
SELECT count(*), min(id), max(id) FROM items WHERE id > 50000;
-- An error of a row comes when COPY is lines further, or has ended: its context is the table, and no line.
\copy items FROM PROGRAM 'seq 53000 56000 | sed s/$/,copied,1,1/' CSV
COPY items FROM stdin;
20003	copied	1.5	\N
20002	copied	\N	2
20004	copied	\N	2
\.
COPY items FROM stdin;
20003	copied	1.5	none
\.
SELECT count(*), min(id), max(id) FROM items WHERE id > 50000;
-- A batch is all or nothing
\set VERBOSITY sqlstate
INSERT INTO items SELECT g, CASE WHEN g < 30100 THEN 'x' END, 1, 1 FROM generate_series(30001, 30100) g;
\set VERBOSITY default
SELECT count(*) FROM items WHERE id BETWEEN 30001 AND 40000;
-- Partitions: rows go where they belong
CREATE TABLE parts (id int, name text COLLATE "C", price numeric(10,2), stock int) PARTITION BY RANGE (id);
CREATE TABLE parts_local PARTITION OF parts FOR VALUES FROM (0) TO (40000);
CREATE FOREIGN TABLE parts_remote PARTITION OF parts FOR VALUES FROM (40000) TO (50000)
  SERVER kakehashi OPTIONS (schema_name 'public', table_name 'items');
ALTER FOREIGN TABLE parts_remote ALTER COLUMN id OPTIONS (ADD key 'true');
INSERT INTO parts SELECT g, 'p', 1, 1 FROM generate_series(39990, 40009) g;
SELECT tableoid::regclass, count(*) FROM parts WHERE id < 41000 AND id >= 39000 GROUP BY 1 ORDER BY 1;
UPDATE parts SET stock = 2 WHERE id BETWEEN 39999 AND 40000 RETURNING tableoid::regclass, id, stock;
-- ... and stay there
EXPLAIN (VERBOSE, COSTS OFF) UPDATE parts_remote SET stock = 2 WHERE id = 40001;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE parts SET id = id - 1 WHERE id = 40001;
UPDATE parts SET id = id - 39000 WHERE id = 40001;
UPDATE parts_remote SET id = 50000 WHERE id = 40001;
UPDATE parts SET id = 41000 WHERE id = 40009 RETURNING tableoid::regclass, id;
INSERT INTO parts_remote VALUES (40100, 'here', 1, 1), (50000, 'elsewhere', 1, 1);
SELECT id FROM parts WHERE id BETWEEN 40007 AND 50000 ORDER BY id;
-- A statement reads the table as it was when it began, row after row of its own changes (subqueries, stable functions)
CREATE FOREIGN TABLE sums (id int OPTIONS (key 'true'), stock int) SERVER kakehashi OPTIONS (schema_name 'public', table_name 'items');
CREATE FUNCTION after(i int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM m.sums WHERE id > i AND id < 44000';
INSERT INTO parts_remote SELECT g, 'sum', 1, 1 FROM generate_series(43001, 43006) g;
UPDATE sums a SET stock = (SELECT sum(b.stock) FROM sums b WHERE b.id BETWEEN 43001 AND a.id) WHERE id > 43000 AND id < 44000;
SELECT * FROM sums WHERE id > 43000 AND id < 44000 ORDER BY id;
DELETE FROM sums WHERE id > 43000 AND id < 44000 AND after(id) > 3;
DELETE FROM sums a WHERE id > 43000 AND id < 44000 AND EXISTS (SELECT 1 FROM sums b WHERE b.id = a.id + 1 + (random() * 0)::int) RETURNING id;
SELECT * FROM sums WHERE id > 43000 AND id < 44000 ORDER BY id;
-- What a domain refuses is refused when a row gets it.
CREATE DOMAIN whole AS int CHECK (VALUE >= 0);
CREATE FOREIGN TABLE stocks (id int OPTIONS (key 'true'), stock whole) SERVER kakehashi OPTIONS (schema_name 'public', table_name 'items');
UPDATE stocks SET stock = -1 WHERE id = -5;
UPDATE stocks SET stock = -1 WHERE id = 40000;
UPDATE stocks SET stock = 3 WHERE id = 40000 RETURNING stock;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA m CASCADE;
