-- A table has as many columns as a heap table may have, with names as long as names may be, whatever a statement does with all of them.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA of_engine') \gset
CREATE SCHEMA of_heap;
SELECT string_agg(format('%I', rpad('c' || i, 63, '_')), ', ') AS columns,
  string_agg(format('%I int', rpad('c' || i, 63, '_')), ', ') AS definitions,
  string_agg(format('%I = wide.%1$I + id', rpad('c' || i, 63, '_')), ', ') AS changes,
  string_agg(format('%I = excluded.%1$I', rpad('c' || i, 63, '_')), ', ') AS taken,
  string_agg((i * 7)::text, ', ') AS numbers
FROM generate_series(2, 1600) i \gset
SELECT kakehashi_execute('kakehashi', format('CREATE TABLE of_engine.wide (id int PRIMARY KEY, %s)', :'definitions')) \gset
CREATE FUNCTION run(statement text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE statement; END $$;
SELECT run(format('CREATE TABLE of_heap.wide (id int PRIMARY KEY, %s)', :'definitions')) \gset
CREATE SCHEMA wide;
IMPORT FOREIGN SCHEMA of_engine FROM SERVER kakehashi INTO wide;
ALTER SCHEMA wide RENAME TO of_engine;
SELECT count(*) FROM pg_attribute WHERE attrelid = 'of_engine.wide'::regclass AND attnum > 0;
\set all 'SELECT count(*) || '' rows, '' || sum(hashtext(w::text)) FROM wide w'
-- Rows, and one that is there
SELECT both_sides(format('INSERT INTO wide (id, %s) SELECT r, %s FROM generate_series(1, 9) r', :'columns', :'numbers'), :'all');
SELECT both_sides(format('INSERT INTO wide VALUES (1, %s) ON CONFLICT (id) DO UPDATE SET %s', :'numbers', :'taken'), :'all');
-- Changed on the engine, and here
SELECT both_sides(format('UPDATE wide SET %s WHERE id = 2', :'changes'), :'all');
SELECT both_sides(format('UPDATE wide SET %s WHERE id = 3 AND pg_sleep(0) IS NOT NULL', :'changes'), :'all');
-- Given back
SELECT both_sides('WITH d AS (DELETE FROM wide WHERE id = 4 RETURNING *) SELECT sum(hashtext(d::text)) FROM d');
-- Sampled
ANALYZE of_engine.wide;
SELECT count(*) FROM pg_stats WHERE schemaname = 'of_engine';
-- Of a long statement an error shows the beginning and the end, or where it is
\pset format unaligned
SELECT kakehashi_execute('kakehashi', 'SELECT ' || repeat('1 + ', 500) || 'nowhere + ' || repeat('2 + ', 500) || '3');
INSERT INTO of_engine.wide VALUES (1);
DROP SCHEMA of_engine CASCADE;
DROP SCHEMA of_heap CASCADE;
DROP FUNCTION run;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA of_engine CASCADE') \gset
