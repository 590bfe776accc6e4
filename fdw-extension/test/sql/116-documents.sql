-- Functions and operators of arrays, json and jsonb are the engine's where it answers as PostgreSQL does; what is not certain stays here.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA docs') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE docs.d (id int PRIMARY KEY, ai int[], an numeric[], at text[], az timestamptz[], jb jsonb, j json, e text, es text)') \gset
CREATE SCHEMA docs;
IMPORT FOREIGN SCHEMA docs FROM SERVER kakehashi INTO docs;
CREATE TYPE docs_mood AS ENUM ('sad', 'ok');
ALTER FOREIGN TABLE docs.d ALTER e TYPE docs_mood, ALTER es TYPE docs_mood[];
CREATE SCHEMA heap_docs;
CREATE TABLE heap_docs.d (LIKE docs.d);
INSERT INTO heap_docs.d VALUES
  (1, '{1,2,3}', '{1.0,2}', '{a,b}', '{2020-01-01 00:00+00}', '{"a": 1, "b": {"c": [1, "x", null]}}', '{"a" : 1,  "a":2, "b":"7"}', 'sad', '{sad}'),
  (2, '{}', '{1.00,2.0}', '{}', NULL, '[1, "a", {"b": 1.50}]', '[1, {"b" : 2}]', 'ok', '{}'),
  (3, '{3,NULL,1}', '{NULL}', '{NULL,"NULL",""}', NULL, '"text"', '"t"', NULL, NULL),
  (4, '{{1,2},{3,4}}', '{NaN,0}', '{"a b","c\"d",日本}', NULL, '{"a": 1.0, "n": "12", "日": {}}', '{"n": " 12 "}', 'ok', '{ok,sad}'),
  (5, '[0:2]={1,2,3}', NULL, '{B,a}', NULL, 'null', 'null', 'ok', NULL),
  (6, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL),
  (7, '[5:6][-1:0]={{1,2},{3,NULL}}', '{1e30,-0.10}', '{a}', NULL, '{"a": {"b": {"c": 3}}, "tags": ["x", "y"]}', '{}', 'sad', NULL),
  (8, '{1,2,3}', '{1.0,2}', '{a,b}', NULL, '{"b": {"c": [1, "x", null]}, "a": 1.00}', '[]', 'sad', NULL);
INSERT INTO docs.d SELECT * FROM heap_docs.d;

-- The plan's remote SQL; then the rows that are only here, and those that are only in the heap
CREATE FUNCTION pg_temp.compare(query text) RETURNS TABLE (remote text, difference text) LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  SET LOCAL search_path = docs, public;
  remote := '';
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line ~ 'Remote SQL|Filter' THEN
      remote := remote || CASE WHEN remote = '' THEN '' ELSE E'\n' END || trim(line);
    END IF;
  END LOOP;
  EXECUTE 'CREATE TEMP TABLE f ON COMMIT DROP AS SELECT q::text AS row FROM (' || query || ') q';
  SET LOCAL search_path = heap_docs, public;
  EXECUTE 'CREATE TEMP TABLE h ON COMMIT DROP AS SELECT q::text AS row FROM (' || query || ') q';
  SELECT string_agg(side || row, E'\n') INTO difference FROM (
    (SELECT '+' AS side, row FROM f EXCEPT ALL SELECT '+', row FROM h) UNION ALL
    (SELECT '-', row FROM h EXCEPT ALL SELECT '-', row FROM f)) x;
  DROP TABLE f, h;
  RETURN NEXT;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT (pg_temp.compare(q)).* FROM unnest(ARRAY[
  'SELECT id FROM d WHERE ai = ''{1,2,3}''',
  'SELECT id FROM d WHERE ai <> ''{1,2,3}'' AND an = ''{1,2}''',
  'SELECT id FROM d WHERE ai @> ''{1}'' OR ai <@ ''{1,2,3}'' OR at && ''{a}''',
  'SELECT id FROM d WHERE ai < ''{1,3}'' AND at < ''{b}'' COLLATE "C"',
  'SELECT id FROM d WHERE 3 = ANY (ai) OR ''a'' = ANY (at) OR id <> ALL (ai)',
  'SELECT id FROM d WHERE ai[1] = 1 OR ai[2][1] = 3 OR at[id] = ''b''',
  'SELECT id, ai[1:2], ai[id:3], ai[1][1] FROM d WHERE ai[2:3] = ''{2,3}''',
  'SELECT id FROM d WHERE array_length(ai, 1) = 3 OR cardinality(at) = 3 OR array_upper(ai, 2) = 0 OR array_lower(ai, 1) = 0 OR array_ndims(ai) = 2',
  'SELECT id, array_position(at, ''b''), array_positions(at, ''a'') FROM d WHERE array_ndims(at) = 1 AND array_remove(at, ''a'') <> at',
  'SELECT id FROM d WHERE array_to_string(at, ''-'', ''*'') = ''a-b'' OR array_replace(ai, 1, 9) @> ''{9}'' OR ai || 4 = ''{1,2,3,4}'' OR at || at @> ''{B}''',
  'SELECT id FROM d WHERE jb = ''{"a": 1, "b": {"c": [1, "x", null]}}'' OR jb <> ''null''',
  'SELECT id FROM d WHERE jb -> ''a'' = ''1'' OR jb ->> ''n'' = ''12'' OR jb -> 1 = ''"a"'' OR jb ->> -1 = ''x''',
  'SELECT id FROM d WHERE jb #> ''{b,c}'' = ''[1, "x", null]'' OR jb #>> ''{a,b,c}'' = ''3''',
  'SELECT id FROM d WHERE jb @> ''{"a": 1}'' OR jb <@ ''[1, "a", {"b": 1.5}, 2]''',
  'SELECT id FROM d WHERE jb ? ''tags'' OR jb ?| ''{n,x}'' OR jb ?& ''{a,b}''',
  'SELECT id FROM d WHERE jsonb_typeof(jb) = ''array'' AND jsonb_array_length(jb) = 3',
  'SELECT id FROM d WHERE (jb || ''{"z": 1}'') - ''a'' = ''{"n": "12", "z": 1, "日": {}}'' OR CASE WHEN jb ? ''tags'' THEN jb #- ''{a,b}'' @> ''{"a": {}}'' END',
  'SELECT id FROM d WHERE j ->> ''a'' = ''2'' OR j -> ''b'' ->> 0 IS NULL OR json_typeof(j) = ''array''',
  'SELECT count(*), count(DISTINCT ai), max(jb ->> ''n'' COLLATE "C"), sum(cardinality(ai)), bool_or(jb ? ''a'') FROM d',
  'SELECT ai, count(*) FROM d GROUP BY ai',
  'SELECT jb ->> ''a'' AS a, count(*) FROM d GROUP BY 1',
  'SELECT id FROM d ORDER BY ai, id LIMIT 3',
  'SELECT x.id, y.id FROM d x JOIN d y ON x.ai = y.ai AND x.id < y.id',
  'SELECT x.id, y.id FROM d x JOIN d y ON x.jb = y.jb AND x.id < y.id'
  ]) q;
-- Not the engine's: what may look different though it is equal, is ordered under another collation, depends on settings, or is of a type of this database
SELECT (pg_temp.compare(q)).* FROM unnest(ARRAY[
  'SELECT count(*) FROM (SELECT an FROM d GROUP BY an) x',
  'SELECT count(*) FROM (SELECT jb FROM d GROUP BY jb) x',
  'SELECT id FROM d WHERE jb < ''[1]''',
  'SELECT id FROM d WHERE at < ''{b}'' COLLATE "en-x-icu"',
  'SELECT id FROM d ORDER BY jb, id LIMIT 2',
  'SELECT id FROM d WHERE e = ''ok'' OR es = ''{ok,sad}''',
  'SELECT id FROM d WHERE az[1] > ''2019-01-01 00:00+00''',
  'SELECT id FROM d WHERE j #>> ''{b,0}'' IS NULL',
  'SELECT id FROM d WHERE array_to_string(az, '','') LIKE ''2020%'''
  ]) q;
-- Arrays of every type that is compared there: all pairs of values under all operators, and all with the functions; a difference is text
CREATE TABLE docs_values (type text, arrays text[], element text);
INSERT INTO docs_values VALUES
  ('int2', ARRAY['{}', '{-32768,32767}', '{NULL}', '{1,2}', '{1,2,NULL}', '[0:1]={1,2}', '{{1},{2}}'], '2'),
  ('int8', ARRAY['{}', '{-9223372036854775808,9223372036854775807}', '{NULL,1}', '{9007199254740993}', '{9007199254740992}'], '9007199254740993'),
  ('bool', ARRAY['{}', '{t,f}', '{f}', '{NULL,t}', '{{t,f},{f,t}}'], 't'),
  ('float8', ARRAY['{NaN}', '{-0}', '{0}', '{Infinity,-Infinity}', '{1e-310,0.1}', '{NULL,1e308}', '{0.1}'], '0'),
  ('float4', ARRAY['{NaN}', '{-0}', '{0}', '{Infinity,-Infinity}', '{0.1,16777217}', '{NULL,3.4e38}', '{0.1}'], '0.1'),
  ('numeric', ARRAY['{NaN}', '{1.0}', '{1.00,2}', '{1,2.000}', '{Infinity,-Infinity}', '{1e100}', '{NULL,-0.10}'], '1'),
  ('text', ARRAY['{}', '{""}', '{NULL}', '{"NULL"}', '{a,B,日本,😀}', '{"a,b","{c}","\"","\\"}', '{"  x "}', '{a,B}', '{{a},{B}}'], 'a'),
  ('date', ARRAY['{infinity}', '{-infinity,2020-02-29}', '{"4713-01-01 BC"}', '{NULL,5874897-12-31}', '{2020-02-29}'], '2020-02-29'),
  ('timestamp', ARRAY['{infinity}', '{-infinity,"2020-02-29 12:00:00.000001"}', '{"0001-01-01 00:00 BC"}', '{NULL,"294276-12-31 23:59:59.999999"}'], '2020-02-29 12:00:00.000001'),
  ('uuid', ARRAY['{}', '{80000000-0000-0000-0000-000000000000,7fffffff-ffff-ffff-8000-000000000000}', '{NULL}', '{80000000-0000-0000-0000-000000000000}'], '80000000-0000-0000-0000-000000000000');
CREATE FUNCTION pg_temp.differences(of docs_values) RETURNS TABLE (type text, queries int, sent int, difference text) LANGUAGE plpgsql AS $$
DECLARE
  query text;
  plan text;
  f text;
  h text;
BEGIN
  type := of.type; queries := 0; sent := 0; difference := '';
  PERFORM kakehashi_execute('kakehashi', format('CREATE TABLE docs.of_%s (id int PRIMARY KEY, a %1$s[], e %1$s)', of.type));
  EXECUTE format('IMPORT FOREIGN SCHEMA docs LIMIT TO (of_%s) FROM SERVER kakehashi INTO docs', of.type);
  EXECUTE format('CREATE TABLE heap_docs.of_%s (LIKE docs.of_%1$s)', of.type);
  EXECUTE format('INSERT INTO heap_docs.of_%s SELECT ordinality, a::%1$s[], $2::%1$s FROM unnest($1) WITH ORDINALITY u (a, ordinality)', of.type) USING of.arrays, of.element;
  EXECUTE format('INSERT INTO heap_docs.of_%s VALUES (0)', of.type);
  EXECUTE format('INSERT INTO docs.of_%s SELECT * FROM heap_docs.of_%1$s', of.type);
  FOR query IN
    SELECT format('SELECT x.id, y.id FROM v x JOIN v y ON x.a %s y.a', o) FROM unnest(ARRAY['=', '<>', '<', '<=', '>', '>=', '@>', '<@', '&&', 'IS NOT DISTINCT FROM']) o
    UNION ALL SELECT format('SELECT id FROM v WHERE %s', c) FROM unnest(ARRAY['e = ANY (a)', 'e <> ALL (a)', 'a[2] = e', 'a[1:1] @> a[2:2]', 'array_replace(a, e, NULL) = a', 'a || a = a',
      'CASE WHEN array_ndims(a) = 1 THEN array_position(a, e) = 1 END', 'CASE WHEN array_ndims(a) = 1 THEN array_remove(a, e) || e = a END', 'CASE WHEN array_ndims(a) = 1 THEN e || a < a END',
      'array_to_string(a, '','', ''N'') LIKE ''%0%''', 'array_length(a, 1) = cardinality(a)' ]) c
    UNION ALL VALUES ('SELECT id, rank() OVER (ORDER BY a) FROM v'), ('SELECT count(DISTINCT a) FROM v'), ('SELECT count(*) FROM (SELECT DISTINCT a FROM v) x'), ('SELECT id FROM (SELECT * FROM v ORDER BY a DESC, id LIMIT 3) x')
  LOOP
    queries := queries + 1;
    query := regexp_replace(query, '\mv\M', 'of_' || of.type, 'g');
    SET LOCAL search_path = docs, public;
    EXECUTE 'EXPLAIN (VERBOSE, FORMAT json) ' || query INTO plan;
    IF plan ~ 'Remote SQL' AND plan !~ '"(Filter|Join Filter|Hash Cond|Sort Key|Group Key)"' THEN
      sent := sent + 1;
    END IF;
    EXECUTE 'SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (' || query || ') q' INTO f;
    SET LOCAL search_path = heap_docs, public;
    EXECUTE 'SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (' || query || ') q' INTO h;
    IF f IS DISTINCT FROM h THEN
      difference := difference || format(E'\n%s: engine %s, heap %s', query, f, h);
    END IF;
  END LOOP;
  RETURN NEXT;
END $$;
SELECT d.type, queries, sent > 20 AS sent, difference FROM docs_values v, pg_temp.differences(v) d;
-- Text as a number is the engine's on PostgreSQL 15; later versions read more than it does
SELECT (pg_temp.compare(q)).difference FROM unnest(ARRAY[
  'SELECT id FROM d WHERE jsonb_typeof(jb) = ''object'' AND (jb ->> ''n'')::int > 5',
  'SELECT id FROM d WHERE (j ->> ''n'')::numeric = 12.0 OR (j ->> ''n'')::int8 = 12'
  ]) q;
\pset format aligned
\pset tuples_only off
-- Errors are the same
\set VERBOSITY terse
SELECT id FROM docs.d WHERE jsonb_array_length(jb) > 0;
SELECT id FROM docs.d WHERE jsonb_typeof(jb) = 'string' AND jsonb_array_length(jb) > 0;
SELECT id FROM docs.d WHERE array_position(ai, 4) = 1;
SELECT id FROM docs.d WHERE id = 3 AND (jb #>> '{}')::int = 1;
-- A prepared statement, with parameters of these types
PREPARE by_document (jsonb, int[], text[]) AS SELECT id FROM docs.d WHERE jb @> $1 OR ai = $2 OR jb ?| $3 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE by_document ('{"n": "12"}', '{}', '{tags}');
EXECUTE by_document ('{"n": "12"}', '{}', '{tags}');
EXECUTE by_document (NULL, '{3,NULL,1}', '{NULL,a}');
RESET plan_cache_mode;
-- A column that is something else on the engine is not taken for what it is said to be
CREATE FOREIGN TABLE docs.wrong (id int, e jsonb, es int[]) SERVER kakehashi OPTIONS (schema_name 'docs', table_name 'd');
SELECT count(*) FROM docs.wrong WHERE e ->> 'a' = 'x';
SELECT count(*) FROM docs.wrong WHERE 1 = ANY (es);
SELECT count(*) FROM docs.wrong WHERE es[1] = 1;
SELECT count(*) FROM docs.wrong WHERE e @> '{}';
SET client_min_messages = warning;
DROP SCHEMA docs, heap_docs CASCADE;
DROP TYPE docs_mood;
DROP TABLE docs_values CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA docs CASCADE');
