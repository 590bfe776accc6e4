-- ANALYZE samples the engine's rows; estimates then follow the columns' statistics.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS skewed');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE skewed (id int PRIMARY KEY, v int, t text)');
CREATE SCHEMA analyzed;
IMPORT FOREIGN SCHEMA public LIMIT TO (skewed) FROM SERVER kakehashi INTO analyzed;
INSERT INTO analyzed.skewed SELECT g, CASE WHEN g % 100 = 0 THEN g ELSE 7 END, 'x' || g % 4 FROM generate_series(1, 40000) g;
ANALYZE analyzed.skewed;
SELECT reltuples FROM pg_class WHERE oid = 'analyzed.skewed'::regclass;
SELECT n_distinct FROM pg_stats WHERE schemaname = 'analyzed' AND attname = 't';
SELECT (most_common_vals::text::int[])[1] AS most_common FROM pg_stats WHERE schemaname = 'analyzed' AND attname = 'v';
CREATE FUNCTION analyzed.estimate(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT analyzed.estimate('SELECT * FROM analyzed.skewed WHERE v = 7') BETWEEN 39000 AND 40000 AS frequent,
       analyzed.estimate('SELECT * FROM analyzed.skewed WHERE v = 300') BETWEEN 1 AND 10 AS rare,
       analyzed.estimate('SELECT * FROM analyzed.skewed WHERE id = 300') = 1 AS by_key,
       analyzed.estimate('SELECT * FROM analyzed.skewed WHERE id <= 10000') BETWEEN 9000 AND 11000 AS quarter;
SELECT outstanding_calls FROM kakehashi_sessions WHERE server_name = 'kakehashi';
SET client_min_messages = warning;
DROP SCHEMA analyzed CASCADE;
