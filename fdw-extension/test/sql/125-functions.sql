-- Functions and operators that go to the engine give what PostgreSQL gives, for every value of a column, null and odd ones included.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA fun') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE fun.t (id int4 PRIMARY KEY, s text, u text, i int4, l int8, f float8)') \gset
CREATE SCHEMA fun;
IMPORT FOREIGN SCHEMA fun FROM SERVER kakehashi INTO fun;
CREATE TABLE fun.t_heap (LIKE fun.t);
INSERT INTO fun.t_heap SELECT row_number() OVER (), s, u, i, i * 1000003::int8, f
FROM unnest(ARRAY['', 'a', 'abcabc', '  trim me ', E'\tтекст 懸け橋', '🙂x🙂', 'x,y,,z', '%_\', NULL]) s,
  unnest(ARRAY['', 'a', 'bc', 'け', '🙂', ',', ' ', NULL]) u,
  unnest(ARRAY[(0, 0.0), (1, 0.5), (-1, -0.5), (2, 1.5), (-2, 2.5), (7, -1e300), (12, 'Infinity'), (NULL, 'NaN'), (3, NULL), (-30, '-0')]::text[]) p,
  LATERAL (SELECT (regexp_match(p, '\((.*),'))[1] AS a, (regexp_match(p, ',(.*)\)'))[1] AS b) r,
  LATERAL (SELECT nullif(r.a, '')::int4 AS i, nullif(r.b, '')::float8 AS f) v;
INSERT INTO fun.t SELECT * FROM fun.t_heap;
ANALYZE fun.t, fun.t_heap;
-- Where an expression is computed, and in how many rows the results differ
CREATE FUNCTION fun.compare(expr text, tab text DEFAULT 't') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  remote text := '';
  differences int8;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM fun.%s WHERE (%s) IS NOT NULL', tab, expr) LOOP
    IF line LIKE '%Remote SQL%WHERE%' THEN remote := 'engine'; END IF;
  END LOOP;
  EXECUTE format('SELECT count(*) FROM (SELECT (%1$s)::text AS v, count(*) FROM fun.%2$s GROUP BY %1$s EXCEPT ALL SELECT (%1$s)::text, count(*) FROM fun.%2$s_heap GROUP BY %1$s) d', expr, tab)
    INTO differences;
  RETURN coalesce(nullif(remote, ''), 'here') || ' ' || differences;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION fun.compare_aggregate(agg text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  remote text := 'here';
  col text;
  same bool;
BEGIN
  FOREACH col IN ARRAY (CASE WHEN agg LIKE 'bit%' THEN '{i2,i4,i8}' ELSE '{i2,i4,i8,n}' END)::text[] LOOP
    FOR line IN EXECUTE format('EXPLAIN (VERBOSE, COSTS OFF) SELECT %s(%s) FROM fun.more', agg, col) LOOP
      IF line LIKE '%Remote SQL: SELECT ' || agg || '%' THEN remote := 'engine'; END IF;
    END LOOP;
    EXECUTE format('SELECT (SELECT %1$s(%2$s)::text || %1$s(%2$s) FILTER (WHERE id IN (1, 2, 5, 6)) FROM fun.more) IS NOT DISTINCT FROM (SELECT %1$s(%2$s)::text || %1$s(%2$s) FILTER (WHERE id IN (1, 2, 5, 6)) FROM fun.more_heap)', agg, col) INTO same;
    IF NOT same THEN remote := remote || ', differs for ' || col; END IF;
  END LOOP;
  RETURN remote;
END $$;
SELECT expr, fun.compare(expr) FROM unnest(ARRAY[
  's || u', 'length(s)', 'octet_length(s)', 'bit_length(s)', 'strpos(s, u)', 'position(u IN s)', 'starts_with(s, u)', 'left(s, i)', 'right(s, i)', 'reverse(s)',
  'btrim(s)', 'btrim(s, u)', 'ltrim(s)', 'ltrim(s, u)', 'rtrim(s)', 'rtrim(s, u)', 'lpad(s, i)', 'lpad(s, i, u)', 'rpad(s, i)', 'rpad(s, i, u)', 'replace(s, u, ''-'')',
  'replace(s, ''a'', u)', 'split_part(s, u, 1)', 'split_part(s, u, -1)', 'translate(s, u, ''xyz'')', 'ascii(s)', 'md5(s)',
  'floor(f)', 'ceil(f)', 'ceiling(f)', 'trunc(f)', 'round(f)', 'sign(f)', 'sqrt(abs(f))', 'gcd(i, 12)', 'gcd(l, 84)', 'lcm(i, 12)', 'lcm(l, 84)',
  'substr(s, i)', 'substring(s, i, 2)', 's LIKE ''%'' || u || ''%''',
  'CASE s WHEN ''a'' THEN 1 WHEN u THEN 2 ELSE i END', 'CASE i WHEN 1 THEN s WHEN 2 THEN u END', 'CASE WHEN i > 2 THEN s ELSE u END', 'coalesce(s, u)', 'nullif(s, u)',
  'upper(s)', 'initcap(s)']) expr;
-- Of other types
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE fun.more (id int4 PRIMARY KEY, i2 int2, i4 int4, i8 int8, n numeric, b bytea, c char(5), d date, tm time, ts timestamp)') \gset
IMPORT FOREIGN SCHEMA fun LIMIT TO (more) FROM SERVER kakehashi INTO fun;
CREATE TABLE fun.more_heap (LIKE fun.more);
INSERT INTO fun.more_heap SELECT row_number() OVER (), v.* FROM (VALUES
  (0::int2, 0, 0::int8, 0.0, '\x'::bytea, '', date '2000-01-01', time '00:00', timestamp '2000-01-01'),
  (1, -1, 1, 1.500, '\x00', 'ab', '1999-12-31', '23:59:59.999999', '1999-12-31 23:59:59.999999'),
  (-1, 2147483647, 9223372036854775807, 'NaN', '\xdeadbeef', 'a b', 'infinity', '12:30:00.5', 'infinity'),
  (-32768, -2147483648, '-9223372036854775808', 'Infinity', '\x6161', '日本', '-infinity', '24:00', '-infinity'),
  (32767, 255, 1234567890123, '-0.000100', '\x61', 'Z', '0044-03-15 BC', '01:02:03', '0044-03-15 12:00 BC'),
  (12, 12, 12, 123456789012345678901234.5, '\x', 'zzzzz', '2021-01-03', '06:07:08.9', '2021-01-03 06:07:08.9'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) v;
INSERT INTO fun.more SELECT * FROM fun.more_heap;
SELECT expr, fun.compare(expr, 'more') FROM unnest(ARRAY[
  'i2 & 7::int2', 'i4 & id', 'i8 & 255', 'i4 | id', 'i4 # id', '~ i4',
  'greatest(i4, id)', 'least(i4, id, 5)', 'greatest(n, 1)', 'least(c, ''b'')', 'greatest(d, date ''2000-01-01'')', 'least(ts, timestamp ''2000-01-01'')', 'greatest(b, ''\x61'')',
  'repeat(c::text, i2 % 10)', 'to_hex(i4)', 'to_hex(i8)', 'length(c)', 'length(b)', 'octet_length(b)', 'md5(b)', 'sha256(b)', 'div(n, 0.7)', 'scale(n)', 'min_scale(n)', 'trim_scale(n)',
  'isfinite(d)', 'isfinite(ts)', 'extract(hour FROM tm)', 'extract(second FROM tm)', 'extract(epoch FROM tm)', 'extract(microseconds FROM tm)', 'extract(milliseconds FROM tm)',
  'extract(year FROM d)', 'extract(week FROM d)', 'extract(isodow FROM d)', 'extract(isoyear FROM d)', 'extract(decade FROM d)', 'extract(century FROM d)', 'extract(epoch FROM d)',
  'extract(second FROM ts)', 'extract(epoch FROM ts)', 'extract(week FROM ts)', 'extract(century FROM ts)', 'extract(milliseconds FROM ts)', 'extract(microseconds FROM ts)', 'extract(hour FROM d)',
  'date ''2000-01-01'' + tm', 'tm + date ''2000-01-01''', 'id + date ''2000-01-01''']) expr;
SELECT agg, fun.compare_aggregate(agg) FROM unnest(ARRAY['stddev', 'stddev_samp', 'stddev_pop', 'variance', 'var_samp', 'var_pop', 'bit_and', 'bit_or']) agg;
-- Errors are the same, too
\set VERBOSITY sqlstate
SELECT count(*) FROM fun.t_heap WHERE split_part(s, u, 0) = '';
SELECT count(*) FROM fun.t WHERE split_part(s, u, 0) = '';
SELECT count(*) FROM fun.t_heap WHERE sqrt(f) > 0;
SELECT count(*) FROM fun.t WHERE sqrt(f) > 0;
SELECT count(*) FROM fun.t_heap WHERE lcm(i, 2147483647) > 0;
SELECT count(*) FROM fun.t WHERE lcm(i, 2147483647) > 0;
SET client_min_messages = warning;
DROP SCHEMA fun CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA fun CASCADE') \gset
