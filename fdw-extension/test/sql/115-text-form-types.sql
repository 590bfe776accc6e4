-- Types that the engine only keeps ("char", name, timetz, json, jsonb, arrays, enums) come back as they went, extremes included,
-- whatever the session's settings are; everything that is asked of them is computed here.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA kept') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE kept.scalars (id int4 PRIMARY KEY, ch "char", na name, tz timetz, js json, jb jsonb, nu numeric, da date, ts timestamp, tt timestamptz)') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE kept.arrays (id int4 PRIMARY KEY, ab bool[], a2 int2[], a4 integer[], a8 int8[], af4 real[], af8 double precision[],
  an numeric(12,3)[], at text[], av varchar(9)[], ac char(3)[], aby bytea[], ad date[], ati time[], atz timetz[], ats timestamp[], att timestamp with time zone[], ai interval[],
  au uuid[], aj json[], ajb jsonb[], ana name[], ach "char"[])') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE kept.named (k name, z timetz, v int4, PRIMARY KEY (k, z))') \gset
CREATE SCHEMA kept;
IMPORT FOREIGN SCHEMA kept FROM SERVER kakehashi INTO kept;
SELECT c.relname, string_agg(format('%s %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relnamespace = 'kept'::regnamespace AND a.attnum > 0 GROUP BY 1 ORDER BY 1;

CREATE SCHEMA heap_kept;
CREATE TABLE heap_kept.scalars AS SELECT * FROM kept.scalars;
CREATE TABLE heap_kept.arrays AS SELECT * FROM kept.arrays;
INSERT INTO heap_kept.scalars VALUES
  (1, 'x', 'name', '12:34:56.789+02', '{"a" :  [1, null, "ü"]}', '{"a" :  [1, null, "ü"]}', 'NaN', 'infinity', 'infinity', 'infinity'),
  (2, '\377', repeat('n', 63), '24:00:00-15:59', '[]', '1e400', 'Infinity', '-infinity', '-infinity', '-infinity'),
  (3, '', '', '00:00+15:59', '""', '""', '-Infinity', '5874897-12-31', '294276-12-31 23:59:59.999999', '4713-01-01 00:00+00 BC'),
  (4, '''', 'Odd "na''me"', '23:59:59.999999+00', 'null', 'null', '1e-1000', '4713-01-01 BC', '4713-01-01 BC', '294276-12-31 23:59:59.999999+00'),
  (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (6, 'y', 'long', '00:00+00', (SELECT json_agg(g) FROM generate_series(1, 20000) g), (SELECT jsonb_object_agg(g, repeat('v', 20)) FROM generate_series(1, 3000) g),
   -123456789012345678901234567890.123456789, '2000-01-01', '2000-01-01', '2000-01-01+00');
INSERT INTO heap_kept.arrays VALUES
  (1, '{t,f,NULL}', '{-32768,32767}', '{{1,2},{3,4}}', '{-9223372036854775808,9223372036854775807}', '{NaN,Infinity,-Infinity,1.17549435e-38,0.1}',
   '{NaN,-0,4.9e-324,1.7976931348623157e308,0.1}', '{NaN,123456789.125}', '{"",NULL,"NULL","a,b","\"q\\","ü{}"}', '{abc}', '{a,NULL}', '{"\\x00ff",""}', '{infinity,-infinity,2001-02-03}',
   '{24:00,00:00}', '{12:00+02,NULL}', '{infinity,"2001-02-03 04:05:06.000007"}', '{-infinity,"2001-02-03 04:05:06+07"}', '{"1 year -2 days 03:04:05.6","-178000000 years"}',
   '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}', '{"{\"a\": 1}",NULL}', '{"{\"b\": [2]}"}', '{one,two}', '{x,y}'),
  (2, '{}', '[5:6]={1,2}', '[0:1][-1:0]={{1,2},{3,NULL}}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}');
INSERT INTO heap_kept.arrays (id) VALUES (3);
INSERT INTO heap_kept.arrays (id, a8, at) SELECT 4, array_agg(g), array_agg(repeat('long', g % 100)) FROM generate_series(1, 5000) g;

-- Written under one set of settings, read under another
SET DateStyle = 'German, DMY';
SET IntervalStyle = 'sql_standard';
SET extra_float_digits = -15;
SET bytea_output = 'escape';
SET timezone = 'America/St_Johns';
INSERT INTO kept.scalars SELECT * FROM heap_kept.scalars;
INSERT INTO kept.arrays SELECT * FROM heap_kept.arrays;
RESET DateStyle;
RESET IntervalStyle;
RESET extra_float_digits;
RESET bytea_output;
RESET timezone;
CREATE FUNCTION pg_temp.differences(relation text) RETURNS TABLE (in_both bigint, differing bigint) LANGUAGE sql AS $$
  SELECT (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM kept.%1$I f JOIN heap_kept.%1$I h USING (id)', relation), true, true, '')))[1]::text::bigint,
    (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM kept.%1$I f FULL JOIN heap_kept.%1$I h USING (id) WHERE f::text IS DISTINCT FROM h::text', relation), true, true, '')))[1]::text::bigint
$$;
SELECT * FROM pg_temp.differences('scalars');
SELECT * FROM pg_temp.differences('arrays');
SET DateStyle = 'SQL, MDY';
SET extra_float_digits = 0;
SELECT * FROM pg_temp.differences('arrays');
RESET DateStyle;
RESET extra_float_digits;
SELECT id, ch, na, tz, jb->'a'->2 AS e, nu > 0 AS p, da, ts FROM kept.scalars WHERE id < 6 ORDER BY id;
SELECT a4, at, ats, ai, ajb FROM kept.arrays WHERE id < 4 ORDER BY id;

-- Asked of them here
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM kept.scalars WHERE jb @> '{"a": [1]}' AND na > 'a' AND tz < '13:00+00' AND ch = 'x' AND js IS NOT NULL;
SELECT id FROM kept.scalars WHERE jb @> '{"a": [1]}' AND na > 'a' AND tz < '13:00+00' AND ch = 'x' AND js IS NOT NULL;
SELECT id FROM kept.arrays WHERE 32767 = ANY (a2) OR a4[0][0] IS NULL AND cardinality(at) = 0 ORDER BY id;
SELECT count(DISTINCT jb), count(DISTINCT na), max(tz), count(js) FROM kept.scalars;
SELECT na FROM kept.scalars ORDER BY na DESC NULLS LAST LIMIT 2;
PREPARE by_array(int[]) AS SELECT id FROM kept.arrays WHERE a4 = $1;
EXECUTE by_array('{{1,2},{3,4}}');
-- Changed
UPDATE kept.scalars SET jb = jb || '{"b": 2}', na = 'new', tz = tz + interval '1 hour' WHERE id = 1 RETURNING jb, na, tz;
UPDATE kept.arrays SET a4 = array_append(a8::int4[], 7), at = NULL WHERE id = 2 RETURNING a4, at;
COPY kept.arrays (id, a4, aj) FROM stdin;
10	{1,NULL}	{"[1]"}
11	\N	{}
\.
SELECT id, a4, aj FROM kept.arrays WHERE id >= 10 ORDER BY id;
DELETE FROM kept.arrays WHERE aj::text = '{}' AND id > 2 RETURNING id;
-- As keys
INSERT INTO kept.named VALUES ('a', '12:00+00', 1), ('a', '13:00+01', 2), (repeat('b', 70)::name, '12:00+00', 3);
INSERT INTO kept.named VALUES ('a', '12:00+00', 4);
UPDATE kept.named SET v = v * 10 WHERE length(k::text) = 1;
DELETE FROM kept.named WHERE length(k::text) = 63;
SELECT * FROM kept.named ORDER BY v;
-- Enums, their arrays, and domains are text on the engine
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE kept.moods (id int4 PRIMARY KEY, m text, ms text, d int4[], j jsonb)') \gset
CREATE TYPE kept.mood AS ENUM ('sad', 'ok', 'Very "happy"');
CREATE DOMAIN kept.pair AS int4[] CHECK (cardinality(VALUE) = 2);
CREATE DOMAIN kept.object AS jsonb CHECK (jsonb_typeof(VALUE) = 'object');
CREATE FOREIGN TABLE kept.moods (id int OPTIONS (key 'true'), m kept.mood, ms kept.mood[], d kept.pair, j kept.object) SERVER kakehashi OPTIONS (schema_name 'kept');
INSERT INTO kept.moods VALUES (1, 'ok', '{sad,"Very \"happy\""}', '{1,2}', '{"a": 1}'), (2, 'Very "happy"', NULL, NULL, '{}'), (3, NULL, '{}', '{3,4}', NULL), (4, 'sad', '{NULL}', '{5,6}', '{}');
EXPLAIN (VERBOSE, COSTS OFF) SELECT m FROM kept.moods WHERE m > 'sad' ORDER BY m DESC;
SELECT * FROM kept.moods WHERE m > 'sad' OR m IS NULL ORDER BY m DESC;
SELECT m, count(*) FROM kept.moods GROUP BY m ORDER BY m;
SELECT coalesce(m, 'sad'), CASE WHEN id = 1 THEN j END FROM kept.moods ORDER BY id;
SELECT kakehashi_execute('kakehashi', $$INSERT INTO kept.moods VALUES (5, 'unheard of', NULL, NULL, NULL)$$);
\set VERBOSITY sqlstate
SELECT m FROM kept.moods WHERE id = 5;
SELECT kakehashi_execute('kakehashi', $$UPDATE kept.moods SET m = 'ok', d = '{1,2,3}' WHERE id = 5$$);
SELECT d FROM kept.moods WHERE id = 5;
-- What the engine cannot answer it refuses
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE kept.x (j jsonb PRIMARY KEY)');
SELECT kakehashi_execute('kakehashi', 'CREATE INDEX ON kept.moods (d)');
SELECT * FROM kakehashi_query('kakehashi', 'SELECT tz FROM kept.scalars ORDER BY tz') AS (t timetz);
SELECT * FROM kakehashi_query('kakehashi', 'SELECT js FROM kept.scalars WHERE js = js') AS (j json);
\set VERBOSITY default
SELECT * FROM kakehashi_query('kakehashi', $$SELECT jb, tz, CAST('{1,2}' AS int4[]), na FROM kept.scalars WHERE id = 1$$) AS (jb jsonb, tz timetz, a int[], n name);
-- jsonb has an equality, there and here.
SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM (SELECT jb FROM kept.scalars GROUP BY jb) g') AS (groups bigint);
SELECT count(*) FROM (SELECT jb FROM kept.scalars GROUP BY jb) g;

SET client_min_messages = warning;
DROP SCHEMA kept, heap_kept CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA kept CASCADE') \gset
