-- Comparisons with arrays go to the engine as one parameter, and look keys up there; values are PostgreSQL's.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS arrays');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE arrays (id int PRIMARY KEY, big int8, t text, n numeric, f float8, d date, u uuid, c char(4), b bool)');
CREATE SCHEMA arrays;
SET search_path = arrays, public;
IMPORT FOREIGN SCHEMA public LIMIT TO (arrays) FROM SERVER kakehashi INTO arrays;
INSERT INTO arrays SELECT g, g * 10, CASE g WHEN 7 THEN 'a "b", {c}\' WHEN 8 THEN 'NULL' WHEN 9 THEN '' ELSE 't' || g END, g / 4.0, g / 8.0, date '2020-01-01' + g,
    ('00000000-0000-0000-0000-' || lpad(g::text, 12, '0'))::uuid, 'c' || g, g % 2 = 0 FROM generate_series(1, 500) g;
INSERT INTO arrays (id) VALUES (1000);
SET plan_cache_mode = force_generic_plan;

-- By key: the engine's plan is an index scan.
SET kakehashi.explain_remote_plan = on;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, t FROM arrays WHERE id IN (3, 1, 3, NULL, 7000);
RESET kakehashi.explain_remote_plan;
SELECT id, t FROM arrays WHERE id IN (3, 1, 3, NULL, 7000) ORDER BY id;
PREPARE by_key(int[]) AS SELECT id FROM arrays WHERE id = ANY ($1) ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE by_key('{1}');
EXECUTE by_key('{5,4,5,NULL}');
EXECUTE by_key('{}');
EXECUTE by_key(NULL);
EXECUTE by_key('[5:6][1:2]={{1,2},{3,4}}');
SELECT array_agg(g) AS many FROM generate_series(490, 20000) g \gset
EXECUTE by_key(:'many');
PREPARE by_wider_key(int8[]) AS SELECT id FROM arrays WHERE id = ANY ($1);
EXECUTE by_wider_key('{4294967297,-4294967295,2}');

-- Other columns, NOT IN, empty and null arrays
PREPARE others(int[]) AS SELECT count(*) FROM arrays WHERE big <> ALL ($1);
EXECUTE others('{10,20}');
EXECUTE others('{10,NULL}');
EXECUTE others('{}');
EXECUTE others(NULL);
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE others('{}');
SELECT id FROM arrays WHERE t = ANY ('{"a \"b\", {c}\\","NULL",""}') ORDER BY id;
SELECT id FROM arrays WHERE t NOT IN ('x', NULL);
SELECT id FROM arrays WHERE n = ANY ('{0.250,NaN,1.0}') ORDER BY id;
SELECT id FROM arrays WHERE f = ANY ('{0.125,Infinity}'::float4[]) ORDER BY id;
SELECT id FROM arrays WHERE d = ANY (ARRAY[date '2020-01-03', 'infinity', '0044-03-15 BC']) ORDER BY id;
SELECT id FROM arrays WHERE d = ANY (ARRAY[timestamp '2020-01-03', '2020-01-04 00:00:01']) ORDER BY id;
SELECT id FROM arrays WHERE u = ANY ('{00000000-0000-0000-0000-000000000012}') ORDER BY id;
SELECT id FROM arrays WHERE c = ANY ('{"c5  ",c6}'::char(4)[]) ORDER BY id;
SELECT count(*) FROM arrays WHERE b = ANY ('{t,NULL}');
-- Elements that are columns go over one by one, and for other operators those of constants, too; arrays that come later stay here.
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM arrays WHERE 50 IN (id, big);
SELECT id FROM arrays WHERE 50 IN (id, big) ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM arrays WHERE id < ANY ('{3,2}');
SELECT id FROM arrays WHERE id < ANY ('{3,2}') ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM arrays WHERE t LIKE ANY ('{t1_,t20%}') AND id > ALL (ARRAY[big / 20, 11, 12]) AND n <> ANY ('{3.5}');
SELECT id FROM arrays WHERE t LIKE ANY ('{t1_,t20%}') AND id > ALL (ARRAY[big / 20, 11, 12]) AND n <> ANY ('{3.5}') ORDER BY id;
SELECT count(*) FILTER (WHERE id < ALL ('{}')) AS all_of_none, count(*) FILTER (WHERE big < ANY ('{}')) AS any_of_none, count(*) FILTER (WHERE big > ALL ('{10,NULL}')) AS unknown,
  count(*) FILTER (WHERE big > ANY ('{4000,NULL}')) AS some, count(*) FILTER (WHERE (big >= ANY (NULL::int8[])) IS NULL) AS no_array FROM arrays;
PREPARE later(int[]) AS SELECT count(*) FROM arrays WHERE id >= ALL ($1);
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE later('{3}');
EXECUTE later('{3,7}');

-- Arrays that are cast are computed here, and are one parameter, too.
PREPARE cast_key(int8[]) AS SELECT id FROM arrays WHERE id = ANY ($1::int[]) ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE cast_key('{1}');
EXECUTE cast_key('{5,4,5,NULL}');
EXECUTE cast_key('{}');
EXECUTE cast_key(NULL);
EXECUTE cast_key('[5:6][1:2]={{1,2},{3,4}}');
EXECUTE cast_key('{4294967297}');
PREPARE cast_others(text[], numeric[]) AS SELECT count(*) FROM arrays WHERE big <> ALL ($1::int8[]) AND t = ANY ($1::varchar(2)[]) OR id = ANY ($2::int[]::int8[]);
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE cast_others('{}', '{}');
EXECUTE cast_others('{10,20}', '{2.4,2.6}');
EXECUTE cast_others('{t1}', NULL);
SELECT id FROM arrays WHERE id = ANY (ARRAY(SELECT g::numeric / 2 FROM generate_series(5, 8) g)::int[]) ORDER BY id;
PREPARE cast_again(date[]) AS SELECT id FROM arrays WHERE d = ANY ($1::timestamptz[]::date[]) AND array_length($1::timestamp[], 1) = 2 ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE cast_again('{2020-01-03}');
EXECUTE cast_again('{2020-01-03,infinity}');
-- A cast whose result may be another one for each row stays here.
CREATE TYPE wrapped AS (x int8);
CREATE FUNCTION unwrap(wrapped) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1.x; END';
CREATE CAST (wrapped AS int) WITH FUNCTION unwrap(wrapped);
PREPARE cast_volatile(wrapped[]) AS SELECT id FROM arrays WHERE id = ANY ($1::int[]) ORDER BY id;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE cast_volatile('{}');
EXECUTE cast_volatile('{(4),(6)}');
DROP CAST (wrapped AS int);

-- Changes and joins
EXPLAIN (VERBOSE, COSTS OFF) UPDATE arrays SET t = 'changed' WHERE id = ANY ('{1,2}');
UPDATE arrays SET t = 'changed' WHERE id = ANY ('{1,2}') RETURNING id;
-- A date that is no timestamp can be compared with one.
UPDATE arrays SET d = '5874897-12-31' WHERE id = 1000;
SELECT count(*) FROM arrays WHERE d NOT IN (timestamp '2020-01-03', date '2020-01-04');
SELECT id FROM arrays WHERE d = ANY (ARRAY[timestamp '2020-01-03', 'infinity']);
DELETE FROM arrays WHERE id = ANY ((SELECT array_agg(g) FROM generate_series(400, 2000) g)::int[]);
SELECT count(*), max(id) FROM arrays;
SELECT x.id, y.id FROM arrays x JOIN arrays y ON x.big = y.big WHERE x.id IN (10, 11, 12) AND y.t = ANY ('{t10,t12}') ORDER BY 1;
RESET plan_cache_mode;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA arrays CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE arrays');
