-- An INSERT that is alone in its transaction goes to the engine with its commit: one request, one answer, and its errors are those of the statement.
CREATE SCHEMA one_wait;
SET search_path = one_wait, public;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS alone_later, alone');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE alone (id int PRIMARY KEY, v int NOT NULL CHECK (v >= 0), t text DEFAULT ''none'')');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE alone_later (id int PRIMARY KEY, alone_id int REFERENCES alone DEFERRABLE INITIALLY DEFERRED)');
IMPORT FOREIGN SCHEMA public LIMIT TO (alone, alone_later) FROM SERVER kakehashi INTO one_wait;
CREATE TABLE local_alone (id int PRIMARY KEY);
-- Requests of this session since the last call, without those of the calls
CREATE TABLE seen_requests (n int8);
INSERT INTO seen_requests VALUES (0);
CREATE FUNCTION requests() RETURNS int8 LANGUAGE sql AS $$
  WITH now AS (SELECT e.requests FROM kakehashi_sessions('kakehashi') e JOIN kakehashi_sessions USING (session_id)),
    moved AS (UPDATE seen_requests s SET n = now.requests FROM now RETURNING now.requests)
  SELECT moved.requests - s.n FROM moved, seen_requests s
$$;
-- What a call itself adds
INSERT INTO alone VALUES (0, 0);
SELECT count(requests()) FROM generate_series(1, 2);
SELECT requests() AS of_calls \gset
-- One request; with BEGIN and COMMIT two more
INSERT INTO alone VALUES (1, 10);
SELECT requests() - :of_calls AS requests;
BEGIN; INSERT INTO alone VALUES (2, 20); COMMIT;
SELECT requests() - :of_calls > 1 AS more;
INSERT INTO alone SELECT g, g FROM generate_series(100, 119) g;
SELECT requests() - :of_calls AS requests;
INSERT INTO alone (id, v) VALUES (3, 30), (4, 40);
INSERT INTO alone (v, id) SELECT 50, 5;
SELECT requests() - :of_calls AS of_two;
SELECT id, v, t FROM alone WHERE id < 100 ORDER BY id;
-- Errors are the statement's, and nothing remains
\set SHOW_CONTEXT never
INSERT INTO alone VALUES (1, 11);
\echo :SQLSTATE
INSERT INTO alone VALUES (6, 60), (1, 11);
\echo :SQLSTATE
INSERT INTO alone VALUES (6, NULL);
\echo :SQLSTATE
INSERT INTO alone VALUES (6, -1);
\echo :SQLSTATE
INSERT INTO alone_later VALUES (1, 7);
\echo :SQLSTATE
SELECT count(*) FROM alone WHERE id = 6;
SELECT count(*) FROM alone_later;
SELECT in_transaction FROM kakehashi_sessions WHERE server_name = 'kakehashi';
-- With the context of a statement
\set SHOW_CONTEXT errors
INSERT INTO alone VALUES (1, 12, NULL);
\set SHOW_CONTEXT never
-- Several batches, with an error in the last
ALTER FOREIGN TABLE alone OPTIONS (ADD batch_size '50');
INSERT INTO alone SELECT 1000 + g, 1 FROM generate_series(1, 130) g;
INSERT INTO alone SELECT CASE g WHEN 130 THEN 1 ELSE 2000 + g END, 1 FROM generate_series(1, 130) g;
\echo :SQLSTATE
SELECT count(*) FILTER (WHERE id > 2000) AS none, count(*) FILTER (WHERE id BETWEEN 1001 AND 2000) AS some FROM alone;
-- Row by row
ALTER FOREIGN TABLE alone OPTIONS (SET batch_size '1');
INSERT INTO alone VALUES (10, 100);
SELECT count(requests()) FROM generate_series(1, 2);
INSERT INTO alone VALUES (7, 70);
SELECT requests() - :of_calls AS requests;
INSERT INTO alone VALUES (7, 71);
INSERT INTO alone VALUES (8, 80), (9, 90), (7, 72);
SELECT id, v FROM alone WHERE id BETWEEN 6 AND 9 ORDER BY id;
ALTER FOREIGN TABLE alone OPTIONS (DROP batch_size);
-- Values of the engine
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE numbered (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int)');
IMPORT FOREIGN SCHEMA public LIMIT TO (numbered) FROM SERVER kakehashi INTO one_wait;
INSERT INTO numbered (v) VALUES (1);
INSERT INTO numbered (v) VALUES (2), (3);
SELECT id, v FROM numbered ORDER BY id;
-- The tag says how many rows there are
\set QUIET off
INSERT INTO alone VALUES (11, 1), (12, 1), (13, 1);
INSERT INTO alone SELECT 14, 1 WHERE false;
INSERT INTO alone VALUES (13, 1), (14, 1) ON CONFLICT DO NOTHING;
\set QUIET on
-- Not alone: each statement says what has become of it, as before
INSERT INTO alone VALUES (20, 1)\; INSERT INTO alone VALUES (20, 2);
INSERT INTO alone VALUES (20, 1)\; INSERT INTO local_alone VALUES (1);
INSERT INTO alone VALUES (20, 2)\; INSERT INTO local_alone VALUES (2);
SELECT id, v FROM alone WHERE id = 20;
SELECT id FROM local_alone ORDER BY id;
BEGIN;
INSERT INTO alone VALUES (20, 3);
\echo :SQLSTATE
COMMIT;
DO $$
BEGIN
  INSERT INTO alone VALUES (21, 1);
  BEGIN
    INSERT INTO alone VALUES (21, 2);
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO alone VALUES (22, 2);
  END;
END $$;
SELECT id, v FROM alone WHERE id IN (21, 22) ORDER BY id;
INSERT INTO alone VALUES (23, 1) RETURNING id, t;
INSERT INTO alone VALUES (23, 2) ON CONFLICT DO NOTHING;
INSERT INTO alone VALUES (23, 3), (24, 3) ON CONFLICT DO NOTHING;
PREPARE p(int) AS INSERT INTO alone VALUES ($1, 1);
EXECUTE p(25);
EXECUTE p(25);
\echo :SQLSTATE
SELECT count(*) FROM alone WHERE id = 25;
-- Together with local changes: both or nothing
WITH l AS (INSERT INTO local_alone VALUES (30) RETURNING id) INSERT INTO alone SELECT id, 1 FROM l;
WITH l AS (INSERT INTO local_alone VALUES (31) RETURNING id) INSERT INTO alone SELECT 1, id FROM l;
CREATE FUNCTION beside(id int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO local_alone VALUES (id); RETURN id; END $$;
INSERT INTO alone SELECT beside(32), 1;
INSERT INTO alone SELECT 1, beside(33);
SELECT id FROM local_alone WHERE id >= 30 ORDER BY id;
SELECT id FROM alone WHERE id BETWEEN 30 AND 39 ORDER BY id;
-- A function of the statement sees the rows before its own, and its error leaves nothing
CREATE FUNCTION how_many() RETURNS int8 LANGUAGE sql AS $$ SELECT count(*) FROM alone WHERE id BETWEEN 40 AND 49 $$;
INSERT INTO alone SELECT 40 + g, how_many() FROM generate_series(1, 3) g;
SELECT id, v FROM alone WHERE id BETWEEN 40 AND 49 ORDER BY id;
INSERT INTO alone SELECT 43 + g, 1 / (2 - g) FROM generate_series(1, 3) g;
SELECT count(*) FROM alone WHERE id BETWEEN 44 AND 49;
-- Triggers
CREATE FUNCTION says() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% rows', (SELECT count(*) FROM alone WHERE id BETWEEN 50 AND 59); RETURN NULL; END $$;
CREATE TRIGGER says AFTER INSERT ON alone FOR EACH STATEMENT EXECUTE FUNCTION says();
INSERT INTO alone VALUES (50, 1), (51, 1);
DROP TRIGGER says ON alone;
CREATE TRIGGER says AFTER INSERT ON alone FOR EACH ROW EXECUTE FUNCTION says();
INSERT INTO alone VALUES (52, 1);
DROP TRIGGER says ON alone;
-- Views with a check, and partitions
CREATE VIEW small AS SELECT id, v FROM alone WHERE v < 10 WITH CHECK OPTION;
INSERT INTO small VALUES (60, 5);
INSERT INTO small VALUES (61, 50);
\echo :SQLSTATE
CREATE TABLE parted (id int, v int, t text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE parted_local PARTITION OF parted FOR VALUES FROM (0) TO (70);
ALTER TABLE parted ATTACH PARTITION alone FOR VALUES FROM (70) TO (80);
INSERT INTO parted VALUES (69, 1), (70, 1);
INSERT INTO parted VALUES (70, 2);
\echo :SQLSTATE
INSERT INTO alone VALUES (71, 1);
INSERT INTO alone VALUES (80, 1);
\echo :SQLSTATE
ALTER TABLE parted DETACH PARTITION alone;
SELECT id FROM alone WHERE id BETWEEN 60 AND 80 ORDER BY id;
-- What it has done is counted, and shown
SELECT requests AS before FROM kakehashi_table_activity WHERE foreign_table = 'alone'::regclass \gset
INSERT INTO alone VALUES (90, 1);
SELECT requests - :before AS requests FROM kakehashi_table_activity WHERE foreign_table = 'alone'::regclass;
EXPLAIN (ANALYZE) INSERT INTO alone VALUES (90, 2);
\echo :SQLSTATE
-- Other kinds of transactions begin with a request of their own
SET kakehashi.transaction_label = 'labelled';
INSERT INTO alone VALUES (92, 1);
INSERT INTO alone VALUES (92, 2);
\echo :SQLSTATE
RESET kakehashi.transaction_label;
SET default_transaction_isolation = 'serializable';
INSERT INTO alone VALUES (93, 1);
INSERT INTO alone VALUES (93, 2);
\echo :SQLSTATE
RESET default_transaction_isolation;
SELECT id FROM alone WHERE id BETWEEN 90 AND 99 ORDER BY id;
SELECT in_transaction, outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SET search_path = public;
SET client_min_messages = warning;
DROP SCHEMA one_wait CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE alone_later, alone, numbered');
