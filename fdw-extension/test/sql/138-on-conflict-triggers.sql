-- Row triggers BEFORE INSERT run before ON CONFLICT DO UPDATE looks for a row, and EXCLUDED is what they have made of the row, as with local tables.
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE kept (id int PRIMARY KEY, code text UNIQUE, n int)') \gset
CREATE SCHEMA of_engine;
CREATE SCHEMA of_heap;
IMPORT FOREIGN SCHEMA public LIMIT TO (kept) FROM SERVER kakehashi INTO of_engine;
CREATE TABLE of_heap.kept (LIKE of_engine.kept, PRIMARY KEY (id), UNIQUE (code));
CREATE TABLE seen (side text, what text);
CREATE FUNCTION change_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO seen VALUES (TG_TABLE_SCHEMA, TG_WHEN || ' ' || TG_OP || ' ' || new.id);
  new.code := upper(new.code);
  IF new.n > 100 THEN
    new.id := new.n % 100;
  END IF;
  RETURN CASE WHEN new.n >= 0 THEN new END;
END $$;
CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO seen VALUES (TG_TABLE_SCHEMA, TG_WHEN || ' ' || TG_OP || ' ' || TG_LEVEL); RETURN NULL; END $$;
DO $$
DECLARE
  side text;
BEGIN
  FOREACH side IN ARRAY ARRAY['of_engine', 'of_heap'] LOOP
    EXECUTE format('CREATE TRIGGER r BEFORE INSERT ON %I.kept FOR EACH ROW EXECUTE FUNCTION change_row()', side);
    EXECUTE format('CREATE TRIGGER b BEFORE INSERT OR UPDATE ON %I.kept FOR EACH STATEMENT EXECUTE FUNCTION note_statement()', side);
    EXECUTE format('CREATE TRIGGER a AFTER INSERT OR UPDATE ON %I.kept FOR EACH STATEMENT EXECUTE FUNCTION note_statement()', side);
  END LOOP;
END $$;
SELECT statement, both_sides('INSERT INTO kept AS k ' || statement, 'SELECT string_agg(k::text, '' '' ORDER BY id) FROM kept k') FROM (VALUES
  ('VALUES (1, ''a'', 1), (2, ''b'', 2)'),
  ('VALUES (1, ''c'', 3) ON CONFLICT (id) DO UPDATE SET code = excluded.code || k.code, n = k.n + excluded.n'),
  ('VALUES (7, ''d'', 102) ON CONFLICT (id) DO UPDATE SET code = excluded.code, n = excluded.id'),
  ('VALUES (8, ''d'', 5) ON CONFLICT (code) DO UPDATE SET n = k.n * 10 + excluded.n RETURNING *'),
  ('VALUES (1, ''x'', -1), (9, ''y'', -2) ON CONFLICT (id) DO UPDATE SET n = 0'),
  ('VALUES (1, ''x'', 50), (3, ''e'', 3) ON CONFLICT (id) DO UPDATE SET n = excluded.n WHERE k.n > 1000'),
  ('VALUES (20, ''v'', 104), (21, ''w'', 104) ON CONFLICT (id) DO UPDATE SET n = excluded.n'),
  ('SELECT g, ''g'' || g, g FROM generate_series(1, 4) g ON CONFLICT (id) DO UPDATE SET n = k.n + 1'),
  ('VALUES (1, ''x'', 1) ON CONFLICT (id) DO NOTHING')
  ) s (statement);
SELECT count(*), (array_agg(what ORDER BY ctid))[5:12] AS some, array_agg(what ORDER BY ctid) = lag(array_agg(what ORDER BY ctid)) OVER (ORDER BY side) AS same FROM seen GROUP BY side ORDER BY side;
-- Triggers that would see the row in conflict, or be told which rows were inserted
SET search_path = of_engine, public;
\set VERBOSITY terse
\set ON_CONFLICT 'INSERT INTO kept VALUES (1, $$x$$, 1) ON CONFLICT (id) DO UPDATE SET n = 0'
CREATE TRIGGER x AFTER INSERT ON kept FOR EACH ROW EXECUTE FUNCTION note_statement();
:ON_CONFLICT;
DROP TRIGGER x ON kept;
CREATE TRIGGER x BEFORE UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION note_statement();
:ON_CONFLICT;
DROP TRIGGER x ON kept;
CREATE TRIGGER x AFTER UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION note_statement();
:ON_CONFLICT;
DROP TRIGGER x ON kept;
:ON_CONFLICT;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA of_engine, of_heap CASCADE;
DROP TABLE seen;
DROP FUNCTION change_row, note_statement;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE kept') \gset
