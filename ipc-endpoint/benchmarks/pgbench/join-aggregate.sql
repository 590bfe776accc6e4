-- What does a join of 200,000 rows with 1,000 and an aggregate cost?
SELECT g.name, count(*), sum(w.c04), max(w.c05) FROM wide w JOIN groups g ON g.id = w.c02 GROUP BY g.name;
