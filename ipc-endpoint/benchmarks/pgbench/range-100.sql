-- What do 100 neighbouring rows cost?
\set first random(1, 999900)
SELECT id, grp, val FROM numbers WHERE id BETWEEN :first AND :first + 99;
