-- Keys and references of the engine with the names here, and the engine's definitions as a script.
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA keys') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE keys.country (code char(2) PRIMARY KEY, name text UNIQUE, iso text UNIQUE NULLS NOT DISTINCT)') \gset
SELECT kakehashi_execute('kakehashi', $$CREATE TABLE keys.city (id int8 GENERATED ALWAYS AS IDENTITY, country char(2) NOT NULL REFERENCES keys.country ON DELETE CASCADE,
  name text DEFAULT 'n/a', size int4 CHECK (size > 0), PRIMARY KEY (country, id), UNIQUE (name, country) DEFERRABLE INITIALLY DEFERRED)$$) \gset
SELECT kakehashi_execute('kakehashi', 'CREATE INDEX large ON keys.city (size DESC NULLS LAST, name NULLS FIRST) WHERE size > 100000') \gset
SELECT kakehashi_execute('kakehashi', 'CREATE UNIQUE INDEX once ON keys.city (name, size) NULLS NOT DISTINCT') \gset
SELECT kakehashi_execute('kakehashi', 'ALTER TABLE keys.city ADD CONSTRAINT named CHECK (name <> '''') NOT VALID') \gset
SELECT kakehashi_execute('kakehashi', $$COMMENT ON TABLE keys.city IS 'where people live'$$) \gset
CREATE SCHEMA local_keys;
IMPORT FOREIGN SCHEMA keys FROM SERVER kakehashi INTO local_keys;
-- Other names here than there.
ALTER FOREIGN TABLE local_keys.city RENAME TO town;
ALTER FOREIGN TABLE local_keys.town RENAME country TO land;
SELECT * FROM kakehashi_keys WHERE table_schema = 'local_keys' ORDER BY table_name, constraint_name, ordinal_position;
SELECT constraint_name, table_name, constraint_type, is_deferrable, initially_deferred, nulls_distinct FROM kakehashi_table_constraints
WHERE table_schema = 'local_keys' ORDER BY 2, 1;
SELECT constraint_name, table_name, column_name, ordinal_position, position_in_unique_constraint FROM kakehashi_key_column_usage
WHERE table_schema = 'local_keys' ORDER BY 2, 1, 4;
SELECT constraint_name, unique_constraint_schema, unique_constraint_name, match_option, update_rule, delete_rule FROM kakehashi_referential_constraints
WHERE constraint_schema = 'local_keys' ORDER BY 1;
SELECT object_type, object_name, definition FROM kakehashi_definitions('kakehashi') WHERE object_schema = 'keys' ORDER BY ordinal_position;
SELECT count(*) FROM kakehashi_dump_schema('kakehashi') AS statement WHERE statement LIKE 'CREATE TABLE keys.%;';
-- Who may not use a table does not see its keys, and who may not use the server sees none.
CREATE ROLE regress_keys_reader;
GRANT USAGE ON SCHEMA local_keys TO regress_keys_reader;
SET ROLE regress_keys_reader;
SELECT count(*) FROM kakehashi_keys;
RESET ROLE;
DROP OWNED BY regress_keys_reader;
DROP ROLE regress_keys_reader;
SET client_min_messages = warning;
DROP SCHEMA local_keys CASCADE;
SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA keys CASCADE') \gset
