-- The same as a text that goes to the engine as it is.
SELECT * FROM public.kakehashi_query('kakehashi', 'SELECT grp, count(*), sum(val), min(val), max(val) FROM bench.numbers GROUP BY grp')
  AS (grp int4, count int8, sum int8, min int4, max int4);
