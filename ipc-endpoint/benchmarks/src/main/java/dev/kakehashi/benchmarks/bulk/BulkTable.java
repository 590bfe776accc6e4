package dev.kakehashi.benchmarks.bulk;

/// The table of the benchmark: orders of a shop, seven columns, a primary key. The same rows everywhere.
final class BulkTable {
  private static final String COLUMNS =
      """
      (id int8 PRIMARY KEY, customer int4, price numeric(12,2), day date, placed timestamptz, ratio float8, note text)\
      """;

  private BulkTable() {}

  /// Understood by PostgreSQL, the engine and DuckDB.
  static String definition(String table) {
    return "CREATE TABLE " + table + " " + COLUMNS;
  }

  /// The rows from `first` to `last` as a query of PostgreSQL. Some 120 bytes of CSV each; a hundredth of the notes is null. Numbers are
  /// scattered by hash functions, so they do not shrink by being alike.
  static String query(long first, long last) {
    return """
    SELECT i, (h & 131071)::int4, ((h >> 20) & 8388607)::numeric(12,2) / 100, date '2020-01-01' + ((h >> 40) & 2047)::int4,
      timestamptz '2020-01-01 00:00:00+00' + i * interval '37 s' + (h & 16777215) * interval '1 us',
      ((h >> 10) & 1048575) / 997.0::float8,
      CASE WHEN i %% 100 <> 7 THEN 'note ' || (h & 1073741823) || repeat(' more', (i %% 4)::int4 + 1) || ' of it' END
    FROM (SELECT i, hashint8extended(i, 1) h FROM generate_series(%d::int8, %d) i) hashed\
    """
        .formatted(first, last);
  }
}
