-- What does it cost to bring all 20 columns of 200,000 rows here? count(column) asks for each and does nothing with it.
SELECT count(c01), count(c02), count(c03), count(c04), count(c05), count(c06), count(c07), count(c08), count(c09), count(c10),
  count(c11), count(c12), count(c13), count(c14), count(c15), count(c16), count(c17), count(c18), count(c19), count(c20)
FROM (SELECT * FROM wide OFFSET 0) w;
