-- EXPLAIN (ANALYZE, VERBOSE) says what a request has cost: rows, batches and bytes that came, how long they were waited for, and how long the engine took.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS explained');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE explained (id int PRIMARY KEY, v int)');
CREATE FOREIGN TABLE explained (id int OPTIONS (key 'true'), v int) SERVER kakehashi OPTIONS (schema_name 'public');
-- Times are what they are
CREATE FUNCTION explained(sql text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, SUMMARY OFF, BUFFERS OFF) ' || sql LOOP
    IF line ~ 'Remote [^P]|Batch|->|on public' THEN
      RETURN NEXT regexp_replace(regexp_replace(line, ' \(actual .*\)', ''), '\d+\.\d+ ms', 'N ms');
    END IF;
  END LOOP;
END $$;
SELECT * FROM explained('INSERT INTO explained SELECT g, g % 10 FROM generate_series(1, 2500) g');
SELECT * FROM explained('INSERT INTO explained VALUES (0, 0) RETURNING v');
SELECT * FROM explained('SELECT id FROM explained WHERE v = 3 AND id <= 50');
SELECT * FROM explained('UPDATE explained SET v = v + 1 WHERE id <= 50');
SELECT * FROM explained('DELETE FROM explained WHERE id > 2490 RETURNING id');
-- What is not read to its end has no time of the engine; each value of the outer side is a request
SELECT regexp_replace(line, '\d+', 'N') FROM explained('SELECT 1 FROM (SELECT id FROM explained OFFSET 0) e WHERE random() >= 0 LIMIT 1') line;
SELECT * FROM explained('SELECT (SELECT v FROM explained e WHERE e.id = g AND random() >= 0) FROM generate_series(1, 3) g');
-- Without times
CREATE FUNCTION remote_lines(options text, sql text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (' || options || ', COSTS OFF) ' || sql LOOP
    IF line ~ 'Remote (Rows|Batches|Bytes|Wait|Exec)' THEN
      RETURN NEXT trim(line);
    END IF;
  END LOOP;
END $$;
SELECT * FROM remote_lines('ANALYZE, VERBOSE, TIMING OFF', 'SELECT id FROM explained WHERE v = 5 AND id < 20');
SELECT * FROM remote_lines('ANALYZE', 'SELECT id FROM explained');
SELECT * FROM remote_lines('VERBOSE', 'SELECT id FROM explained');
-- What all of these have asked of the table, and two more
SELECT requests, rows_read, rows_changed, batches, bytes_read, execution_ms > 0 AS has_time FROM kakehashi_table_activity WHERE foreign_table = 'explained'::regclass \gset before_
SELECT count(*) FROM (SELECT id FROM explained WHERE id <= 3 OFFSET 0) e WHERE random() >= 0;
UPDATE explained SET v = 0 WHERE id <= 3;
SELECT requests - :before_requests AS requests, rows_read - :before_rows_read AS rows_read, rows_changed - :before_rows_changed AS rows_changed,
  batches - :before_batches AS batches, bytes_read - :before_bytes_read AS bytes_read, execution_ms > 0 AS has_time
FROM kakehashi_table_activity WHERE foreign_table = 'explained'::regclass;
SELECT :before_rows_changed AS rows_changed, :'before_has_time' AS had_time;
DROP FUNCTION remote_lines;
DROP FUNCTION explained;
DROP FOREIGN TABLE explained;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE explained');
