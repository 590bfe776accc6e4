package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Tables of every type: `a` and `b` with small values, of which no expression of [Expressions] overflows, `x` with extremes,
/// `k` with a key of two columns, `p` and `r` with partitions, and `w` to be changed.
final class Tables {
  static final int ROWS = 40;

  private static final String COLUMNS =
      "b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric(12,3), nn numeric, t text,"
          + " v varchar(8), c char(5), ch \"char\", na name, by bytea, d date, tm time, tz timetz, ts timestamp,"
          + " tt timestamptz, iv interval, u uuid, j json, jb jsonb, ai int4[], at text[], e text, dm int4";

  static final String ALL_OF_W = "SELECT * FROM w ORDER BY id";

  private Tables() {}

  static List<String> names() {
    return List.of("a", "b", "x", "k", "w");
  }

  /// Statements for the engine.
  static List<String> onEngine() {
    return List.of(
        "CREATE SCHEMA diff",
        "CREATE TABLE diff.a (id int4 PRIMARY KEY, " + COLUMNS + ")",
        "CREATE TABLE diff.b (id int4 PRIMARY KEY, " + COLUMNS + ")",
        "CREATE TABLE diff.x (id int4 PRIMARY KEY, " + COLUMNS + ")",
        "CREATE TABLE diff.k (g int4, s text, q int8, PRIMARY KEY (g, s))",
        "CREATE TABLE diff.w (id int4 PRIMARY KEY, "
            + COLUMNS
            + ", must int4 NOT NULL, UNIQUE (i8))",
        partition("p_1"),
        partition("p_2"),
        partition("r_1"),
        partition("r_2"),
        "CREATE INDEX ON diff.a (i4)",
        "CREATE INDEX ON diff.b (t, i2)",
        "CREATE INDEX ON diff.x (i8)");
  }

  private static String partition(String name) {
    return "CREATE TABLE diff." + name + " (id int4 PRIMARY KEY, " + COLUMNS + ")";
  }

  /// Partitioned tables of foreign tables in `remote`, and plain tables of the same rows in `heap`.
  private static List<String> partitioned(String name) {
    String whole = "remote." + name;
    List<String> statements = new ArrayList<>();
    for (int i = 1; i <= 2; i++) {
      statements.add(
          "ALTER FOREIGN TABLE " + whole + "_" + i + " ALTER e TYPE mood, ALTER dm TYPE small");
    }
    statements.add("CREATE TABLE " + whole + " (LIKE " + whole + "_1) PARTITION BY RANGE (id)");
    statements.add(
        "ALTER TABLE " + whole + " ATTACH PARTITION " + whole + "_1 FOR VALUES FROM (0) TO (20)");
    statements.add(
        "ALTER TABLE " + whole + " ATTACH PARTITION " + whole + "_2 FOR VALUES FROM (20) TO (100)");
    statements.add("CREATE TABLE heap." + name + " (LIKE " + whole + ", PRIMARY KEY (id))");
    return statements;
  }

  /// Statements for PostgreSQL: foreign tables in schema `remote`, their likes in `heap`.
  static List<String> onPostgres() {
    List<String> statements = new ArrayList<>();
    statements.add("CREATE SCHEMA heap");
    statements.add("CREATE SCHEMA remote");
    statements.add("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')");
    statements.add("CREATE DOMAIN small AS int4 CHECK (VALUE > -1000)");
    statements.add("IMPORT FOREIGN SCHEMA diff FROM SERVER kakehashi INTO remote");
    for (String table : List.of("a", "b", "x", "w")) {
      statements.add(
          "ALTER FOREIGN TABLE remote." + table + " ALTER e TYPE mood, ALTER dm TYPE small");
    }
    for (String table : names()) {
      statements.add("CREATE TABLE heap." + table + " (LIKE remote." + table + ")");
      statements.add(
          "ALTER TABLE heap."
              + table
              + " ADD PRIMARY KEY "
              + (table.equals("k") ? "(g, s)" : "(id)"));
    }
    statements.addAll(partitioned("p"));
    statements.addAll(partitioned("r"));
    statements.add("ALTER TABLE heap.w ADD UNIQUE (i8)");
    // In neither schema: joins of local tables with foreign ones.
    statements.add(
        "CREATE TABLE loc (id int4 PRIMARY KEY, i4 int4, t text COLLATE \"C\", n numeric)");
    statements.add(
        "INSERT INTO loc SELECT g, nullif(g % 9, 0), chr(97 + g % 5), g / 4.0 FROM generate_series(1, 30) g");
    statements.add("ANALYZE loc");
    return statements;
  }

  /// Statements that fill the tables of one schema.
  static List<String> rows(String schema, long seed) {
    List<String> statements = new ArrayList<>();
    for (String table : List.of("a", "b", "x", "p", "r")) {
      statements.add("INSERT INTO " + schema + "." + table + " VALUES " + values(table, seed));
    }
    statements.add(rowsOfW(schema, seed));
    statements.add(
        "INSERT INTO "
            + schema
            + ".k SELECT g % 6, chr(97 + g / 6), nullif(g, 7) FROM generate_series(0, 23) g");
    return statements;
  }

  static String rowsOfW(String schema, long seed) {
    return "INSERT INTO " + schema + ".w VALUES " + values("w", seed);
  }

  private static String values(String table, long seed) {
    Dice dice = new Dice(seed + table.charAt(0));
    Values values = new Values(dice, table.equals("x"));
    return IntStream.rangeClosed(1, ROWS)
        // Partitioned tables have rows without a partner.
        .filter(id -> !table.equals("r") || id % 3 > 0)
        .mapToObj(id -> row(table, id, dice, values))
        .collect(Collectors.joining(",\n"));
  }

  private static String row(String table, int id, Dice dice, Values values) {
    List<String> row = new ArrayList<>();
    row.add(Integer.toString(id));
    for (String column : Values.COLUMNS) {
      boolean unique = table.equals("w") && column.equals("i8");
      if (unique) {
        row.add(id % 7 == 0 ? "NULL" : Integer.toString(id * 10));
      } else {
        row.add(dice.oneIn(6) ? "NULL" : values.literal(column));
      }
    }
    if (table.equals("w")) {
      row.add(Integer.toString(id % 5));
    }
    return "(" + String.join(", ", row) + ")";
  }
}
