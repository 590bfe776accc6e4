-- Values of megabytes go both ways; a row that no buffer holds is refused, in the direction in which it is met, and nothing is lost.
SELECT kakehashi_execute('kakehashi', 'DROP TABLE IF EXISTS long_value');
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE long_value (id int PRIMARY KEY, body text, data bytea)');
IMPORT FOREIGN SCHEMA public LIMIT TO (long_value) FROM SERVER kakehashi INTO public;
INSERT INTO long_value SELECT g, repeat(md5(g::text), 40000), decode(repeat('ab', 1000000), 'hex') FROM generate_series(1, 40) g;
SELECT count(*), bool_and(body = repeat(md5(id::text), 40000)) AS bodies, sum(length(data)) AS bytes FROM long_value;
UPDATE long_value SET body = body || body WHERE id = 1;
SELECT id, length(body), body = repeat(md5('1'), 80000) AS doubled FROM long_value WHERE id = 1;
-- 256 MB are too much
INSERT INTO long_value SELECT g, repeat('x', 270000000 + g) FROM generate_series(41, 41) g;
INSERT INTO long_value SELECT g, repeat('x', CASE WHEN g < 80 THEN 10 ELSE 270000000 END) FROM generate_series(41, 80) g;
SELECT count(*) FROM long_value WHERE id > 40;
SELECT id FROM long_value WHERE body = (SELECT repeat('x', 270000000) OFFSET 0);
-- Made longer on the engine
SELECT kakehashi_execute('kakehashi', 'UPDATE long_value SET body = repeat(body, 4) WHERE id = 2');
SELECT id, body = repeat(md5('2'), 160000) AS same FROM long_value WHERE id = 2;
SELECT * FROM kakehashi_query('kakehashi', 'SELECT repeat(body, 60) FROM long_value WHERE id = 2') AS (body text);
SELECT id, length(body) FROM long_value WHERE id = 3;
SELECT * FROM kakehashi_query('kakehashi', 'SELECT length(body) FROM long_value WHERE id = 2') AS (length int);
DROP FOREIGN TABLE long_value;
SELECT kakehashi_execute('kakehashi', 'DROP TABLE long_value');
