-- Functions and operators that go to the engine give what PostgreSQL gives, for every value of a column, null and odd ones included.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA fun') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE fun.t (id int4 PRIMARY KEY, s text, u text, i int4, l int8, f float8)') \gset
CREATE SCHEMA fun;
IMPORT FOREIGN SCHEMA fun FROM SERVER kakehashi INTO fun;
CREATE TABLE fun.heap (LIKE fun.t);
INSERT INTO fun.heap SELECT row_number() OVER (), s, u, i, i * 1000003::int8, f
FROM unnest(ARRAY['', 'a', 'abcabc', '  trim me ', E'\tтекст 懸け橋', '🙂x🙂', 'x,y,,z', '%_\', NULL]) s,
  unnest(ARRAY['', 'a', 'bc', 'け', '🙂', ',', ' ', NULL]) u,
  unnest(ARRAY[(0, 0.0), (1, 0.5), (-1, -0.5), (2, 1.5), (-2, 2.5), (7, -1e300), (12, 'Infinity'), (NULL, 'NaN'), (3, NULL), (-30, '-0')]::text[]) p,
  LATERAL (SELECT (regexp_match(p, '\((.*),'))[1] AS a, (regexp_match(p, ',(.*)\)'))[1] AS b) r,
  LATERAL (SELECT nullif(r.a, '')::int4 AS i, nullif(r.b, '')::float8 AS f) v;
INSERT INTO fun.t SELECT * FROM fun.heap;
ANALYZE fun.t, fun.heap;
-- Where an expression is computed, and in how many rows the results differ
CREATE FUNCTION fun.compare(expr text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  remote text := '';
  differences int8;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM fun.t WHERE (%s) IS NOT NULL', expr) LOOP
    IF line LIKE '%Remote SQL%WHERE%' THEN remote := 'engine'; END IF;
  END LOOP;
  EXECUTE format('SELECT count(*) FROM (SELECT (%1$s)::text AS v, count(*) FROM fun.t GROUP BY %1$s EXCEPT ALL SELECT (%1$s)::text, count(*) FROM fun.heap GROUP BY %1$s) d', expr)
    INTO differences;
  RETURN coalesce(nullif(remote, ''), 'here') || ' ' || differences;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT expr, fun.compare(expr) FROM unnest(ARRAY[
  's || u', 'length(s)', 'octet_length(s)', 'bit_length(s)', 'strpos(s, u)', 'position(u IN s)', 'starts_with(s, u)', 'left(s, i)', 'right(s, i)', 'reverse(s)',
  'btrim(s)', 'btrim(s, u)', 'ltrim(s)', 'ltrim(s, u)', 'rtrim(s)', 'rtrim(s, u)', 'lpad(s, i)', 'lpad(s, i, u)', 'rpad(s, i)', 'rpad(s, i, u)', 'replace(s, u, ''-'')',
  'replace(s, ''a'', u)', 'split_part(s, u, 1)', 'split_part(s, u, -1)', 'translate(s, u, ''xyz'')', 'ascii(s)', 'md5(s)',
  'floor(f)', 'ceil(f)', 'ceiling(f)', 'trunc(f)', 'round(f)', 'sign(f)', 'sqrt(abs(f))', 'gcd(i, 12)', 'gcd(l, 84)', 'lcm(i, 12)', 'lcm(l, 84)',
  'substr(s, i)', 'substring(s, i, 2)', 's LIKE ''%'' || u || ''%''',
  'CASE s WHEN ''a'' THEN 1 WHEN u THEN 2 ELSE i END', 'CASE i WHEN 1 THEN s WHEN 2 THEN u END', 'CASE WHEN i > 2 THEN s ELSE u END', 'coalesce(s, u)', 'nullif(s, u)',
  'upper(s)', 'initcap(s)']) expr;
-- Errors are the same, too
\set VERBOSITY sqlstate
SELECT count(*) FROM fun.heap WHERE split_part(s, u, 0) = '';
SELECT count(*) FROM fun.t WHERE split_part(s, u, 0) = '';
SELECT count(*) FROM fun.heap WHERE sqrt(f) > 0;
SELECT count(*) FROM fun.t WHERE sqrt(f) > 0;
SELECT count(*) FROM fun.heap WHERE lcm(i, 2147483647) > 0;
SELECT count(*) FROM fun.t WHERE lcm(i, 2147483647) > 0;
SET client_min_messages = warning;
DROP SCHEMA fun CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA fun CASCADE') \gset
