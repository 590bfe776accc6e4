--engine: CREATE TABLE diff.triggered (id int4 PRIMARY KEY, v int4, t text)
--heap: CREATE TABLE triggered (id int4 PRIMARY KEY, v int4, t text)
--foreign: CREATE FOREIGN TABLE triggered (id int4 OPTIONS (key 'true'), v int4, t text) SERVER kakehashi OPTIONS (schema_name 'diff')
CREATE TABLE seen (n serial, what text);
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  o text;
  n text;
BEGIN
  IF TG_LEVEL = 'ROW' THEN
    IF TG_OP <> 'INSERT' THEN o := OLD::text; END IF;
    IF TG_OP <> 'DELETE' THEN n := NEW::text; END IF;
  END IF;
  INSERT INTO seen (what) VALUES (concat_ws(' ', TG_NAME, TG_WHEN, TG_LEVEL, TG_OP, o, n));
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.v = 13 THEN RETURN NULL; END IF;
  IF NEW.v = 99 THEN RAISE EXCEPTION 'no' USING ERRCODE = 'P0099'; END IF;
  NEW.t := NEW.t || TG_OP;
  RETURN NEW;
END $$;
CREATE TRIGGER a_change BEFORE INSERT OR UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION change();
CREATE TRIGGER b_before BEFORE INSERT OR UPDATE OR DELETE ON triggered FOR EACH ROW EXECUTE FUNCTION watch();
CREATE TRIGGER c_after AFTER INSERT OR UPDATE OR DELETE ON triggered FOR EACH ROW EXECUTE FUNCTION watch();
CREATE TRIGGER d_statement BEFORE INSERT OR UPDATE OR DELETE ON triggered FOR EACH STATEMENT EXECUTE FUNCTION watch();
CREATE TRIGGER e_statement AFTER INSERT OR UPDATE OR DELETE ON triggered FOR EACH STATEMENT EXECUTE FUNCTION watch();
CREATE TRIGGER f_when AFTER UPDATE ON triggered FOR EACH ROW WHEN (OLD.v IS DISTINCT FROM NEW.v) EXECUTE FUNCTION watch();
INSERT INTO triggered VALUES (1, 1, 'a'), (2, 13, 'b'), (3, 3, NULL) RETURNING *;
INSERT INTO triggered SELECT g, g, 'g' FROM generate_series(10, 15) g;
UPDATE triggered SET v = v + 1 WHERE id < 12 RETURNING id, v, t;
UPDATE triggered SET t = 'same' WHERE v % 2 = 0;
UPDATE triggered SET v = 13 WHERE id = 1 RETURNING id;
UPDATE triggered SET v = 99 WHERE id = 3;
DELETE FROM triggered WHERE id > 13 RETURNING *;
INSERT INTO triggered VALUES (1, 1, 'again');
INSERT INTO triggered VALUES (1, 1, 'again') ON CONFLICT DO NOTHING;
BEGIN;
UPDATE triggered SET v = 0;
ROLLBACK;
UPDATE triggered SET id = id + 100 WHERE id IN (10, 11);
SELECT * FROM triggered ORDER BY id;
SELECT what, count(*) FROM seen GROUP BY what ORDER BY what COLLATE "C";
DROP TRIGGER a_change ON triggered;
DROP TRIGGER b_before ON triggered;
DROP TRIGGER c_after ON triggered;
INSERT INTO triggered VALUES (500, 1, 'few');
UPDATE triggered SET v = 7 WHERE id = 500;
DELETE FROM triggered WHERE id = 500;
SELECT count(*) FROM seen;
