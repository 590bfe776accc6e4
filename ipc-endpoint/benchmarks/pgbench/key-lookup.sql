-- What does a local table of 1,000 keys cost that is joined with a million rows by their primary key?
SELECT sum(n.val) FROM public.keys k JOIN numbers n ON n.id = k.id;
