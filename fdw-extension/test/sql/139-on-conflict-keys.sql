-- ON CONFLICT DO UPDATE may name columns of its key, as statements that set every column do, and affects no row twice.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA keyed') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE keyed.t (id int4 PRIMARY KEY, code text UNIQUE, n int4)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
CREATE FOREIGN TABLE of_engine.t (id int4, code text, n int4) SERVER kakehashi OPTIONS (schema_name 'keyed');
CREATE TABLE of_heap.t (id int4 PRIMARY KEY, code text UNIQUE, n int4);
SELECT i, statement, both_sides(statement, $$SELECT string_agg(t::text, ' ' ORDER BY id) FROM t$$)
FROM unnest(ARRAY[
  $$INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, NULL, 3) ON CONFLICT (id) DO UPDATE SET id = excluded.id, code = excluded.code, n = excluded.n$$,
  $$INSERT INTO t VALUES (1, 'a', 10), (2, 'c', 20) ON CONFLICT (id) DO UPDATE SET id = excluded.id, code = excluded.code, n = excluded.n$$,
  $$INSERT INTO t SELECT g, 'g' || g, g FROM generate_series(2, 60) g ON CONFLICT (id) DO UPDATE SET (id, code, n) = (excluded.id, excluded.code, excluded.n) WHERE t.n < 20$$,
  $$DELETE FROM t WHERE id > 5$$,
  -- The key moves: its old value is free, its new one is a row of the statement
  $$INSERT INTO t VALUES (1, 'x', 0), (1, 'y', 0) ON CONFLICT (id) DO UPDATE SET id = t.id + 100$$,
  $$INSERT INTO t VALUES (2, 'x', 0), (102, 'y', 0) ON CONFLICT (id) DO UPDATE SET id = t.id + 100$$,
  $$INSERT INTO t SELECT 3, 'z', g FROM generate_series(1, 40) g ON CONFLICT (id) DO UPDATE SET id = t.id + 10, code = 'z' || excluded.n$$,
  $$INSERT INTO t VALUES (4, 'x', 0) ON CONFLICT (id) DO UPDATE SET id = 5$$,
  $$INSERT INTO t VALUES (4, 'x', 0) ON CONFLICT (id) DO UPDATE SET id = NULL$$,
  -- No row twice, in batches, one by one, and with conditions
  $$INSERT INTO t VALUES (7, 'p', 0), (7, 'q', 0) ON CONFLICT (id) DO UPDATE SET n = 1$$,
  $$INSERT INTO t SELECT g % 50 + 200, NULL, g FROM generate_series(1, 60) g ON CONFLICT (id) DO UPDATE SET n = excluded.n$$,
  $$INSERT INTO t VALUES (5, 'p', 0), (5, 'q', 0) ON CONFLICT (id) DO UPDATE SET n = 1 WHERE t.n > 1000$$,
  $$INSERT INTO t VALUES (5, 'p', 1000), (5, 'q', 2000) ON CONFLICT (id) DO UPDATE SET n = excluded.n WHERE excluded.n > 1500$$,
  $$INSERT INTO t VALUES (5, 'p', 3000), (5, 'q', 0) ON CONFLICT (id) DO UPDATE SET n = excluded.n WHERE t.n < 2500$$,
  $$INSERT INTO t VALUES (9, 'k', 0), (10, 'k', 0) ON CONFLICT (code) DO UPDATE SET code = excluded.code$$,
  $$INSERT INTO t VALUES (9, NULL, 0), (10, NULL, 0) ON CONFLICT (code) DO UPDATE SET code = excluded.code$$,
  $$WITH c AS (INSERT INTO t VALUES (9, 'nine', 9), (11, 'eleven', 11) ON CONFLICT (id) DO UPDATE SET id = excluded.id, code = excluded.code RETURNING *) INSERT INTO t SELECT id + 20, code || '+', n FROM c$$
]) WITH ORDINALITY u (statement, i);
-- Within one command of PostgreSQL, whose rows go in several requests
SELECT both_sides($$INSERT INTO t SELECT g % 1500 + 1000, NULL, g FROM generate_series(1, 3000) g ON CONFLICT (id) DO UPDATE SET id = excluded.id$$);
SELECT both_sides($$WITH c AS (INSERT INTO t SELECT g % 1500 + 1000, NULL, g FROM generate_series(1, 1500) g ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING id) SELECT count(*), sum(id) FROM c$$);
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO of_engine.t VALUES (1, 'x', 0), (2, 'y', 0) ON CONFLICT (id) DO UPDATE SET id = excluded.id, code = excluded.code WHERE t.n > 0 RETURNING n;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA keyed CASCADE') \gset
