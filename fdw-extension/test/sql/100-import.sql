-- IMPORT FOREIGN SCHEMA makes tables with the engine's names, types, keys and constraints.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS import_one');
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS import_two');
SELECT kakehashi_execute('kakehashi', $$
  CREATE TABLE import_one (
    id bigint NOT NULL, "Mixed ""name""" varchar(20) NOT NULL, amount numeric(10,2) DEFAULT 1.5, flag boolean,
    small smallint, fixed char(3), at timestamp, PRIMARY KEY (id, small)) $$);
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE import_two (note text)');
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA public LIMIT TO (import_one, import_two) FROM SERVER kakehashi INTO imported;
\d imported.import_one
\d imported.import_two
DROP FOREIGN TABLE imported.import_one, imported.import_two;
IMPORT FOREIGN SCHEMA public LIMIT TO (import_one) FROM SERVER kakehashi INTO imported
  OPTIONS (import_default 'false', import_not_null 'false', import_collate 'false');
\d imported.import_one
\set VERBOSITY sqlstate
IMPORT FOREIGN SCHEMA nowhere FROM SERVER kakehashi INTO imported;
\set VERBOSITY default
IMPORT FOREIGN SCHEMA public EXCEPT (import_one) FROM SERVER kakehashi INTO imported;
SELECT count(*) FROM information_schema.foreign_tables WHERE foreign_table_name = 'import_two';
SET client_min_messages = warning;
DROP SCHEMA imported CASCADE;
