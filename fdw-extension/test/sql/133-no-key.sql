-- Tables without a primary key, and foreign tables whose key is not marked, are changed row by row as PostgreSQL's own are.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA no_key') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE no_key.t (a int4, b text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE no_key.one (a int4, b text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE no_key.two (a int4 PRIMARY KEY, b text)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE VIEW no_key.v AS SELECT a, b FROM no_key.t') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
CREATE SCHEMA no_key;
CREATE FOREIGN TABLE of_engine.t (a int4, b text) SERVER kakehashi OPTIONS (schema_name 'no_key');
CREATE TABLE of_heap.t (a int4, b text);
CREATE TABLE of_engine.p (a int4, b text) PARTITION BY RANGE (a);
CREATE FOREIGN TABLE of_engine.one PARTITION OF of_engine.p FOR VALUES FROM (0) TO (10) SERVER kakehashi OPTIONS (schema_name 'no_key');
CREATE FOREIGN TABLE of_engine.two PARTITION OF of_engine.p FOR VALUES FROM (10) TO (20) SERVER kakehashi OPTIONS (schema_name 'no_key');
CREATE TABLE of_engine.three PARTITION OF of_engine.p FOR VALUES FROM (20) TO (30);
CREATE TABLE of_heap.p (a int4, b text) PARTITION BY RANGE (a);
CREATE TABLE of_heap.one PARTITION OF of_heap.p FOR VALUES FROM (0) TO (10);
CREATE TABLE of_heap.two PARTITION OF of_heap.p FOR VALUES FROM (10) TO (20);
CREATE TABLE of_heap.three PARTITION OF of_heap.p FOR VALUES FROM (20) TO (30);
CREATE TABLE public.l (a int4, n text);
INSERT INTO l VALUES (1, 'one'), (2, 'two'), (2, 'zwei');
CREATE FUNCTION marked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO public.l VALUES (-OLD.a, 'deleted ' || OLD.b);
    RETURN OLD;
  END IF;
  NEW.b := NEW.b || '!';
  RETURN NEW;
END $$;
CREATE TRIGGER marks BEFORE UPDATE OR DELETE ON of_engine.p FOR EACH ROW WHEN (OLD.a % 10 = 3) EXECUTE FUNCTION marked();
CREATE TRIGGER marks BEFORE UPDATE OR DELETE ON of_heap.p FOR EACH ROW WHEN (OLD.a % 10 = 3) EXECUTE FUNCTION marked();
-- What is changed, then all rows
SET client_min_messages = warning;
SELECT n, statement, both_sides(statement, $$SELECT (SELECT string_agg(t::text, ' ' ORDER BY t::text) FROM t) || coalesce('; ' || (SELECT string_agg(p::text, ' ' ORDER BY p::text) FROM p), '')$$)
FROM unnest(ARRAY[
  $$INSERT INTO t SELECT g % 4, 'r' || g % 7 FROM generate_series(1, 9) g$$,
  $$UPDATE t SET b = n FROM l WHERE l.a = t.a AND n <> 'zwei'$$,
  $$UPDATE t SET a = t.a + length(x.n) FROM l x WHERE x.a = t.a AND x.n = 'one'$$,
  $$DELETE FROM t USING l WHERE l.a = t.a$$,
  $$DELETE FROM t x USING t y WHERE x.ctid > y.ctid AND x.a = y.a AND x.b = y.b$$,
  $$UPDATE t SET b = b || ' ' || (SELECT count(*) FROM l WHERE l.a < t.a)$$,
  $$UPDATE t SET a = 0 WHERE b IN (SELECT max(s.b) FROM t s WHERE random() >= 0)$$,
  $$WITH gone AS (DELETE FROM t WHERE a = 0 AND random() >= 0 RETURNING *) INSERT INTO t SELECT a + 100, 'again' FROM gone$$,
  $$INSERT INTO p SELECT g, 'p' || g FROM generate_series(1, 29, 2) g$$,
  $$UPDATE p SET b = n FROM l WHERE l.a = p.a % 3 AND n <> 'two'$$,
  $$UPDATE p SET b = b || '+' WHERE random() >= 0$$,
  $$DELETE FROM p USING l WHERE l.a = p.a % 10$$,
  $$UPDATE p SET b = b || '?'$$,
  $$DELETE FROM p WHERE a % 10 = 3$$,
  $$UPDATE t SET b = 'x' FROM p WHERE p.a = t.a + 2$$,
  $$DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT min(ctid) FROM t GROUP BY a))$$
]) WITH ORDINALITY u (statement, n);
SELECT a, n FROM l ORDER BY a, n;
RESET client_min_messages;
-- RETURNING, with columns of both sides; the row is found by its identity
CREATE FOREIGN TABLE no_key.u (a int4, b text) SERVER kakehashi OPTIONS (schema_name 'no_key', table_name 't');
SET search_path = no_key, public;
TRUNCATE u;
INSERT INTO u VALUES (1, 'x'), (1, 'x'), (3, NULL);
EXPLAIN (VERBOSE, COSTS OFF) UPDATE u SET b = n FROM l WHERE l.a = u.a RETURNING u.*, n;
UPDATE u SET b = n FROM l WHERE l.a = u.a RETURNING u.*, n;
UPDATE u SET a = a + 1 RETURNING *;
DELETE FROM u WHERE random() >= 0 AND a < 3 RETURNING a, b, u;
-- ctid is where the row is, and stays while it is changed
SELECT count(DISTINCT ctid) = count(*) AND min(ctid) IS NOT NULL FROM u;
SELECT ctid AS before FROM u \gset
UPDATE u SET b = 'moved';
SELECT ctid = :'before' FROM u;
-- A view of the engine has no rows of its own
CREATE FOREIGN TABLE no_key.v (a int4, b text) SERVER kakehashi OPTIONS (schema_name 'no_key');
SELECT a, b FROM v;
UPDATE v SET b = n FROM l WHERE l.a = v.a;
-- Prepared, within savepoints, and in a function
PREPARE change (int) AS UPDATE u SET b = n || $1 FROM l WHERE l.a = u.a - 2 AND n <> 'two';
BEGIN;
INSERT INTO u VALUES (3, 'new');
SAVEPOINT s;
EXECUTE change (1);
ROLLBACK TO s;
EXECUTE change (2);
COMMIT;
SELECT * FROM u ORDER BY a, b;
DROP SCHEMA of_engine, of_heap, no_key CASCADE;
DROP TABLE l;
DROP FUNCTION marked();
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA no_key CASCADE') \gset
