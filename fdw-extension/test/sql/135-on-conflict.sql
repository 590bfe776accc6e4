-- INSERT ... ON CONFLICT works on the engine's unique keys, with the meaning that it has for local tables.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS upserted') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE upserted (id int PRIMARY KEY, code text UNIQUE, n numeric(10,2), hits int NOT NULL)') \gset
CREATE SCHEMA up;
SET search_path = up, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (upserted) FROM SERVER kakehashi INTO up;
INSERT INTO upserted VALUES (1, 'one', 1.5, 0), (2, 'two', 2.5, 0);
-- Nothing
INSERT INTO upserted VALUES (1, 'x', 0, 0), (3, 'three', 0, 0) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO upserted VALUES (1, 'x', 0, 0), (4, 'four', 0, 0) ON CONFLICT (id) DO NOTHING;
INSERT INTO upserted VALUES (9, 'one', 0, 0) ON CONFLICT (code) DO NOTHING RETURNING id;
-- Update: what the engine computes, what is computed here, and what was proposed
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO upserted VALUES (1, 'uno', 3, 1) ON CONFLICT (id) DO UPDATE
  SET hits = upserted.hits + 1, n = upserted.n * 2 + excluded.n, code = upper(excluded.code) WHERE upserted.hits < 10;
INSERT INTO upserted VALUES (1, 'uno', 3, 1) ON CONFLICT (id) DO UPDATE
  SET hits = upserted.hits + 1, n = upserted.n * 2 + excluded.n, code = upper(excluded.code) WHERE upserted.hits < 10 RETURNING *;
INSERT INTO upserted AS u VALUES (7, 'two', 0, 5) ON CONFLICT (code) DO UPDATE SET hits = excluded.hits + u.hits RETURNING hits;
INSERT INTO upserted VALUES (2, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET hits = -1 WHERE upserted.hits > 100 RETURNING *;
INSERT INTO upserted VALUES (2, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET n = NULL, hits = DEFAULT;
INSERT INTO upserted VALUES (2, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET n = (SELECT max(n) FROM upserted) RETURNING n;
-- Many rows, of a query and in batches
INSERT INTO upserted SELECT g, 'c' || g, g, 1 FROM generate_series(1, 3000) g
  ON CONFLICT (id) DO UPDATE SET hits = upserted.hits + excluded.hits;
SELECT count(*), sum(hits) FROM upserted;
WITH more AS (INSERT INTO upserted SELECT g, NULL, g, 1 FROM generate_series(2999, 3002) g
  ON CONFLICT (id) DO UPDATE SET hits = upserted.hits + 100 RETURNING id, hits) SELECT * FROM more ORDER BY id;
PREPARE bump(int, int) AS INSERT INTO upserted VALUES ($1, NULL, 0, 0) ON CONFLICT (id) DO UPDATE SET hits = upserted.hits + $2 RETURNING hits;
EXECUTE bump(5, 10);
SET plan_cache_mode = force_generic_plan;
EXECUTE bump(5, 20);
EXECUTE bump(6, 30);
RESET plan_cache_mode;
-- No row twice
\set VERBOSITY sqlstate
INSERT INTO upserted VALUES (8, NULL, 0, 0), (8, NULL, 0, 0) ON CONFLICT (id) DO UPDATE SET hits = 1;
INSERT INTO upserted SELECT 5000 + g % 2500, NULL, g, 1 FROM generate_series(1, 4000) g ON CONFLICT (id) DO UPDATE SET hits = 9 WHERE upserted.hits >= 0;
SELECT count(*) FROM upserted WHERE id >= 5000;
-- A row in conflict that stayed as it was may come again; keys that are null are in no conflict
INSERT INTO upserted VALUES (8, NULL, 0, 0), (8, NULL, 0, 0) ON CONFLICT (id) DO UPDATE SET hits = 1 WHERE false;
INSERT INTO upserted VALUES (6001, NULL, 0, 0), (6002, NULL, 0, 0) ON CONFLICT (code) DO UPDATE SET hits = 1;
-- A conflict with another key, and no such key
INSERT INTO upserted VALUES (1, 'c7', 0, 0) ON CONFLICT (code) DO UPDATE SET hits = 70 RETURNING id, hits;
INSERT INTO upserted VALUES (1, 'new', 0, 0) ON CONFLICT (code) DO UPDATE SET hits = 1;
INSERT INTO upserted VALUES (1, 'new', 0, 0) ON CONFLICT (n) DO UPDATE SET hits = 1;
\set VERBOSITY default
-- What cannot be sent says so
INSERT INTO upserted VALUES (1, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET code = initcap(upserted.code);
INSERT INTO upserted VALUES (1, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET hits = 5 WHERE initcap(upserted.code) = 'C1';
INSERT INTO upserted VALUES (1, 'x', 0, 0) ON CONFLICT (lower(code)) DO NOTHING;
INSERT INTO upserted VALUES (1, 'x', 0, 0) ON CONFLICT (id) WHERE hits > 0 DO NOTHING;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER seen BEFORE UPDATE ON upserted FOR EACH ROW EXECUTE FUNCTION nothing();
INSERT INTO upserted VALUES (1, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET hits = 5;
INSERT INTO upserted VALUES (1, 'x', 0, 0) ON CONFLICT (id) DO NOTHING;
DROP TRIGGER seen ON upserted;
-- Through a view, whose check holds for what is updated, too
CREATE VIEW few AS SELECT * FROM upserted WHERE hits < 1000 WITH CHECK OPTION;
INSERT INTO few VALUES (1, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET hits = few.hits + 1 RETURNING id, hits;
\set VERBOSITY sqlstate
INSERT INTO few VALUES (1, 'x', 0, 0) ON CONFLICT (id) DO UPDATE SET hits = 1000;
\set VERBOSITY default
SELECT hits FROM upserted WHERE id = 1;
-- Stored generated columns are computed from the updated row.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE computed (id int4 PRIMARY KEY, a int4, twice int4, b numeric(8,2), sum numeric, fixed text, name text)') \gset
CREATE FOREIGN TABLE computed (id int4 OPTIONS (key 'true'), a int4, twice int4 GENERATED ALWAYS AS (a * 2) STORED, b numeric(8,2), sum numeric GENERATED ALWAYS AS (b + a) STORED,
  fixed text GENERATED ALWAYS AS ('k') STORED, name text) SERVER kakehashi OPTIONS (schema_name 'public');
CREATE TABLE heap_computed (LIKE computed INCLUDING GENERATED, PRIMARY KEY (id));
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO computed (id, a, b) VALUES (1, 5, 1.5) ON CONFLICT (id) DO UPDATE SET a = excluded.a + computed.a;
DO $$
DECLARE
  statement text;
  rows text[];
BEGIN
  FOREACH statement IN ARRAY ARRAY['VALUES (1, 5, 1.505), (2, NULL, 3) ON CONFLICT (id) DO UPDATE SET a = excluded.a + x.a',
      'VALUES (1, 6, 2) ON CONFLICT (id) DO UPDATE SET a = excluded.a + x.a', 'VALUES (1, 6, 2.255), (2, 7, 8) ON CONFLICT (id) DO UPDATE SET b = excluded.b + x.twice, a = excluded.twice',
      'VALUES (1, 6, 2), (3, 7, 8) ON CONFLICT (id) DO UPDATE SET b = NULL WHERE x.twice > 3', 'VALUES (3, 6, 2) ON CONFLICT (id) DO UPDATE SET name = excluded.fixed'] LOOP
    FOR i IN 1..2 LOOP
      EXECUTE format('WITH c AS (INSERT INTO %I AS x (id, a, b) %s RETURNING *) SELECT array_append($1, string_agg(c::text, '';'' ORDER BY id)) FROM c',
        CASE i WHEN 1 THEN 'computed' ELSE 'heap_computed' END, statement) USING rows INTO rows;
    END LOOP;
    RAISE NOTICE '% %', rows[1], CASE WHEN rows[1] IS DISTINCT FROM rows[2] THEN 'not ' || rows[2] END;
    rows := NULL;
  END LOOP;
END $$;
INSERT INTO computed (id, a, b) VALUES (1, 2, 3) ON CONFLICT (id) DO UPDATE SET a = 2000000000;
ALTER FOREIGN TABLE computed ADD COLUMN shown text GENERATED ALWAYS AS (initcap(name)) STORED;
INSERT INTO computed (id, a) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET name = computed.name || 'x';
SELECT kakehashi_execute('kakehashi', 'DROP TABLE computed') \gset
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA up CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE upserted') \gset
