package dev.kakehashi.pgwire;

import dev.kakehashi.pgwire.wire.WireParameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// An INSERT of one row of parameters, as COPY of many such rows. Immutable.
///
/// The server says by [#check()] whether both mean the same. They do not where the rows before can be seen while a row is inserted, or
/// where one of them does more than the other:
///
/// | the table has | because |
/// |---|---|
/// | triggers of users | those of statements run once, and others see other rows |
/// | rules, row security, is a view or a foreign table | COPY passes them by, or is refused |
/// | a foreign key to itself | COPY looks at it after the last row |
/// | columns of other types than the parameters | COPY casts nothing |
/// | identity columns `GENERATED ALWAYS` that are given | COPY takes the values, INSERT refuses them |
/// | columns that are not given whose default may read rows | it would see other rows |
/// | foreign keys, with Citus | rows of several shards keep the transaction from changing the other table |
///
/// @param copy the command
/// @param check a query of one boolean
record InsertByCopy(String copy, String check) {
  /// With fewer rows the look at the table costs more than it saves.
  static final int FEWEST_ROWS = 64;

  /// Repetitions are possessive: a match that may go back takes stack for each character of a quoted name, and for each name.
  private static final String NAME = "(?:[A-Za-z_][A-Za-z0-9_$]*+|\"[^\"]*+(?:\"\"[^\"]*+)*+\")";

  private static final Pattern INSERT =
      Pattern.compile(
          "\\s*(?i:INSERT\\s+INTO)\\s+(?<table>"
              + NAME
              + "(?:\\."
              + NAME
              + ")?)\\s*(?:\\((?<columns>\\s*"
              + NAME
              + "(?:\\s*,\\s*"
              + NAME
              + ")*+\\s*)\\))?\\s*(?<overriding>(?i:OVERRIDING\\s+SYSTEM\\s+VALUE\\s+))?"
              + "(?i:VALUES)\\s*\\((?<values>[$0-9,\\s]+)\\)\\s*;?\\s*");

  private static final Pattern COLUMN = Pattern.compile(NAME);

  /// Defaults that look at no row: constants, sequences, the time, and numbers by chance.
  private static final String HARMLESS =
      "'^(nextval\\(.*|[^(]*|(now|clock_timestamp|statement_timestamp|gen_random_uuid|random)\\(\\))$'";

  /// For the table, its columns by name or place, whether identity columns may be given, and what else forbids it.
  private static final String CHECK =
      """
      WITH m AS MATERIALIZED (
        SELECT pg_catalog.to_regclass({table})::pg_catalog.oid AS id
        UNION SELECT p.relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass({table})) p),
      a AS (SELECT a.*, pg_catalog.row_number() OVER (ORDER BY a.attnum) AS place FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = pg_catalog.to_regclass({table}) AND a.attnum > 0 AND NOT a.attisdropped)
      SELECT NOT EXISTS (SELECT FROM m JOIN pg_catalog.pg_class c ON c.oid = m.id
          WHERE c.relkind NOT IN ('r', 'p') OR c.relhasrules OR c.relrowsecurity
          OR EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgtype & 4 <> 0)
          OR EXISTS (SELECT FROM pg_catalog.pg_constraint f WHERE f.contype = 'f' AND ({keys})))
        AND (SELECT pg_catalog.count(*) FILTER (WHERE w.type = a.atttypid AND a.attgenerated = '' AND (a.attidentity <> 'a' OR {overriding})) = {count}
            AND pg_catalog.bool_and(w.type IS NOT NULL OR a.attgenerated <> '' OR a.attidentity <> '' OR d.adbin IS NULL
              OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) ~ {harmless})
          FROM a LEFT JOIN (VALUES {columns}) AS w (name, place, type) ON w.name = a.attname OR w.place = a.place
          LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum)\
      """;

  private static final String OF_ITSELF =
      "f.conrelid = c.oid AND f.confrelid IN (SELECT id FROM m)";
  private static final String OF_ANY = "f.conrelid = c.oid OR f.confrelid = c.oid";

  /// @param types of its parameters
  /// @param sharded whether the server has Citus
  /// @return null: it is no such statement, or has values that go in no binary format
  static @Nullable InsertByCopy of(String sql, int[] types, boolean sharded) {
    Matcher insert = INSERT.matcher(sql);
    if (types.length == 0
        || !WireParameters.canCopy(types)
        || !insert.matches()
        || !insert.group("values").replaceAll("\\s", "").equals(inOrder(types.length))) {
      return null;
    }
    String table = insert.group("table");
    String given = insert.group("columns");
    List<String> columns = given == null ? List.of() : names(given);
    if (given != null && columns.size() != types.length) {
      return null;
    }
    String wanted =
        IntStream.range(0, types.length)
            .mapToObj(i ->
                "(%s::pg_catalog.name, %s, %d::pg_catalog.oid)"
                    .formatted(
                        given == null ? "NULL" : PgWireSession.literal(columns.get(i)),
                        given == null ? i + 1 : "NULL::int8",
                        types[i]))
            .collect(Collectors.joining(", "));
    String check =
        CHECK
            .replace("{table}", PgWireSession.literal(table))
            .replace("{columns}", wanted)
            .replace("{count}", Integer.toString(types.length))
            .replace("{overriding}", Boolean.toString(insert.group("overriding") != null))
            .replace("{keys}", sharded ? OF_ANY : OF_ITSELF)
            .replace("{harmless}", HARMLESS);
    String list = given == null ? "" : " (" + given.trim() + ")";
    return new InsertByCopy(
        "COPY " + table + list + " FROM STDIN (FORMAT binary)",
        given == null
            ? check + " AND (SELECT pg_catalog.count(*) FROM a) = " + types.length
            : check);
  }

  private static String inOrder(int count) {
    return IntStream.rangeClosed(1, count).mapToObj(i -> "$" + i).collect(Collectors.joining(","));
  }

  /// Names as the catalogue has them.
  private static List<String> names(String columns) {
    List<String> names = new ArrayList<>();
    Matcher each = COLUMN.matcher(columns);
    while (each.find()) {
      String name = each.group();
      names.add(
          name.startsWith("\"")
              ? name.substring(1, name.length() - 1).replace("\"\"", "\"")
              : name.toLowerCase(Locale.ROOT));
    }
    return names;
  }
}
