-- Subqueries with values of the outer row are asked about for many rows in one request, and say what subqueries over heap tables say.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA asked') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE asked.item (id int4 PRIMARY KEY, grp int4, name text, amount numeric)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE INDEX item_grp ON asked.item (grp)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE asked.part (item int4, no int4, qty int4, note text, PRIMARY KEY (item, no))') \gset
CREATE SCHEMA asked;
IMPORT FOREIGN SCHEMA asked FROM SERVER kakehashi INTO asked;
CREATE SCHEMA heap_asked;
CREATE TABLE heap_asked.item AS
  SELECT i AS id, nullif(i % 90, 7) AS grp, CASE WHEN i % 5 > 0 THEN 'n' || i % 40 END AS name, (i % 17) * 2.5 AS amount FROM generate_series(1, 3000) i;
CREATE TABLE heap_asked.part AS
  SELECT i % 2500 AS item, i / 2500 AS no, nullif(i % 23, 4) AS qty, 'n' || i % 40 AS note FROM generate_series(2500, 12499) i;
CREATE INDEX ON heap_asked.part (item);
CREATE TABLE heap_asked.wanted AS SELECT i AS g FROM generate_series(0, 99, 3) i;
INSERT INTO asked.item SELECT * FROM heap_asked.item;
INSERT INTO asked.part SELECT * FROM heap_asked.part;
SELECT kakehashi_execute('kakehashi', 'ANALYZE') \gset
ANALYZE heap_asked.item, heap_asked.part, heap_asked.wanted;
-- Which index there is comes with the statistics, and these are there now.
SET kakehashi.column_statistics = on;

-- The same over both schemas; a difference is a row. requests: what the scans of subqueries have sent
CREATE FUNCTION pg_temp.difference(query text, fewest bigint DEFAULT 0, most bigint DEFAULT 100) RETURNS TABLE (side text, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
  line text;
  requests bigint;
BEGIN
  SET LOCAL search_path = asked, heap_asked;
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'SubPlan' THEN
      requests := 1;
    ELSIF requests IS NOT NULL AND line ~ 'Remote Requests' THEN
      requests := requests + substring(line FROM '\d+')::bigint;
    END IF;
  END LOOP;
  IF requests IS NULL OR requests NOT BETWEEN fewest AND most THEN
    RAISE EXCEPTION '% requests for %', requests, query;
  END IF;
  EXECUTE 'CREATE TEMP TABLE foreign_result ON COMMIT DROP AS ' || query;
  SET LOCAL search_path = heap_asked;
  EXECUTE 'CREATE TEMP TABLE heap_result ON COMMIT DROP AS ' || query;
  RETURN QUERY SELECT 'foreign only', count(*) FROM (SELECT * FROM foreign_result EXCEPT ALL SELECT * FROM heap_result) d
    UNION ALL SELECT 'heap only', count(*) FROM (SELECT * FROM heap_result EXCEPT ALL SELECT * FROM foreign_result) d
    UNION ALL SELECT 'both', count(*) FROM foreign_result;
  DROP TABLE foreign_result, heap_result;
END $$;
-- In conditions, with nulls, text and rows that find nothing
SELECT * FROM pg_temp.difference('SELECT i.* FROM item i WHERE i.amount > (SELECT 0.5 * sum(p.qty) FROM part p WHERE p.item = i.id)');
SELECT * FROM pg_temp.difference('SELECT i.id FROM item i WHERE (SELECT count(*) FROM part p WHERE p.item = i.id AND p.note = i.name) = 2');
SELECT * FROM pg_temp.difference('SELECT i.id FROM item i WHERE (SELECT min(p.note) FROM part p WHERE p.item = i.id) IS NULL');
SELECT * FROM pg_temp.difference('SELECT i.id FROM item i WHERE (SELECT sum(p.qty) FROM part p WHERE p.item = i.id) > (SELECT sum(p.no) FROM part p WHERE p.item = i.grp)');
-- All rows ask the same
SELECT * FROM pg_temp.difference('SELECT i.id FROM item i WHERE i.grp = 5 AND i.amount > (SELECT 0.1 * sum(p.qty) FROM part p WHERE p.item = i.grp)', 1, 1);
-- A condition that is checked here comes first
SELECT * FROM pg_temp.difference('SELECT i.id FROM item i WHERE initcap(i.name) <> ''N7'' AND (SELECT max(p.qty) FROM part p WHERE p.item = i.id) > 5');
-- In columns
SELECT * FROM pg_temp.difference('SELECT i.id, (SELECT avg(p.qty) FROM part p WHERE p.item = i.id) AS a, (SELECT count(*) FROM part p WHERE p.item = i.grp) AS n FROM item i');
-- Rows of a join that looks up by an index
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT * FROM pg_temp.difference('SELECT w.g, i.id FROM wanted w JOIN item i ON i.grp = w.g WHERE i.amount > (SELECT sum(p.qty) FROM part p WHERE p.item = i.id AND p.qty <> w.g)');
SELECT * FROM pg_temp.difference('SELECT i.id FROM item i WHERE i.grp IN (SELECT g % 50 FROM wanted) AND i.amount > (SELECT sum(p.qty) FROM part p WHERE p.item = i.id)');
SELECT * FROM pg_temp.difference('SELECT w.g, i.id, (SELECT max(p.note) FROM part p WHERE p.item = i.id) AS m FROM wanted w LEFT JOIN item i ON i.grp = w.g');
SET search_path = asked;
EXPLAIN (COSTS OFF) SELECT w.g, i.id FROM heap_asked.wanted w JOIN item i ON i.grp = w.g;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
-- A subquery within the subquery
SELECT * FROM pg_temp.difference('SELECT i.id FROM item i WHERE i.id < 30 AND i.amount > (SELECT sum(p.qty) FROM part p WHERE p.item = i.id AND p.qty >= (SELECT min(q.qty) FROM part q WHERE q.item = p.no))', 1, 5000);
-- What may not be evaluated is not: the branch of a CASE, behind a volatile function, groups
SELECT * FROM pg_temp.difference('SELECT i.id, CASE WHEN i.grp <> 0 THEN (SELECT sum(p.qty / i.grp) FROM part p WHERE p.item = i.id) END AS s FROM item i WHERE id < 40', 30, 50);
SELECT count(*) FROM item i WHERE id < 20 AND random() < 2 AND i.amount > (SELECT sum(p.qty) FROM part p WHERE p.item = i.id);
SELECT count(*) FROM item i WHERE id < 10 AND (SELECT p.item FROM part p WHERE p.item = i.id GROUP BY p.item) = i.id;

-- An error in one of them
SELECT count(*) FROM item i WHERE id < 100 AND (SELECT sum(p.qty / i.grp) FROM part p WHERE p.item = i.id) > 0;
-- An error that PostgreSQL would not reach is none
SELECT count(*) FROM (SELECT i.id FROM item i WHERE (SELECT sum(p.qty / i.grp) FROM part p WHERE p.item = i.id) IS NOT NULL LIMIT 3) l;
SELECT count(*) FROM (SELECT i.id FROM item i WHERE (SELECT count(*) FROM part p WHERE p.item = 10 / i.grp) >= 0 LIMIT 3) l;
-- LIMIT ends it early; a cursor goes on over what was foreseen before a rollback
SELECT i.id, (SELECT sum(p.qty) FROM part p WHERE p.item = i.id) AS s FROM item i LIMIT 0;
SELECT count(*) FROM (SELECT i.id FROM item i WHERE i.amount > (SELECT sum(p.qty) FROM part p WHERE p.item = i.id) LIMIT 3) l;
BEGIN;
DECLARE c CURSOR FOR SELECT i.id, (SELECT sum(p.no) FROM part p WHERE p.item = i.id) AS s FROM item i WHERE i.id BETWEEN 1 AND 400 ORDER BY i.id;
FETCH 2 FROM c;
SAVEPOINT s;
FETCH 2 FROM c;
UPDATE part SET no = no + 100 WHERE item < 10;
ROLLBACK TO s;
FETCH 2 FROM c;
MOVE 200 IN c;
FETCH 1 FROM c;
CLOSE c;
-- Changes of the own transaction are seen
UPDATE part SET qty = 1000 WHERE item = 5;
SELECT id FROM item i WHERE i.id < 10 AND (SELECT sum(p.qty) FROM part p WHERE p.item = i.id) >= 4000;
ROLLBACK;
-- More subqueries than there are response slots
SELECT count(*) FROM item i WHERE i.id < 20 AND
  (SELECT sum(p.qty) FROM part p WHERE p.item = i.id) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 1) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 2) +
  (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 3) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 4) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 5) +
  (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 6) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 7) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 8) +
  (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 9) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 10) + (SELECT sum(p.qty) FROM part p WHERE p.item = i.id + 11) > 0;
RESET search_path;
RESET kakehashi.column_statistics;
SELECT outstanding_calls FROM kakehashi_sessions;
-- Columns that are equal to those of a table in EXISTS, or null because of a LEFT JOIN that finds nothing, are not asked of that table.
SET search_path = asked, heap_asked;
SET kakehashi.column_statistics = off;
EXPLAIN (VERBOSE, COSTS OFF) SELECT i.id FROM asked.item i WHERE EXISTS (SELECT FROM asked.part p WHERE p.item = i.id) ORDER BY i.id;
SELECT i.id, i.name FROM asked.item i WHERE EXISTS (SELECT FROM asked.part p WHERE p.item = i.id AND p.qty = 3) ORDER BY i.id LIMIT 3;
SELECT w.g, i.name FROM heap_asked.wanted w JOIN asked.item i ON i.id = w.g WHERE i.id IN (SELECT item FROM asked.part WHERE qty = 3) ORDER BY w.g LIMIT 3;
SELECT i.id, j.name, coalesce(j.grp, -1) FROM asked.item i LEFT JOIN asked.item j ON j.id = i.id + 1 WHERE j.id IS NULL ORDER BY j.name, i.id;
SELECT p.note, count(*) FROM asked.item i LEFT JOIN asked.part p ON p.item = i.id WHERE p.item IS NULL GROUP BY p.note;
RESET kakehashi.column_statistics;
RESET search_path;
