-- SET of elements of arrays and jsonb, and of texts of a length, is one statement of the engine, with PostgreSQL's values and errors.
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA IF EXISTS elements CASCADE') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA elements') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE elements.t (id int4 PRIMARY KEY, r int4[], m int8[], s text[], j jsonb, v varchar(6), w varchar(6)[], k int4)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA elements FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.t (id int4 PRIMARY KEY, r int4[], m int8[], s text[], j jsonb, v varchar(6), w varchar(6)[], k int4);
INSERT INTO of_heap.t VALUES (1, '{1,2}', '{{1,2},{3,4}}', '{a}', '{"a": [1, {"b": 2}]}', 'abc', '{x}', 1), (2, NULL, NULL, NULL, NULL, NULL, NULL, 3),
  (3, '[2:3]={7,8}', '{}', '{NULL}', '[1]', 'a    ', '{}', NULL), (4, '{}', '{5}', '{b,c}', '"scalar"', 'abcde', NULL, -1);
INSERT INTO of_engine.t SELECT * FROM of_heap.t;
SET search_path = of_engine, public;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET r[1] = k, r[k + 1] = 5, j['a'][0]['c'] = j['a'], v = v || 'x' WHERE id < 3;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET m[1][2] = o.k, v = o.v || t.v FROM t o WHERE o.id = t.id + 1 AND t.k > 0 RETURNING t.r, o.id;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET r[2] = excluded.id, v = excluded.v || 'y';
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM t WHERE v::varchar(2) = 'ab';
-- Computed here
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET r[1:2] = '{1,2}' WHERE id = 1;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET w[1] = v WHERE id = 1;
RESET search_path;
SELECT statement, both_sides(statement, 'SELECT string_agg(t::text, '' '' ORDER BY id) FROM t') FROM unnest(ARRAY[
  'UPDATE t SET r[1] = k, s[2] = v WHERE id <> 4',
  'UPDATE t SET r[k] = 9, r[k + 2] = 10 WHERE k > 0',
  'UPDATE t SET r[-1] = NULL',
  'UPDATE t SET r[k] = 1',
  'UPDATE t SET m[2][1] = 30 WHERE id = 1',
  'UPDATE t SET m[2][3] = 30 WHERE id = 1',
  'UPDATE t SET m[2] = 30 WHERE id = 1',
  'UPDATE t SET m[2][3] = k WHERE id IN (2, 3)',
  'UPDATE t SET j[''a''][1][''b''] = j[''a''] || ''5'', j[''new''][''deep''][2] = ''"e"'' WHERE id IN (1, 2)',
  'UPDATE t SET j[k] = ''{"k": 1}'', j[5] = NULL WHERE id = 3',
  'UPDATE t SET j[2] = ''{"k": 1}'', j[-2] = ''0'' WHERE id = 3',
  'UPDATE t SET j[''a''] = ''1'' WHERE id = 4',
  'UPDATE t SET j[''a''][v] = ''1'' WHERE id = 1',
  'UPDATE t SET j[''a''][-9] = ''1'' WHERE id = 1',
  'UPDATE t SET v = v || ''x''',
  'UPDATE t SET v = v || ''  '' WHERE id = 4',
  'UPDATE t SET v = v || v || ''!'' WHERE id = 4',
  'UPDATE t SET v = (v || v)::varchar(4) WHERE id = 4',
  'UPDATE t SET v = t.v || o.k FROM t o WHERE o.id = t.id - 1',
  'UPDATE t SET w[1] = ''too long'' WHERE id = 1',
  'UPDATE t SET w[2] = v, r[1:2] = ''{7,8}'' WHERE id = 1',
  'INSERT INTO t (id, v, k) VALUES (1, ''new'', 6), (9, ''x'', 1) ON CONFLICT (id) DO UPDATE SET r[2] = excluded.k, j[''e''] = to_jsonb(excluded.v), v = excluded.v || ''y''',
  'INSERT INTO t (id, v) VALUES (1, ''longer'') ON CONFLICT (id) DO UPDATE SET v = excluded.v || ''y''']) statement;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA elements CASCADE') \gset
