-- UPDATE and DELETE of rows that subqueries choose are one statement of the engine, if all of it is computed there.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA chosen') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE chosen.item (id int4 PRIMARY KEY, grp int4, name text, amount numeric)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE chosen.part (item int4, no int4, qty int4, PRIMARY KEY (item, no))') \gset
CREATE SCHEMA chosen;
IMPORT FOREIGN SCHEMA chosen FROM SERVER kakehashi INTO chosen;
CREATE SCHEMA heap_chosen;
CREATE TABLE heap_chosen.item AS SELECT i AS id, nullif(i % 50, 7) AS grp, 'n' || i % 40 AS name, (i % 17) * 2.5 AS amount FROM generate_series(1, 500) i;
CREATE TABLE heap_chosen.part AS SELECT i % 300 AS item, i / 300 AS no, nullif(i % 23, 4) AS qty FROM generate_series(0, 1199) i;
INSERT INTO chosen.item SELECT * FROM heap_chosen.item;
INSERT INTO chosen.part SELECT * FROM heap_chosen.part;
SET search_path = chosen;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM item i WHERE id < 50 AND EXISTS (SELECT FROM part p WHERE p.item = i.grp AND p.qty = 3);
EXPLAIN (VERBOSE, COSTS OFF) UPDATE item i SET amount = amount + 1, name = 'x' WHERE NOT EXISTS (SELECT FROM part p WHERE p.item = i.id);
-- The same or not: what PostgreSQL has to see, to compute or to check
CREATE FUNCTION pg_temp.is_one_statement(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF line ~ 'Foreign (Update|Delete)' THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN false;
END $$;
SELECT query, pg_temp.is_one_statement(query) FROM unnest(ARRAY[
  'DELETE FROM item WHERE grp IN (SELECT item FROM part WHERE qty = 3)',
  'DELETE FROM item i WHERE EXISTS (SELECT FROM part p JOIN item j ON j.id = p.no WHERE p.item = i.grp AND j.amount > 1)',
  'DELETE FROM item i WHERE EXISTS (SELECT FROM part p WHERE p.item = i.grp) AND NOT EXISTS (SELECT FROM item j WHERE j.id = i.id + 1 AND j.name > i.name)',
  'DELETE FROM item WHERE grp IN (SELECT item FROM part WHERE qty = 3) RETURNING id',
  'UPDATE item SET name = initcap(name) WHERE grp IN (SELECT item FROM part WHERE qty = 3)',
  'DELETE FROM item i WHERE EXISTS (SELECT FROM part p WHERE p.item = i.grp AND initcap(i.name) > ''N3'')',
  'DELETE FROM item WHERE id IN (SELECT id FROM heap_chosen.item)',
  'DELETE FROM heap_chosen.item WHERE id IN (SELECT id FROM item)',
  'DELETE FROM item USING part p WHERE p.item = grp']) query;

-- The same changes of both; a difference is a row
CREATE PROCEDURE pg_temp.compare(VARIADIC statements text[]) LANGUAGE plpgsql AS $$
DECLARE
  sql text;
  counts bigint[];
  count bigint;
BEGIN
  FOREACH sql IN ARRAY statements LOOP
    counts := '{}';
    FOR i IN 1..2 LOOP
      PERFORM set_config('search_path', CASE i WHEN 1 THEN 'chosen' ELSE 'heap_chosen' END, true);
      EXECUTE sql;
      GET DIAGNOSTICS count = ROW_COUNT;
      counts := counts || count;
    END LOOP;
    RAISE NOTICE '% rows, % on heap tables; % differ', counts[1], counts[2], (SELECT count(*) FROM
      ((TABLE chosen.item EXCEPT ALL TABLE heap_chosen.item) UNION ALL (TABLE heap_chosen.item EXCEPT ALL TABLE chosen.item)) d);
  END LOOP;
  ROLLBACK;
END $$;
CALL pg_temp.compare('UPDATE item i SET amount = amount + 1, name = ''x'' WHERE id < 50 AND NOT EXISTS (SELECT FROM part p WHERE p.item = i.id AND p.qty > i.grp)',
  'UPDATE item SET grp = grp + id, amount = NULL WHERE grp IN (SELECT grp FROM item WHERE amount > 30)',
  'DELETE FROM item WHERE grp NOT IN (1, 2) AND id IN (SELECT item + no FROM part WHERE qty = 3 OR qty IS NULL)',
  'DELETE FROM item i WHERE EXISTS (SELECT FROM part p JOIN item j ON j.id = p.no WHERE p.item = i.id AND j.amount IS NULL)',
  'WITH gone AS (DELETE FROM item WHERE id IN (SELECT item FROM part)) UPDATE item SET name = ''rest'' WHERE id > 400',
  'DELETE FROM item i WHERE NOT EXISTS (SELECT FROM item j WHERE j.id = i.id + 1)');
-- With values that come later, and in a cached plan
PREPARE remove(int, int) AS DELETE FROM item WHERE id < $1 AND grp IN (SELECT item FROM part WHERE qty = $2);
SET plan_cache_mode = force_generic_plan;
BEGIN;
EXECUTE remove(100, 3);
EXECUTE remove(200, 5);
EXECUTE remove(500, NULL);
SELECT count(*) FROM item;
ROLLBACK;
RESET plan_cache_mode;
-- A row trigger sees each row.
CREATE FUNCTION pg_temp.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% %', TG_OP, OLD.id; RETURN OLD; END $$;
CREATE TRIGGER note BEFORE DELETE ON item FOR EACH ROW EXECUTE FUNCTION pg_temp.note();
DELETE FROM item WHERE id = 3 AND id IN (SELECT item FROM part WHERE qty < 4);
SELECT outstanding_calls FROM public.kakehashi_sessions;
RESET search_path;
