-- INSERT ... SELECT gathers rows in the backend by their bytes: long rows are sent a few at a time, short ones a thousand at a time.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS gathered');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE gathered (id int PRIMARY KEY, body text)');
IMPORT FOREIGN SCHEMA public LIMIT TO (gathered) FROM SERVER kakehashi INTO public;
-- The backend's memory while the rows are made, at every fiftieth
CREATE TEMP TABLE used (bytes int8);
CREATE FUNCTION pg_temp.body(id int, length int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF id % 50 = 0 THEN
    INSERT INTO used SELECT sum(total_bytes) FROM pg_backend_memory_contexts;
  END IF;
  RETURN repeat('x', length) || id;
END $$;
CREATE FUNCTION pg_temp.requests() RETURNS int8 LANGUAGE sql AS $$
  SELECT coalesce(sum(requests), 0)::int8 FROM kakehashi_table_activity WHERE foreign_table = 'gathered'::regclass
$$;
INSERT INTO gathered SELECT g, pg_temp.body(g, 1) FROM generate_series(1, 50) g;
SELECT bytes AS at_rest FROM used \gset
TRUNCATE used;
INSERT INTO gathered SELECT g, pg_temp.body(g, 100000) FROM generate_series(1001, 1300) g;
SELECT count(*) AS looks, max(bytes) - :at_rest < 8 * 1024 * 1024 AS little FROM used;
-- Rows become long in the middle of a batch
TRUNCATE used;
INSERT INTO gathered SELECT g, pg_temp.body(g, CASE WHEN g < 2700 THEN 1 ELSE 100000 END) FROM generate_series(2001, 2950) g;
SELECT count(*) AS looks, max(bytes) - :at_rest < 8 * 1024 * 1024 AS little FROM used;
-- One row is more than all that is gathered
INSERT INTO gathered SELECT g, pg_temp.body(g, 1500000) FROM generate_series(4001, 4007) g;
-- Order is kept, and nothing is lost
SELECT id / 1000 AS thousand, count(*), sum(length(body)), bool_and(body LIKE '%x' || id) FROM gathered GROUP BY 1 ORDER BY 1;
-- Short rows: as many in a request as before
TRUNCATE gathered;
SELECT pg_temp.requests() AS before \gset
INSERT INTO gathered SELECT g, 'short ' || g FROM generate_series(1, 5000) g;
SELECT pg_temp.requests() - :before AS requests;
-- Routed to a partition
CREATE TABLE gathered_parts (id int, body text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE gathered_part PARTITION OF gathered_parts FOR VALUES FROM (1) TO (6000);
ALTER TABLE gathered_parts ATTACH PARTITION gathered FOR VALUES FROM (6000) TO (9000);
TRUNCATE gathered, used;
INSERT INTO gathered_parts SELECT g, pg_temp.body(g, 100000) FROM generate_series(5801, 6200) g;
SELECT max(bytes) - :at_rest < 8 * 1024 * 1024 AS little FROM used;
SELECT count(*), count(*) FILTER (WHERE tableoid = 'gathered'::regclass) AS engine, bool_and(body LIKE '%x' || id) FROM gathered_parts;
DROP TABLE gathered_parts;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE gathered');
