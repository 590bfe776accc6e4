-- Statements are prepared once per text; cursors, subplans and functions may have several results open at a time.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS numbers');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE numbers (id int PRIMARY KEY, v int)');
CREATE SCHEMA st;
SET search_path = st, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (numbers) FROM SERVER kakehashi INTO st;
INSERT INTO numbers SELECT g, g % 10 FROM generate_series(1, 5000) g;
SELECT kakehashi_disconnect('kakehashi');
-- Ten look-ups, one statement (and one of the estimates)
SELECT sum(v) FROM numbers WHERE id = 1;
SELECT prepared_statements AS before FROM kakehashi_sessions WHERE server_name = 'kakehashi' \gset
SELECT sum(v) FROM numbers WHERE id = 2;
SELECT sum(v) FROM numbers WHERE id = 3;
SELECT prepared_statements - :before AS more FROM kakehashi_sessions WHERE server_name = 'kakehashi';
PREPARE look_up(int) AS SELECT v FROM numbers WHERE id = $1;
EXECUTE look_up(11);
EXECUTE look_up(12);
EXECUTE look_up(NULL);
SET plan_cache_mode = force_generic_plan;
EXECUTE look_up(13);
EXECUTE look_up(99999);
RESET plan_cache_mode;
-- Cursors side by side, and changes between fetches: a cursor does not see them
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM numbers ORDER BY id;
DECLARE b CURSOR FOR SELECT id FROM numbers ORDER BY id DESC;
FETCH 2 FROM a;
FETCH 2 FROM b;
DELETE FROM numbers WHERE id <= 10;
FETCH 3 FROM a;
MOVE FORWARD 4900 IN a;
FETCH 1 FROM a;
FETCH 1 FROM b;
CLOSE a;
SAVEPOINT s;
FETCH 1 FROM b;
ROLLBACK TO s;
FETCH 1 FROM b;
ROLLBACK;
-- Holdable cursors outlive the transaction
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT id FROM numbers WHERE id <= 3 ORDER BY id;
COMMIT;
FETCH ALL FROM h;
CLOSE h;
-- A cursor first read in a subtransaction that is rolled back
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM numbers ORDER BY id;
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
ROLLBACK;
-- LIMIT that stops a scan early, again and again: no response slot is lost
DO $$
BEGIN
  FOR i IN 1..200 LOOP
    PERFORM 1 FROM numbers WHERE random() < 2 LIMIT 1;
  END LOOP;
END $$;
-- Nested loops and subplans: results within results
SELECT count(*), sum(x) FROM (SELECT (SELECT max(v) FROM numbers b WHERE b.id = a.id + 1) AS x FROM numbers a WHERE a.id < 300) q;
CREATE TABLE few AS SELECT g * 100 AS id FROM generate_series(1, 20) g;
ANALYZE few;
SELECT sum(v + few.id) FROM few JOIN numbers USING (id);
-- Functions that read the table while it is read
CREATE FUNCTION next_v(i int) RETURNS int LANGUAGE sql STABLE AS 'SELECT v FROM st.numbers WHERE id = i + 1';
SELECT sum(next_v(id)) FROM numbers WHERE id <= 50;
CREATE FUNCTION volatile_v(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT v FROM st.numbers WHERE id = i + 1);
END $$;
SELECT sum(volatile_v(id)) FROM numbers WHERE id <= 50;
-- More statements than the endpoint keeps: the oldest makes room
DO $$
DECLARE
  n bigint;
BEGIN
  FOR i IN 1..300 LOOP
    EXECUTE format('SELECT count(*) FROM (SELECT id, v AS %I FROM st.numbers WHERE id = %s AND v + %s IN (%s)) q WHERE id > 0',
      'c' || i, i, i, (SELECT string_agg((g)::text, ',') FROM generate_series(1, 1 + i) g)) INTO n;
  END LOOP;
END $$;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA st CASCADE;
