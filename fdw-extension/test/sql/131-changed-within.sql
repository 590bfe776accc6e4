-- A row that a function or trigger of the same statement has changed is changed once: 27000, or left alone, as in PostgreSQL.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA within') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE within.keyed (id int4 PRIMARY KEY, v int4)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE within.plain (id int4, v int4)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
CREATE FOREIGN TABLE of_engine.keyed (id int4 OPTIONS (key 'true'), v int4) SERVER kakehashi OPTIONS (schema_name 'within');
CREATE FOREIGN TABLE of_engine.plain (id int4, v int4) SERVER kakehashi OPTIONS (schema_name 'within');
CREATE TABLE of_heap.keyed (id int4 PRIMARY KEY, v int4);
CREATE TABLE of_heap.plain (id int4, v int4);
DO $do$
DECLARE
  side text;
  name text;
BEGIN
  FOREACH side IN ARRAY ARRAY['of_engine', 'of_heap'] LOOP
    FOREACH name IN ARRAY ARRAY['keyed', 'plain'] LOOP
      EXECUTE format($f$
        CREATE FUNCTION %1$s.set_%2$s(i int, by int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN UPDATE %1$s.%2$s SET v = v + by WHERE id = i; RETURN by; END $$;
        CREATE FUNCTION %1$s.del_%2$s(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM %1$s.%2$s WHERE id = i; RETURN 7; END $$;
        CREATE FUNCTION %1$s.lock_%2$s(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM v FROM %1$s.%2$s WHERE id = i FOR UPDATE; RETURN 5; END $$;
        CREATE FUNCTION %1$s.on_%2$s() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          CASE TG_ARGV[0]
            WHEN 'same' THEN PERFORM %1$s.set_%2$s(OLD.id, 50);
            WHEN 'next' THEN PERFORM %1$s.set_%2$s(OLD.id + 1, 50);
            WHEN 'before' THEN PERFORM %1$s.set_%2$s(OLD.id - 1, 50);
            WHEN 'deleted' THEN PERFORM %1$s.del_%2$s(OLD.id);
            WHEN 'next deleted' THEN PERFORM %1$s.del_%2$s(OLD.id + 1);
            WHEN 'locked' THEN PERFORM %1$s.lock_%2$s(OLD.id);
            WHEN 'undone' THEN
              BEGIN
                PERFORM %1$s.set_%2$s(OLD.id, 50);
                RAISE division_by_zero;
              EXCEPTION WHEN division_by_zero THEN NULL;
              END;
            WHEN 'statement' THEN PERFORM %1$s.set_%2$s(7, 50);
          END CASE;
          RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
        END $$
        $f$, side, name);
    END LOOP;
  END LOOP;
END $do$;
-- Each statement over nine rows. @: the table
CREATE FUNCTION pg_temp.changed(name text, statement text, side_trigger text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  side text;
  result text;
BEGIN
  FOREACH side IN ARRAY ARRAY['of_engine', 'of_heap'] LOOP
    EXECUTE format('DELETE FROM %1$s.%2$s; INSERT INTO %1$s.%2$s SELECT g, 0 FROM generate_series(1, 9) g', side, name);
    IF side_trigger IS NOT NULL THEN
      EXECUTE format('CREATE TRIGGER t BEFORE %s ON %I.%I FOR EACH %s WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION %s.on_%s(%L)', split_part(statement, ' ', 1), side, name,
        CASE side_trigger WHEN 'statement' THEN 'STATEMENT' ELSE 'ROW' END, side, name, side_trigger);
    END IF;
  END LOOP;
  result := both_sides(replace(statement, '@', name), replace('SELECT string_agg(t.id || ''='' || v, '' '' ORDER BY id) FROM @ t WHERE v <> 0 OR id > 6', '@', name));
  IF side_trigger IS NOT NULL THEN
    EXECUTE format('DROP TRIGGER t ON of_engine.%1$I; DROP TRIGGER t ON of_heap.%1$I', name);
  END IF;
  RETURN result;
END $$;
SELECT statement, changed AS keyed, CASE changed WHEN pg_temp.changed('plain', statement) THEN '' ELSE 'other' END AS plain
FROM unnest(ARRAY[
  'UPDATE @ SET v = set_@(id, 1) WHERE id = 1',
  'UPDATE @ SET v = set_@(id + 1, 1) WHERE id < 4',
  'UPDATE @ SET v = set_@(id - 1, 1) WHERE id < 4',
  'UPDATE @ SET v = (SELECT set_@(2, 1)) WHERE id = 2',
  'UPDATE @ SET v = v + 1 WHERE id = 2 AND (SELECT set_@(2, 1)) = 1',
  'UPDATE @ SET v = v + 1 WHERE id IN (2, 3) AND set_@(id, 1) = 1',
  'UPDATE @ SET v = v + 1 WHERE id IN (2, 3) AND set_@(3, 1) = 1',
  'UPDATE @ SET v = v + 1 WHERE id = 2 AND (SELECT set_@(3, 1)) = 1',
  'UPDATE @ SET v = v + 1 WHERE id IN (2, 3) AND (SELECT set_@(3, 1)) = 1 AND id + random() * 0 < 3',
  'UPDATE @ SET v = v + 1 WHERE id IN (2, 3) AND (SELECT set_@(3, 1)) = 1 AND v + random() * 0 < 3',
  'DELETE FROM @ WHERE id = 2 AND set_@(id, 1) = 1',
  'DELETE FROM @ WHERE id IN (2, 3) AND del_@(id) = 7',
  'DELETE FROM @ WHERE id IN (2, 3) AND del_@(3) = 7',
  'DELETE FROM @ WHERE id = 2 AND (SELECT del_@(2)) = 7',
  'UPDATE @ SET v = v + 1 WHERE id = 2 AND del_@(id) = 7',
  'UPDATE @ SET v = v + 1 WHERE id = 2 AND lock_@(id) = 5',
  'UPDATE @ SET v = v + 1 WHERE id = 2 RETURNING set_@(id, 1)',
  'UPDATE @ SET v = v + 1 WHERE id IN (2, 3) RETURNING set_@(3, 1)',
  'WITH x AS (UPDATE @ SET v = 99 WHERE id = 5 AND random() >= 0) UPDATE @ SET v = v + 1 WHERE id IN (5, 6) AND random() >= 0',
  'UPDATE @ SET v = v + 1 FROM (SELECT 2 AS b UNION ALL SELECT 2) q WHERE id = b',
  'INSERT INTO @ SELECT 20, set_@(20, 5) RETURNING set_@(20, 6)',
  'SELECT set_@(id, 2) FROM @ WHERE id < 3 FOR UPDATE',
  'SELECT set_@(id + 1, 2) FROM @ WHERE id < 3 FOR UPDATE'
]) statement, pg_temp.changed('keyed', statement);
SELECT kind, statement, changed AS keyed, CASE changed WHEN pg_temp.changed('plain', statement, kind) THEN '' ELSE 'other' END AS plain
FROM unnest(ARRAY['same', 'next', 'before', 'deleted', 'next deleted', 'locked', 'undone', 'statement']) kind,
  unnest(ARRAY['UPDATE @ SET v = v + 1 WHERE id BETWEEN 6 AND 8', 'DELETE FROM @ WHERE id = 7', 'UPDATE @ SET v = v + 1 WHERE id = 7 AND random() >= 0']) statement,
  pg_temp.changed('keyed', statement, kind)
ORDER BY statement, kind;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA within CASCADE') \gset
