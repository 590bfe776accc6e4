-- Values of every type come back from the engine bit by bit as they were sent: nulls, extremes, and in between.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS every_type');
SELECT kakehashi_execute('kakehashi', $$
  CREATE TABLE every_type (
    id int PRIMARY KEY, c_bool boolean, c_int2 smallint, c_int4 int, c_int8 bigint, c_float4 real,
    c_float8 double precision, c_numeric numeric, c_numeric_scale numeric(20,4), c_text text, c_varchar varchar(10),
    c_char char(5), c_bytea bytea, c_date date, c_time time, c_timestamp timestamp, c_timestamptz timestamptz,
    c_interval interval, c_uuid uuid) $$);
CREATE SCHEMA types;
IMPORT FOREIGN SCHEMA public LIMIT TO (every_type) FROM SERVER kakehashi INTO types;
SET TIME ZONE 'UTC';
CREATE TABLE types.local (LIKE types.every_type);
INSERT INTO types.local (id) VALUES (0);
INSERT INTO types.local VALUES
  (1, true, 1, 1, 1, 1.5, 1.5, 1.5, 1.5, 'a', 'a', 'a', '\x01', '2026-11-21', '12:34:56.789', '2026-11-21 12:34:56.789',
   '2026-11-21 12:34:56.789+09', '1 year 2 days 03:04:05.6', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
  (2, false, -32768, -2147483648, -9223372036854775808, '-Infinity', '-Infinity', '-1e-16383', -9999999999999999.9999, '',
   '', '', '', '4713-01-01 BC', '00:00', '4713-01-01 BC', '4713-01-01 BC', '-178000000 years', '00000000-0000-0000-0000-000000000000'),
  (3, true, 32767, 2147483647, 9223372036854775807, 'Infinity', 'Infinity', '1e100', 9999999999999999.9999,
   '日本語の文字列 🌉', '十文字までの文字列だ', 'あ', '\x00ff00ff', '5874897-12-31', '24:00', '294276-12-31 23:59:59.999999',
   '294276-12-31 23:59:59.999999', '178000000 years', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
  (4, null, 0, 0, 0, 'NaN', 'NaN', 'NaN', 0, E'\\ '' " \n\t$1 %', '%_\', '     ', '\xdeadbeef', 'infinity', '23:59:59.999999',
   'infinity', 'infinity', '00:00', '80000000-0000-0000-0000-000000000000'),
  (5, null, -1, -1, -1, 1e-45, 5e-324, '123456789012345678901234567890.12345678901234567890', 0.0001, repeat('x', 10000),
   null, null, decode(repeat('00', 5000), 'hex'), '-infinity', null, '-infinity', '-infinity',
   '-1 month +1 day -00:00:00.000001', null),
  (6, null, null, null, null, '-0', '-0', 0, null, null, null, null, null, null, null, null, null, null, null);
INSERT INTO types.every_type SELECT * FROM types.local;
-- The whole row, byte for byte: record_image compares representations.
SELECT id FROM types.local l WHERE NOT EXISTS (SELECT FROM types.every_type e WHERE e *= l) ORDER BY id;
SELECT c_bool, c_int2, c_int4, c_int8, c_float4, c_float8, c_numeric_scale FROM types.every_type ORDER BY id;
SELECT c_date, c_time, c_timestamp, c_timestamptz, c_interval, c_uuid FROM types.every_type ORDER BY id;
SELECT id, length(c_text), c_varchar, '<' || c_char || '>', length(c_bytea) FROM types.every_type ORDER BY id;
-- Values as parameters: each finds its own row, and only that.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT l.id, count(e.id) FROM types.local l JOIN types.every_type e ON
  e.c_int8 = l.c_int8 AND e.c_numeric = l.c_numeric AND e.c_float8 = l.c_float8 AND e.c_timestamp = l.c_timestamp
  GROUP BY l.id ORDER BY 1;
SELECT l.id, count(e.id) FROM types.local l JOIN types.every_type e ON
  e.c_text = l.c_text AND e.c_bytea = l.c_bytea AND e.c_date = l.c_date AND e.c_float4 = l.c_float4 GROUP BY l.id ORDER BY 1;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- The same through UPDATE, whose values are parameters beside the key.
UPDATE types.every_type SET c_text = NULL, c_uuid = NULL, c_interval = NULL, c_numeric = NULL;
SELECT count(*) FROM types.every_type WHERE c_text IS NULL AND c_uuid IS NULL AND c_interval IS NULL AND c_numeric IS NULL;
UPDATE types.every_type e SET c_text = l.c_text, c_uuid = l.c_uuid, c_interval = l.c_interval, c_numeric = l.c_numeric
  FROM types.local l WHERE l.id = e.id;
SELECT id FROM types.local l WHERE NOT EXISTS (SELECT FROM types.every_type e WHERE e *= l) ORDER BY id;
-- A local type that is not the engine's is refused, and says which column.
CREATE FOREIGN TABLE types.wrong (id int, c_int4 bigint) SERVER kakehashi OPTIONS (schema_name 'public', table_name 'every_type');
SELECT id FROM types.wrong WHERE id = 1;
SELECT c_int4 FROM types.wrong WHERE id = 1;
CREATE FOREIGN TABLE types.strange (id int, c_text inet) SERVER kakehashi OPTIONS (schema_name 'public', table_name 'every_type');
SELECT c_text FROM types.strange;
-- text, varchar and char(n) may stand for each other.
CREATE FOREIGN TABLE types.similar (id int, c_varchar text, c_text varchar) SERVER kakehashi OPTIONS (schema_name 'public', table_name 'every_type');
SELECT c_varchar, length(c_text) FROM types.similar WHERE id = 3;
SET client_min_messages = warning;
DROP SCHEMA types CASCADE;
