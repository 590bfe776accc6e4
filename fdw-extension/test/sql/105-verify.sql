-- What is on the engine is shown, and where foreign tables do not fit it is said.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA shown') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE shown.one (a int4, b text NOT NULL, c numeric(10,2) DEFAULT 1, d timestamp, e text, PRIMARY KEY (a, b))') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE shown.two (x int8 PRIMARY KEY, y text, z jsonb)') \gset
SELECT table_name, row_count FROM kakehashi_tables('kakehashi') WHERE table_schema = 'shown' ORDER BY 1;
SELECT table_name, column_name, ordinal_position AS pos, format_type(type_oid::oid, type_modifier) AS type, not_null, column_default, key_position AS key
  FROM kakehashi_columns('kakehashi') WHERE table_schema = 'shown';
SELECT count(*) FROM kakehashi_prepared_transactions('kakehashi');
SELECT limit_bytes > 0 AS limited, used_bytes > 0 AND used_bytes <= reserved_bytes AS used, changes_held FROM kakehashi_memory('kakehashi');
SELECT table_name, total_bytes, page_bytes, value_bytes, index_bytes FROM kakehashi_table_memory('kakehashi') WHERE table_schema = 'shown';
BEGIN;
SELECT kakehashi_execute('kakehashi', $$INSERT INTO shown.two VALUES (1, 'a', NULL)$$);
SELECT kind, isolation, has_writes FROM kakehashi_transactions('kakehashi') WHERE has_writes;
ROLLBACK;
-- Version 1.1 is 1.0 with its upgrade script
SELECT extversion FROM pg_extension WHERE extname = 'kakehashi_fdw';
-- Imported tables fit
CREATE SCHEMA shown;
CREATE SERVER verified FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '/nowhere');
CREATE USER MAPPING FOR PUBLIC SERVER verified;
SELECT option_value AS runtime_dir FROM pg_foreign_server, pg_options_to_table(srvoptions) WHERE srvname = 'kakehashi' AND option_name = 'runtime_dir' \gset
ALTER SERVER verified OPTIONS (SET runtime_dir :'runtime_dir');
IMPORT FOREIGN SCHEMA shown FROM SERVER verified INTO shown;
SELECT * FROM kakehashi_verify_tables('verified');
-- Enums and domains fit text and what they are made of; names are looked for as the options say
CREATE TYPE shown.mood AS ENUM ('sad', 'ok');
CREATE DOMAIN shown.money AS numeric(10,2);
CREATE DOMAIN shown.price AS shown.money CHECK (VALUE > 0);
ALTER FOREIGN TABLE shown.one ALTER e TYPE shown.mood, ALTER c TYPE shown.price;
ALTER FOREIGN TABLE shown.one RENAME d TO renamed;
SELECT * FROM kakehashi_verify_tables('verified');
-- What does not fit
ALTER FOREIGN TABLE shown.one ALTER c TYPE numeric(12,3), ALTER b DROP NOT NULL, ALTER renamed TYPE date, ALTER e SET NOT NULL;
ALTER FOREIGN TABLE shown.one ALTER a OPTIONS (SET key 'false'), ALTER e OPTIONS (ADD key 'true');
ALTER FOREIGN TABLE shown.two DROP z, ALTER y OPTIONS (SET column_name 'why');
CREATE FOREIGN TABLE shown.three (a int) SERVER verified;
SELECT * FROM kakehashi_verify_tables('verified');
SET client_min_messages = warning;
DROP SCHEMA shown CASCADE;
DROP SERVER verified CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA shown CASCADE') \gset
