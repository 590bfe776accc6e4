-- Hundreds of results are open in one session, wherever they stand, and other statements go on.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA of_engine') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE of_engine.t (id int4 PRIMARY KEY, v text)') \gset
IMPORT FOREIGN SCHEMA of_engine FROM SERVER kakehashi INTO public;
CREATE SCHEMA of_engine;
ALTER FOREIGN TABLE t SET SCHEMA of_engine;
CREATE SCHEMA of_heap;
CREATE TABLE of_heap.t (id int4 PRIMARY KEY, v text);
INSERT INTO of_heap.t SELECT i, repeat(i::text, 60) FROM generate_series(1, 12000) i;
INSERT INTO of_engine.t SELECT * FROM of_heap.t;
-- Cursors by turns, which show what was there when they were declared; some of their results are longer than what may wait for a reader
CREATE FUNCTION by_turns(cursors int, turns int, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c refcursor;
  r record;
  sum int8 := 0;
  name text := current_schema || md5(condition);
BEGIN
  FOR i IN 1..cursors LOOP
    EXECUTE format('DECLARE %I CURSOR FOR SELECT id, v FROM t WHERE %s AND id > %s ORDER BY id', name || i, condition, i);
  END LOOP;
  UPDATE t SET v = 'changed' WHERE id % 7 = 0;
  DELETE FROM t WHERE id % 11 = 0;
  FOR turn IN 1..turns LOOP
    FOR i IN 1..cursors LOOP
      c := name || i;
      MOVE (turn * 7) IN c;
      FETCH c INTO r;
      sum := (sum * 31 + hashtext(r::text)) % 1000000007;
    END LOOP;
  END LOOP;
  RETURN sum || ', ' || (SELECT count(*) FROM t);
END $$;
SELECT both_sides('SELECT by_turns(120, 3, ''id < 2000'')');
SELECT both_sides('SELECT by_turns(20, 3, ''id > 0'')');
SELECT both_sides('SELECT count(*) FROM t');
-- Loops within loops
CREATE FUNCTION nested(depth int, after int) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
  r record;
  sum int8 := 0;
BEGIN
  FOR r IN SELECT id, v FROM t WHERE id > after ORDER BY id LIMIT 2 LOOP
    sum := sum + r.id + hashtext(r.v) % 1000;
    IF depth > 0 AND sum % 2 = 0 OR depth > 20 THEN
      sum := sum + nested(depth - 1, r.id);
      EXIT;
    END IF;
  END LOOP;
  RETURN sum;
END $$;
SELECT both_sides('SELECT nested(200, 1)');
-- Nothing of it is left as soon as the engine has noticed
DO $$
BEGIN
  FOR i IN 1..6000 LOOP
    EXIT WHEN (SELECT buffer_bytes = 0 FROM kakehashi_sessions('kakehashi') WHERE process_id = pg_backend_pid());
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT buffer_bytes FROM kakehashi_sessions('kakehashi') WHERE process_id = pg_backend_pid();
DROP FUNCTION by_turns, nested;
DROP SCHEMA of_engine CASCADE;
DROP SCHEMA of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA of_engine CASCADE') \gset
