-- What does it cost to bring a million narrow rows into a local aggregate? OFFSET 0 keeps the aggregate local.
SELECT sum(id), sum(val) FROM (SELECT id, grp, val FROM numbers OFFSET 0) n;
