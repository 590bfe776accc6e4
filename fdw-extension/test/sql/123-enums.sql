-- Enums are their labels on the engine: what asks whether they are equal goes over, what asks for their order stays here.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA enums') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE enums.job (id int4 PRIMARY KEY, status text, backup text, val int4)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE INDEX ON enums.job (status, id)') \gset
CREATE SCHEMA enums;
SET search_path = enums, public;
CREATE TYPE status AS ENUM ('new', 'taken', 'It''s "done"', '');
CREATE TYPE other AS ENUM ('new', 'taken');
CREATE DOMAIN open_status AS status CHECK (VALUE <> 'It''s "done"');
CREATE FOREIGN TABLE job (id int OPTIONS (key 'true'), status status, backup open_status, val int) SERVER kakehashi OPTIONS (schema_name 'enums');
CREATE TABLE heap (id int PRIMARY KEY, status status, backup open_status, val int);
INSERT INTO heap SELECT i, CASE WHEN i % 5 < 4 THEN (enum_range(NULL::status))[i % 5 + 1] END, CASE WHEN i % 3 > 0 THEN (enum_range(NULL::status))[i % 2 + 1] END, i * 10 FROM generate_series(1, 40) i;
INSERT INTO job SELECT * FROM heap;
-- Whether the engine computes a condition, and whether it finds what PostgreSQL finds in a table of its own
CREATE FUNCTION pg_temp.asked(condition text) RETURNS TABLE (remote text, local text, rows bigint, same bool) LANGUAGE plpgsql AS $$
DECLARE
  line text;
  theirs int[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM job WHERE ' || condition LOOP
    remote := coalesce(remote, substring(line FROM 'Remote SQL: .* WHERE (.*)'));
    local := coalesce(local, substring(line FROM ' Filter: (.*)'));
  END LOOP;
  EXECUTE 'SELECT array_agg(id ORDER BY id), count(*) FROM job WHERE ' || condition INTO theirs, rows;
  EXECUTE 'SELECT array_agg(id ORDER BY id) IS NOT DISTINCT FROM $1 FROM heap WHERE ' || condition INTO same USING theirs;
  RETURN NEXT;
END $$;
SELECT condition, asked.* FROM (VALUES
  ($$status = 'new'$$), ($$'taken' = status$$), ($$status <> 'It''s "done"'$$), ($$status = ''$$), ($$NOT status = 'new' OR status IS NULL$$),
  ($$status IN ('new', 'taken')$$), ($$status NOT IN ('new', 'taken')$$), ($$status IN ('new', NULL)$$), ($$status NOT IN ('new', NULL)$$), ($$status = ANY ('{}'::status[])$$), ($$status <> ALL (ARRAY['new'::status, backup::status])$$),
  ($$status IS DISTINCT FROM 'new'$$), ($$status IS NOT DISTINCT FROM backup::status$$), ($$status = NULL$$), ($$status = backup::status$$), ($$backup::status = 'taken'$$), ($$backup::status IN ('new', 'taken')$$),
  ($$coalesce(status, 'taken') = 'taken'$$), ($$CASE status WHEN 'new' THEN val > 100 WHEN 'taken' THEN val < 200 END$$), ($$nullif(status, 'new') IS NULL$$),
  ($$status = ('tak' || 'en')::status$$), ($$status = lower('NEW')::status$$), ($$status = (SELECT 'taken'::status)$$), ($$status::text = 'new'$$), ($$status::text LIKE 'ta%'$$), ($$length(status::text) = 5$$), ($$backup::text <> 'new'$$),
  ($$status > 'new'$$), ($$status BETWEEN 'new' AND 'taken'$$), ($$status = ANY (ARRAY['new'::status, greatest(status, 'taken')])$$), ($$status::varchar = 'new'$$), ($$(status::text || '')::status = 'taken'$$), ($$enum_last(status) = status$$)
) c (condition), pg_temp.asked(condition);
-- Parameters, of a custom and of a generic plan
PREPARE of_status(status, int) AS SELECT id FROM job WHERE status = $1 AND val < $2 ORDER BY id;
EXECUTE of_status('taken', 100);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE of_status('taken', 100);
EXECUTE of_status('taken', 100);
EXECUTE of_status(NULL, 100);
PREPARE of_any(status[]) AS SELECT id FROM job WHERE status = ANY ($1) AND val < 100 ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE of_any('{new,taken}');
EXECUTE of_any('{new,taken}');
PREPARE of_text(text) AS SELECT id FROM job WHERE status = $1::status AND val < 100 ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE of_text('taken');
EXECUTE of_text('taken');
EXECUTE of_text('unheard of');
RESET plan_cache_mode;
SELECT id FROM job WHERE status = 'unheard of';
-- Jobs of a queue: the engine locks those that are taken, and no others
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, status FROM job WHERE status = 'new' ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED;
BEGIN;
SELECT id, status FROM job WHERE status = 'new' ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED;
ROLLBACK;
-- Changes, each one statement there
EXPLAIN (VERBOSE, COSTS OFF) UPDATE job SET status = 'taken' WHERE status = 'new' AND id < 20;
UPDATE job SET status = 'taken' WHERE status = 'new' AND id < 20 RETURNING id, status;
UPDATE heap SET status = 'taken' WHERE status = 'new' AND id < 20;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM job WHERE status IN ('', 'It''s "done"');
DELETE FROM job WHERE status IN ('', 'It''s "done"');
DELETE FROM heap WHERE status IN ('', 'It''s "done"');
SELECT count(*) FROM (SELECT * FROM job EXCEPT ALL SELECT * FROM heap) d;
SELECT count(*) FROM (SELECT * FROM heap EXCEPT ALL SELECT * FROM job) d;
-- Joins: of foreign tables there, with a local one by keys that are labels
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM job a JOIN job b ON a.status = b.backup::status AND a.id > b.id;
SELECT (SELECT count(*) FROM job a JOIN job b ON a.status = b.backup::status AND a.id > b.id), (SELECT count(*) FROM heap a JOIN heap b ON a.status = b.backup::status AND a.id > b.id);
CREATE TABLE wanted (s status, low int);
INSERT INTO wanted VALUES ('new', 30), ('taken', 35), (NULL, 1), ('', 1);
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT s, low, id, status FROM wanted JOIN job ON status = s AND id > low ORDER BY id;
SELECT s, low, id, status FROM wanted JOIN heap ON status = s AND id > low ORDER BY id;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- What has an order or groups stays here
EXPLAIN (VERBOSE, COSTS OFF) SELECT status, count(*), max(status) FROM job WHERE status <> 'new' GROUP BY status ORDER BY status;
SELECT status, count(*), max(status) FROM job WHERE status <> 'new' GROUP BY status ORDER BY status;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA enums CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA enums CASCADE') \gset
