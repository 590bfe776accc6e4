-- What does an aggregate cost that may run where the rows are?
SELECT grp, count(*), sum(val), min(val), max(val) FROM numbers GROUP BY grp;
