-- Whatever the engine computes, it computes as PostgreSQL does: the same query on a local copy gives the same rows.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS same_rows');
SELECT kakehashi_execute('kakehashi', $$
  CREATE TABLE same_rows (id int PRIMARY KEY, a int, b bigint, n numeric(12,3), f double precision, t text, d date,
    ts timestamp, flag boolean, u uuid) $$);
CREATE SCHEMA same;
IMPORT FOREIGN SCHEMA public LIMIT TO (same_rows) FROM SERVER kakehashi INTO same;
CREATE TABLE same.local (LIKE same.same_rows);
INSERT INTO same.local SELECT g, nullif(g % 7, 3), (g * 7919) % 1000 - 500, (g * 37 % 1000) / 8.0, (g * 31 % 100) / 3.0,
  nullif(chr(65 + g % 26) || (g % 13), 'D3'), date '2020-01-01' + g % 400, timestamp '2020-01-01' + g * interval '1 hour',
  nullif(g % 3, 0) = 1, md5((g % 50)::text)::uuid FROM generate_series(1, 1000) g;
INSERT INTO same.same_rows SELECT * FROM same.local;

-- Runs the query on the copy and on the foreign table; %s stands for the table. A row for each that differs.
CREATE FUNCTION same.differences(query text) RETURNS TABLE (side text, record text) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format(
    'WITH l AS MATERIALIZED (SELECT q::text FROM (%s) q), r AS MATERIALIZED (SELECT q::text FROM (%s) q)
     SELECT ''local'', q FROM (SELECT * FROM l EXCEPT ALL SELECT * FROM r) x
     UNION ALL SELECT ''engine'', q FROM (SELECT * FROM r EXCEPT ALL SELECT * FROM l) x ORDER BY 1, 2 LIMIT 5',
    replace(query, '%s', 'same.local'), replace(query, '%s', 'same.same_rows'));
END $$;

-- Three-valued logic
SELECT * FROM same.differences('SELECT * FROM %s WHERE a > 2 AND NOT (flag OR a = 5)');
SELECT * FROM same.differences('SELECT * FROM %s WHERE a NOT IN (1, 2, 4) OR flag IS NOT TRUE');
SELECT * FROM same.differences('SELECT id FROM %s WHERE a IS DISTINCT FROM 4 AND t IS NULL');
SELECT * FROM same.differences('SELECT id FROM %s WHERE a = ANY(''{1,2,6}'') AND coalesce(a, 0) <> nullif(a, 2)');
-- Numbers
SELECT * FROM same.differences('SELECT * FROM %s WHERE a * 3 - b / 7 > b % 11 AND n * 2 < f + 100');
SELECT * FROM same.differences('SELECT id FROM %s WHERE -n BETWEEN -50 AND -3.25 AND abs(b) < 100');
SELECT * FROM same.differences('SELECT id FROM %s WHERE n / 3 > 10.333 AND b::numeric * n < 4000');
SELECT * FROM same.differences('SELECT id FROM %s WHERE f / 3 > 5.5 AND f <> 11');
-- Text: bytes
SELECT * FROM same.differences('SELECT id, t FROM %s WHERE t >= ''B'' AND t < ''Q1'' AND t LIKE ''_1%%''');
SELECT * FROM same.differences('SELECT id, t FROM %s WHERE t NOT LIKE ''%%2'' AND length(t) = 2');
SELECT * FROM same.differences('SELECT id FROM %s WHERE t IN (''A0'', ''B1'', ''C2'') OR u = md5(''7'')::uuid OR u > md5(''40'')::uuid');
-- Dates
SELECT * FROM same.differences('SELECT id FROM %s WHERE d BETWEEN ''2020-03-01'' AND ''2020-06-30'' AND ts < ''2020-02-01 12:00''');
SELECT * FROM same.differences('SELECT id FROM %s WHERE CASE WHEN flag THEN d > ''2020-06-01'' WHEN a = 1 THEN true ELSE n > 50 END');
-- Groups
SELECT * FROM same.differences('SELECT a, count(*), count(t), sum(a), sum(b), sum(n), min(t), max(d), min(f), avg(a), avg(n) FROM %s GROUP BY a');
SELECT * FROM same.differences('SELECT count(DISTINCT a), count(DISTINCT t), max(ts), bool_and(flag), bool_or(flag), sum(b) FILTER (WHERE flag) FROM %s');
SELECT * FROM same.differences('SELECT t, d, sum(n) * 2 FROM %s GROUP BY t, d HAVING count(*) > 1 AND sum(b) > 0');
SELECT * FROM same.differences('SELECT sum(n), count(*), min(t) FROM %s WHERE id < 0');
SELECT * FROM same.differences('SELECT DISTINCT a, flag FROM %s');
-- Order, with nulls, and limits
SELECT * FROM same.differences('SELECT row_number() OVER () AS r, x.* FROM (SELECT a, t, id FROM %s ORDER BY a DESC, t NULLS FIRST, id LIMIT 50 OFFSET 10) x');
SELECT * FROM same.differences('SELECT row_number() OVER () AS r, x.* FROM (SELECT n, f, id FROM %s ORDER BY flag NULLS FIRST, n DESC NULLS LAST, id LIMIT 30) x');
SELECT * FROM same.differences('SELECT row_number() OVER () AS r, x.* FROM (SELECT t, count(*) AS c FROM %s GROUP BY t ORDER BY count(*) DESC, t LIMIT 5) x');
-- Joins
SELECT * FROM same.differences('SELECT x.id, y.id FROM %s x JOIN %s y ON y.id = x.b WHERE x.a = 2');
SELECT * FROM same.differences('SELECT x.id, y.id, y.t FROM %s x LEFT JOIN %s y ON y.id = x.b AND y.flag WHERE x.id < 200');
SELECT * FROM same.differences('SELECT x.id, y.id FROM %s x FULL JOIN %s y ON y.id = x.id + 900');
SELECT * FROM same.differences('SELECT id FROM %s x WHERE EXISTS (SELECT FROM %s y WHERE y.b = x.id AND y.flag)');
SELECT * FROM same.differences('SELECT id FROM %s x WHERE NOT EXISTS (SELECT FROM %s y WHERE y.b = x.id) AND id IN (SELECT b + 500 FROM %s)');
SELECT * FROM same.differences('SELECT x.t, count(*), sum(y.n) FROM %s x JOIN %s y ON y.a = x.a WHERE x.id < 50 GROUP BY x.t');
-- Errors are PostgreSQL's, too
\set VERBOSITY sqlstate
SELECT count(*) FROM same.same_rows WHERE a / (id - id) = 1;
SELECT count(*) FROM same.same_rows WHERE a + 2147483647 > 0;
SELECT count(*) FROM same.same_rows WHERE n / (a - a) > 1;
\set VERBOSITY default
SET client_min_messages = warning;
DROP SCHEMA same CASCADE;
