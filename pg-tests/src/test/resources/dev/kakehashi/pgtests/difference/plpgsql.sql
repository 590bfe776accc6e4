--engine: CREATE TABLE diff.steps (id int4 PRIMARY KEY, v int4)
--heap: CREATE TABLE steps (id int4 PRIMARY KEY, v int4)
--foreign: CREATE FOREIGN TABLE steps (id int4 OPTIONS (key 'true'), v int4) SERVER kakehashi OPTIONS (schema_name 'diff')
CREATE FUNCTION dive(depth int4, bottom int4) RETURNS int4 LANGUAGE plpgsql AS $$
DECLARE
  r int4;
BEGIN
  INSERT INTO steps VALUES (depth, 0);
  IF depth = bottom THEN
    INSERT INTO steps VALUES (1, 0);
  END IF;
  BEGIN
    r := dive(depth + 1, bottom);
    UPDATE steps SET v = v + r WHERE id = depth;
    RETURN r;
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO steps VALUES (-depth, depth);
    IF depth % 10 = 0 THEN RETURN depth; END IF;
    RAISE;
  END;
END $$;
SELECT dive(1, 50);
SELECT * FROM steps ORDER BY id;
DELETE FROM steps;
SELECT dive(1, 5);
SELECT count(*) FROM steps;
CREATE FUNCTION hold(depth int4) RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO steps VALUES (depth, depth);
  BEGIN
    IF depth < 50 THEN
      RETURN hold(depth + 1);
    END IF;
    RETURN (SELECT sum(v) FROM steps);
  EXCEPTION WHEN division_by_zero THEN
    RETURN -1;
  END;
END $$;
SELECT hold(1);
SELECT count(*), sum(v) FROM steps;
DO $$
DECLARE
  s record;
BEGIN
  FOR s IN SELECT * FROM steps ORDER BY id LOOP
    BEGIN
      UPDATE steps SET v = 100 / (s.v % 3) WHERE id = s.id;
    EXCEPTION WHEN division_by_zero THEN
      DELETE FROM steps WHERE id = s.id;
    END;
  END LOOP;
END $$;
SELECT v, count(*) FROM steps GROUP BY v ORDER BY v;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM steps ORDER BY id;
FETCH 3 FROM c;
SAVEPOINT a;
FETCH 3 FROM c;
DELETE FROM steps WHERE id < 20;
FETCH 2 FROM c;
ROLLBACK TO a;
FETCH 2 FROM c;
DECLARE d CURSOR FOR SELECT id FROM steps ORDER BY id DESC;
FETCH 1 FROM d;
SAVEPOINT b;
DECLARE e CURSOR FOR SELECT count(*) FROM steps;
RELEASE b;
FETCH ALL FROM e;
MOVE ABSOLUTE 2 IN c;
FETCH BACKWARD 1 FROM c;
SAVEPOINT f;
SELECT 1 / 0;
ROLLBACK TO f;
FETCH 2 FROM d;
COMMIT;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT id FROM steps ORDER BY id;
FETCH 1 FROM h;
DELETE FROM steps WHERE id = 2;
COMMIT;
FETCH 3 FROM h;
CLOSE h;
CREATE PROCEDURE in_parts() LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1000..1009 LOOP
    INSERT INTO steps VALUES (i, i);
    IF i % 2 = 0 THEN COMMIT; ELSE ROLLBACK; END IF;
  END LOOP;
END $$;
CALL in_parts();
SELECT id FROM steps WHERE id >= 1000 ORDER BY id;
