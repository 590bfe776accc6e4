-- What do the first ten of a million rows in an order without an index cost?
SELECT id, grp, val FROM numbers ORDER BY val DESC, id LIMIT 10;
