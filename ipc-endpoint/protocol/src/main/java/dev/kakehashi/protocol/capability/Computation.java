package dev.kakehashi.protocol.capability;

import java.util.Locale;

/// Computation that an engine does exactly as PostgreSQL does, for all types that it keeps. The numbers are those of the bits in the
/// protocol: new ones come last.
///
/// PostgreSQL does an absent computation itself, from the engine's rows. Each computation is proved by comparing both over columns, not
/// asserted.
public enum Computation {
  /// `=`, `<>`, IS NULL, IS DISTINCT FROM, AND, OR, NOT.
  EQUALITY(0),
  /// `<`, `<=`, `>`, `>=`, min and max of anything but text.
  ORDER(1),
  /// The same of text, by its bytes.
  TEXT_ORDER(2),
  /// `+ - * / % &` of integers, with PostgreSQL's overflow.
  INTEGER_ARITHMETIC(3),
  /// The same of numeric, with PostgreSQL's scale.
  NUMERIC_ARITHMETIC(4),
  /// The same of real and double precision, with PostgreSQL's errors.
  FRACTION_ARITHMETIC(5),
  /// abs, round, sqrt and so on.
  NUMBER_FUNCTIONS(6),
  /// `||`, substring, lpad and so on.
  TEXT_FUNCTIONS(7),
  /// LIKE.
  PATTERNS(8),
  /// Functions of bytea.
  BINARY_FUNCTIONS(9),
  /// Sums of dates, times and intervals.
  DATE_ARITHMETIC(10),
  /// extract, date_trunc, isfinite.
  DATE_FUNCTIONS(11),
  /// CASE, COALESCE, NULLIF, GREATEST, LEAST.
  CONDITIONALS(12),
  /// Casts that lose nothing, and those that round to a scale.
  CASTS(13),
  /// IN, `= ANY` and their relatives with an array.
  LISTS(14),
  /// Operators and functions of arrays.
  ARRAYS(15),
  /// Operators and functions of json and jsonb.
  DOCUMENTS(16),
  /// Inner and outer joins.
  JOINS(17),
  /// EXISTS and NOT EXISTS.
  SEMI_JOINS(18),
  /// GROUP BY, HAVING, count, min, max, bool_and, bool_or.
  GROUPING(19),
  /// sum, avg and what is made of them.
  SUMS(20),
  /// string_agg, array_agg, percentiles and so on.
  ORDERED_AGGREGATES(21),
  /// GROUPING SETS, ROLLUP, CUBE.
  GROUPING_SETS(22),
  /// DISTINCT.
  DISTINCT(23),
  /// Window functions.
  WINDOWS(24),
  /// UNION, INTERSECT, EXCEPT.
  SET_OPERATIONS(25),
  /// ORDER BY.
  SORT(26),
  /// LIMIT and OFFSET.
  LIMIT(27),
  /// Queries in FROM.
  SUBQUERIES(28);

  private final int number;

  Computation(int number) {
    this.number = number;
  }

  /// In words, as tables and messages show it.
  public String title() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /// Its bit.
  long bit() {
    return 1L << number;
  }
}
