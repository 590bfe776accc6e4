-- UPDATE and DELETE of rows that other tables and subqueries choose are one statement of the engine, if all of it is computed there.
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
EXPLAIN (VERBOSE, COSTS OFF) UPDATE item i SET amount = amount + p.qty FROM part p WHERE p.item = i.id AND p.no = 2;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM item i USING part p, item j WHERE p.item < i.grp AND j.id = p.no AND NOT EXISTS (SELECT FROM part q WHERE q.item = i.id AND q.no = j.grp) RETURNING i.*, p.qty + 1, j.id, i.tableoid::regclass;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE item i SET name = 'm' || i.name FROM part p LEFT JOIN item j ON j.id = p.qty AND j.amount > 1 WHERE p.item = i.id AND p.no = 2 RETURNING i.id, j.id;
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
  'DELETE FROM item USING part p WHERE p.item = grp',
  'DELETE FROM item i USING part p, item j WHERE p.item = i.grp AND j.id = p.no AND NOT EXISTS (SELECT FROM part q WHERE q.item = i.id AND q.no = j.grp) RETURNING j.name',
  'DELETE FROM item i USING part p FULL JOIN item j ON j.id = p.no WHERE p.item = i.grp RETURNING i, j.id',
  'UPDATE item i SET name = ''x'' FROM part p WHERE p.item = i.id RETURNING p',
  'UPDATE item i SET name = (SELECT max(name) FROM item j WHERE j.id < i.id) FROM part p WHERE p.item = i.id',
  'UPDATE item i SET name = h.name FROM heap_chosen.item h, part p WHERE p.item = i.id AND h.id = i.id',
  'UPDATE item i SET grp = s.n FROM (SELECT item, count(*) AS n FROM part GROUP BY item) s WHERE s.item = i.id']) query;

-- The same changes of both, and the same rows returned
CREATE PROCEDURE pg_temp.compare(VARIADIC statements text[]) LANGUAGE plpgsql AS $$
DECLARE
  sql text;
  counts bigint[];
  count bigint;
  rows text;
  returned text[];
BEGIN
  FOREACH sql IN ARRAY statements LOOP
    counts := '{}';
    FOR i IN 1..2 LOOP
      PERFORM set_config('search_path', CASE i WHEN 1 THEN 'chosen' ELSE 'heap_chosen' END, true);
      IF sql ~ 'RETURNING' THEN
        EXECUTE 'WITH c AS (' || sql || ') SELECT count(*), string_agg(c::text, '';'' ORDER BY c::text) FROM c' INTO count, rows;
        returned[i] := rows;
      ELSE
        EXECUTE sql;
        GET DIAGNOSTICS count = ROW_COUNT;
      END IF;
      counts := counts || count;
    END LOOP;
    RAISE NOTICE '% rows, % on heap tables; % differ%', counts[1], counts[2], (SELECT count(*) FROM
      ((TABLE chosen.item EXCEPT ALL TABLE heap_chosen.item) UNION ALL (TABLE heap_chosen.item EXCEPT ALL TABLE chosen.item)) d),
      CASE WHEN returned[1] IS DISTINCT FROM returned[2] THEN '; returned: ' || returned[1] || ' against ' || returned[2] ELSE '' END;
    returned := NULL;
  END LOOP;
  ROLLBACK;
END $$;
CALL pg_temp.compare('UPDATE item i SET amount = amount + 1, name = ''x'' WHERE id < 50 AND NOT EXISTS (SELECT FROM part p WHERE p.item = i.id AND p.qty > i.grp)',
  'UPDATE item SET grp = grp + id, amount = NULL WHERE grp IN (SELECT grp FROM item WHERE amount > 30)',
  'DELETE FROM item WHERE grp NOT IN (1, 2) AND id IN (SELECT item + no FROM part WHERE qty = 3 OR qty IS NULL)',
  'DELETE FROM item i WHERE EXISTS (SELECT FROM part p JOIN item j ON j.id = p.no WHERE p.item = i.id AND j.amount IS NULL)',
  'WITH gone AS (DELETE FROM item WHERE id IN (SELECT item FROM part)) UPDATE item SET name = ''rest'' WHERE id > 400',
  'DELETE FROM item i WHERE NOT EXISTS (SELECT FROM item j WHERE j.id = i.id + 1)');
CALL pg_temp.compare('UPDATE item i SET amount = amount + p.qty, grp = p.no + i.id FROM part p WHERE p.item = i.id AND p.no = 2',
  'UPDATE item i SET name = i.name || j.name, amount = j.amount FROM item j WHERE j.id = i.id + 1 RETURNING i.*, j.*, i.tableoid::regclass::text <> j.name',
  'UPDATE item i SET amount = i.amount + coalesce(j.amount, 100) FROM part p LEFT JOIN item j ON j.id = p.qty AND j.amount > 1 WHERE p.item = i.id AND p.no = 1 RETURNING i, j.id, p.qty IS NULL',
  'UPDATE item i SET name = ''x'' FROM part p RIGHT JOIN item j ON p.item = j.id + 290 AND p.no = 1 WHERE i.id = j.id RETURNING j.name, p.no, i.id',
  'DELETE FROM item i USING part p, part q WHERE p.item = i.id AND q.item = p.item + 1 AND q.no = 3 AND p.no = 0 AND p.qty < q.qty AND EXISTS (SELECT FROM item j WHERE j.grp = i.grp AND j.id > q.item) RETURNING q.item, i.id + p.qty',
  'DELETE FROM item USING part p WHERE p.item = grp AND p.qty = 3 RETURNING item.id',
  'DELETE FROM item USING part p WHERE p.item = item.id',
  'UPDATE item SET name = ''one'' FROM part p JOIN part q ON q.item = p.item + 1 AND q.no = p.no AND q.no = 0 WHERE item.id = p.item + 400 RETURNING 1');
-- A new value that is too large is an error, one that is returned is not computed again.
BEGIN;
UPDATE item i SET grp = i.grp * 70000 FROM part p WHERE p.item = i.id AND p.no = 0 AND i.id BETWEEN 11 AND 13 RETURNING i.grp, p.qty;
UPDATE item i SET grp = i.grp * 70000 FROM part p WHERE p.item = i.id AND p.no = 0 AND i.id BETWEEN 11 AND 13 RETURNING i.grp, p.qty;
ROLLBACK;
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
DELETE FROM item i USING part p WHERE p.item = i.id AND p.no = 0 AND i.id = 5 RETURNING i.id, p.qty;
SELECT outstanding_calls FROM public.kakehashi_sessions;
RESET search_path;
