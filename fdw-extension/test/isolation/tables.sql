-- Tables of the specs, as heap tables or (psql -v foreign=1 -v runtime_dir=...) on the engine. @ stands for their schema.
\set ON_ERROR_STOP on
\set QUIET on
\o /dev/null
CREATE TYPE job_status AS ENUM ('new', 'taken', 'done');
CREATE TABLE definition (name text, columns text);
INSERT INTO definition VALUES
  ('account', 'id int PRIMARY KEY, balance int NOT NULL, owner text'),
  ('item', 'id int PRIMARY KEY, grp int NOT NULL, val int NOT NULL'),
  ('job', 'id int PRIMARY KEY, status text NOT NULL, val int NOT NULL'),
  ('log', 'id int PRIMARY KEY, note text'),
  ('parent', 'id int PRIMARY KEY, n int NOT NULL, u int UNIQUE'),
  ('child', 'id int PRIMARY KEY, pid int REFERENCES @parent');
\if :{?foreign}
  CREATE EXTENSION kakehashi_fdw;
  CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir :'runtime_dir');
  CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;
  SELECT kakehashi_execute('kakehashi', 'DROP SCHEMA IF EXISTS isolation CASCADE');
  SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA isolation');
  SELECT kakehashi_execute('kakehashi', format('CREATE TABLE isolation.%I (%s)', name, replace(columns, '@', 'isolation.'))) FROM definition;
  IMPORT FOREIGN SCHEMA isolation FROM SERVER kakehashi INTO public;
  ALTER FOREIGN TABLE job ALTER status TYPE job_status;
\else
  -- With statistics PostgreSQL reads two rows without the index, and then a serializable transaction has read the whole table.
  SELECT format('CREATE TABLE %I (%s) WITH (autovacuum_enabled = off)', name, replace(columns, '@', '')) FROM definition \gexec
  ALTER TABLE job ALTER status TYPE job_status USING status::job_status;
\endif
DROP TABLE definition;
