-- Rows of 5, 20 and 64 MB, beside short ones, as a table of PostgreSQL's has them: in, out, changed, joined, sorted, in cursors and by COPY.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS long_row');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE long_row (id int PRIMARY KEY, kind text, body text, data bytea, doc json)');
IMPORT FOREIGN SCHEMA public LIMIT TO (long_row) FROM SERVER kakehashi INTO public;
CREATE TEMP TABLE heap_row (id int PRIMARY KEY, kind text, body text, data bytea, doc json);
ALTER TABLE heap_row ALTER body SET STORAGE EXTERNAL, ALTER data SET STORAGE EXTERNAL;
INSERT INTO heap_row VALUES
  (1, 'short', 'a', '\x01', '{"a": 1}'),
  (2, 'five', repeat('0123456789abcdef', 5 * 65536), NULL, '[2]'),
  (3, 'twenty', repeat('fedcba9876543210', 20 * 65536), '\x02', NULL),
  (4, 'sixty-four', 'b', convert_to(repeat('0011223344556677', 64 * 65536), 'UTF8'), '[4]'),
  (5, 'none', NULL, NULL, NULL),
  (6, 'document', 'c', NULL, json_build_object('text', repeat('x', 6000000)));
-- Gathered, and one by one with its row back
INSERT INTO long_row SELECT * FROM heap_row WHERE id <> 3;
INSERT INTO long_row SELECT * FROM heap_row WHERE id = 3 RETURNING id, length(body), md5(body), data;
-- What is computed there and here
CREATE VIEW pg_temp.sums AS SELECT id, kind, length(body) AS length, md5(body) AS body, length(data) AS bytes, md5(data) AS data FROM long_row;
SELECT id, length, bytes, s.body = md5(h.body) AS same_body, s.data = md5(h.data) AS same_data FROM sums s JOIN heap_row h USING (id) ORDER BY id;
SELECT f.id, f.body IS NOT DISTINCT FROM h.body AS body, f.data IS NOT DISTINCT FROM h.data AS data, f.doc::text IS NOT DISTINCT FROM h.doc::text AS doc
  FROM long_row f JOIN heap_row h ON h.id = f.id ORDER BY f.id;
-- Sorted by what is long, and joined with itself there
SELECT id, length(body) FROM long_row ORDER BY body DESC NULLS LAST, id;
SELECT a.id, b.id, length(a.body || b.kind) FROM long_row a JOIN long_row b ON a.body = b.body WHERE a.id IN (2, 3) ORDER BY a.id;
SELECT kind, length(data) FROM (SELECT kind, data FROM long_row ORDER BY kind OFFSET 0) s ORDER BY length(data) DESC NULLS LAST LIMIT 1;
-- A long key of a look-up, and long rows that it finds
SELECT id FROM long_row WHERE body = (SELECT body FROM heap_row WHERE id = 2);
PREPARE by_body(text) AS SELECT id FROM long_row WHERE body = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_body(repeat('fedcba9876543210', 20 * 65536));
EXECUTE by_body(repeat('fedcba9876543210', 19 * 65536));
RESET plan_cache_mode;
SELECT k.id, length(f.body), md5(f.data) = md5(h.data) AS data
  FROM (VALUES (4), (2)) k (id) JOIN LATERAL (SELECT * FROM long_row WHERE id = k.id OFFSET 0) f ON true JOIN heap_row h ON h.id = k.id ORDER BY k.id;
SELECT length(body), length(data) FROM kakehashi_query('kakehashi', 'SELECT body, data FROM long_row WHERE id IN (3, 4) ORDER BY id') AS (body text, data bytea);
-- Changed there, and here by a local table
BEGIN;
UPDATE long_row SET body = body || 'y' WHERE id = 2 RETURNING id, length(body), right(body, 2);
UPDATE long_row f SET body = 'z' || h.body, kind = 'changed' FROM heap_row h WHERE h.id = f.id AND h.id IN (1, 3);
SELECT f.id, f.kind, length(f.body), f.body = 'z' || h.body AS same FROM long_row f JOIN heap_row h USING (id) WHERE id IN (1, 3) ORDER BY id;
DELETE FROM long_row WHERE id = 4 RETURNING id, md5(data) = (SELECT md5(data) FROM heap_row WHERE id = 4) AS same;
INSERT INTO long_row SELECT id, 'again', body, data, doc FROM heap_row WHERE id IN (2, 3) ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, body = excluded.body RETURNING id, kind, length(body);
ROLLBACK;
SELECT id, kind, length, bytes FROM sums ORDER BY id;
-- A cursor stands before each long row, beside others
BEGIN;
DECLARE one CURSOR FOR SELECT id, length(body || '') AS body, length(data) AS data FROM (SELECT * FROM long_row ORDER BY id OFFSET 0) s;
DECLARE two CURSOR FOR SELECT id, length(body || '') AS body, length(data) AS data FROM (SELECT * FROM long_row ORDER BY id DESC OFFSET 0) s;
FETCH 3 one;
FETCH 3 two;
FETCH 3 one;
FETCH 3 two;
COMMIT;
-- COPY in and out; long and short rows change by turns
COPY long_row (id, kind, body) FROM PROGRAM $$long=$(head -c 6000000 /dev/zero | tr '\0' q); for i in $(seq 100 150); do case $i in *0) body=$long;; *) body=qqqqqqqqqq;; esac; printf '%s\tcopied\t%s\n' $i $body; done$$;
COPY (SELECT body FROM long_row WHERE id IN (150, 2)) TO PROGRAM 'test $(wc -c) = 11242882';
SELECT count(*), sum(length(body)), bool_and(body = repeat('q', length(body))) FROM long_row WHERE kind = 'copied';
INSERT INTO long_row SELECT id + 100, kind, body, data, doc FROM long_row WHERE kind = 'copied' AND id > 130;
SELECT count(*), sum(length(body)) FROM long_row WHERE kind = 'copied';
-- The shared memory of long rows is given back
SELECT max(buffer_bytes) <= 8 * 1024 * 1024 AS given_back FROM kakehashi_query('kakehashi', 'SELECT buffer_bytes FROM kakehashi_catalog.sessions') AS (buffer_bytes int8);
DROP VIEW sums;
DROP FOREIGN TABLE long_row;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE long_row');
