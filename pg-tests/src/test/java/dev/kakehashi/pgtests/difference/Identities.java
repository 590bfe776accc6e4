package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Random identities over the foreign tables of [Tables]: NoREC, partitions of rows by the three outcomes of a condition, the same query
/// over heap tables and under other settings of the planner.
///
/// `<a>` stands for a table in a form of its own wherever it is named.
final class Identities {
  private static final Pattern TABLE = Pattern.compile("<([ab])>");

  /// Rows for which a condition is true, false and unknown.
  private static final List<String> PARTS =
      List.of(" WHERE <P>", " WHERE NOT <P>", " WHERE <P> IS NULL");

  private final long seed;
  private final Dice dice;
  private final Expressions expressions;
  private String from = "<a> a";
  private String ids = "a.id";

  private Identities(long seed) {
    this.seed = seed;
    this.dice = new Dice(seed);
    this.expressions = new Expressions(dice, "a");
  }

  static Identity of(long seed) {
    return new Identities(seed).next();
  }

  private Identity next() {
    if (dice.oneIn(2)) {
      from = joined();
      ids = "a.id, b.id";
      expressions.scope("a", "b");
    }
    return switch (dice.below(15)) {
      case 0, 1 -> noRec();
      case 2, 3 -> partitioned();
      case 4 -> distinct();
      case 5 -> aggregated();
      case 6 -> grouped();
      case 7 -> having();
      case 8 -> joinOn();
      case 9 -> outerJoin();
      case 10 -> semiJoin();
      case 11 -> membership();
      case 12 -> combined();
      case 13 -> rewritten();
      default -> plans();
    };
  }

  private String joined() {
    return switch (dice.below(6)) {
      case 0 -> "<a> a CROSS JOIN (SELECT * FROM <b> z WHERE z.id < 6) b";
      case 1 -> "loc JOIN <a> a ON a.id = loc.id JOIN <b> b ON b.i4 = loc.i4";
      default ->
          "<a> a "
              + dice.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
              + " <b> b ON "
              + dice.pick("a.i4 = b.i4", "a.t = b.t", "a.n = b.n", "a.id = b.id", "a.nn = b.nn");
    };
  }

  private Identity identity(String name, List<String> left, List<String> right) {
    return new Identity(seed, name, way(left), way(right));
  }

  private Identity identity(String name, String left, String right) {
    return identity(name, List.of(left), List.of(right));
  }

  private Identity.Way way(List<String> templates) {
    List<String> settings = dice.oneIn(2) ? new ArrayList<>() : Program.turned(dice);
    if (dice.oneIn(6)) {
      settings.add("SET kakehashi.column_statistics = off");
    }
    if (dice.oneIn(8)) {
      settings.add("SET jit_above_cost = 0");
    }
    if (dice.oneIn(8)) {
      settings.add("SET work_mem = '64kB'");
    }
    if (dice.oneIn(8)) {
      settings.add("SET from_collapse_limit = 1; SET join_collapse_limit = 1");
    }
    boolean alike = dice.oneIn(2);
    String schema = dice.oneIn(4) ? "heap" : "remote";
    List<String> queries =
        templates.stream()
            .map(template ->
                TABLE
                    .matcher(template)
                    .replaceAll(table ->
                        Matcher.quoteReplacement(
                            alike ? schema + "." + table.group(1) : form(table.group(1)))))
            .toList();
    return new Identity.Way(settings, queries);
  }

  /// A table as it is, behind a fence that no condition passes, or with rows of PostgreSQL's own.
  private String form(String table) {
    return switch (dice.below(8)) {
      case 0, 1, 2 -> "remote." + table;
      case 3 -> "heap." + table;
      case 4 -> "(SELECT * FROM remote." + table + " OFFSET 0)";
      case 5 -> "(SELECT * FROM remote." + table + " WHERE id > 0)";
      case 6 ->
          "(SELECT * FROM remote."
              + table
              + " WHERE i4 > 2 UNION ALL SELECT * FROM heap."
              + table
              + " WHERE (i4 > 2) IS NOT TRUE)";
      default -> "(SELECT * FROM remote." + table + " ORDER BY i4, id DESC LIMIT 1000)";
    };
  }

  private String condition() {
    return switch (dice.below(8)) {
      case 0 -> "(" + subquery() + ")";
      case 1 -> "((" + subquery() + ")" + dice.pick(" AND ", " OR ") + expressions.bool(1) + ")";
      case 2 ->
          "((a.i4, a.t)"
              + dice.pick(" = ", " < ", " >= ", " <> ")
              + "("
              + expressions.constant(Kind.INTEGER)
              + ", "
              + expressions.constant(Kind.TEXT)
              + "))";
      case 3 ->
          "("
              + expressions.of(Kind.TEXT, 1)
              + dice.pick(" ~ 'a|b'", " ~* '^A'", " !~ 'x'", " ILIKE 'A%'")
              + ")";
      default -> expressions.bool(dice.between(1, 3));
    };
  }

  private String subquery() {
    return switch (dice.below(6)) {
      case 0 ->
          dice.pick("", "NOT ")
              + "EXISTS (SELECT 1 FROM remote.b s WHERE s.i4 = a.i4 AND s.i2 > 0)";
      case 1 ->
          "a.i4"
              + dice.pick(" IN ", " NOT IN ")
              + "(SELECT s.i4 FROM remote.b s WHERE s.id > "
              + dice.below(45)
              + ")";
      case 2 ->
          "a.t" + dice.pick(" IN ", " NOT IN ") + "(SELECT s.t FROM remote.b s WHERE s.i2 = a.i2)";
      case 3 ->
          "a.n"
              + dice.pick(" > ANY ", " <= ALL ", " <> ALL ")
              + "(SELECT s.n FROM remote.b s WHERE s.b)";
      case 4 ->
          "a.i8 > (SELECT "
              + dice.pick("max", "min", "avg")
              + "(s.i8) FROM remote.b s WHERE s.b = a.b)";
      default ->
          "(a.i2, a.b)"
              + dice.pick(" IN ", " NOT IN ")
              + "(SELECT s.i2, s.b FROM remote.b s WHERE s.id < "
              + dice.below(40)
              + ")";
    };
  }

  private static List<String> parts(String query, String condition) {
    return PARTS.stream().map(part -> query + part.replace("<P>", condition)).toList();
  }

  private List<String> together(List<String> parts) {
    return dice.oneIn(2) ? parts : List.of(String.join(" UNION ALL ", parts));
  }

  /// A value that looks the same for all that are equal to it.
  private String key() {
    Kind kind = expressions.kind();
    return expressions.key(
        kind, dice.oneIn(2) ? expressions.column(kind) : expressions.of(kind, 1));
  }

  private Identity noRec() {
    String condition = condition();
    String counted =
        dice.pick(
                "coalesce(sum(CASE WHEN <P> THEN 1 ELSE 0 END), 0)",
                "count(*) FILTER (WHERE <P>)",
                "count(nullif(coalesce(<P>, false), false))",
                "count(CASE WHEN <P> THEN 1 END)")
            .replace("<P>", condition);
    return identity(
        "NoREC",
        "SELECT count(*) FROM " + from + " WHERE " + condition,
        "SELECT " + counted + " FROM " + from);
  }

  private Identity partitioned() {
    String query = "SELECT " + ids + ", " + key() + " FROM " + from;
    return identity("partitions of rows", List.of(query), together(parts(query, condition())));
  }

  private Identity distinct() {
    String query = "SELECT DISTINCT " + key() + ", " + key() + " FROM " + from;
    return identity(
        "partitions of distinct rows", query, String.join(" UNION ", parts(query, condition())));
  }

  /// An aggregate, its parts, and how these come together.
  private String[] aggregate() {
    Kind number = dice.pick(List.of(Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC));
    String value = expressions.of(number, 1);
    return switch (dice.below(6)) {
      case 0 -> new String[] {"count(*)", "count(*) AS m", "sum(m)"};
      case 1 -> {
        String count = "count(" + expressions.of(expressions.kind(), 1) + ")";
        yield new String[] {count, count + " AS m", "sum(m)"};
      }
      case 2 -> new String[] {"sum(" + value + ")", "sum(" + value + ") AS m", "sum(m)"};
      case 3 ->
          new String[] {
            "round(avg(" + value + "), 6)",
            "sum(" + value + ") AS m, count(" + value + ") AS c",
            "round(sum(m) / nullif(sum(c), 0), 6)"
          };
      case 4 -> {
        Kind kind =
            dice.pick(
                List.of(
                    Kind.INTEGER,
                    Kind.NUMERIC,
                    Kind.TEXT,
                    Kind.DATE,
                    Kind.STAMP,
                    Kind.FLOAT,
                    Kind.ZONED,
                    Kind.SPAN,
                    Kind.TIME,
                    Kind.CHAR));
        String function = dice.pick("min(", "max(");
        String extreme = function + expressions.of(kind, 1) + ")";
        yield new String[] {
          expressions.key(kind, extreme), extreme + " AS m", expressions.key(kind, function + "m)")
        };
      }
      default -> {
        String function = dice.pick("bool_and(", "bool_or(");
        String all = function + expressions.bool(1) + ")";
        yield new String[] {all, all + " AS m", function + "m)"};
      }
    };
  }

  private Identity aggregated() {
    String[] aggregate = aggregate();
    String parts =
        String.join(" UNION ALL ", parts("SELECT " + aggregate[1] + " FROM " + from, condition()));
    return identity(
        "aggregates of partitions",
        "SELECT " + aggregate[0] + " FROM " + from,
        "SELECT " + aggregate[2] + " FROM (" + parts + ") w");
  }

  private Identity grouped() {
    Kind kind = expressions.kind();
    String key = expressions.key(kind, expressions.column(kind));
    String[] aggregate = aggregate();
    String parts =
        parts("SELECT " + key + " AS k, " + aggregate[1] + " FROM " + from, condition()).stream()
            .map(part -> part + " GROUP BY " + key)
            .collect(Collectors.joining(" UNION ALL "));
    return identity(
        "groups of partitions",
        "SELECT " + key + ", " + aggregate[0] + " FROM " + from + " GROUP BY " + key,
        "SELECT k, " + aggregate[2] + " FROM (" + parts + ") w GROUP BY k");
  }

  private Identity having() {
    String key = dice.pick("a.i4, a.t", "a.d, a.b", "a.i2, a.c", "a.u, a.i8", "a.by, a.tt");
    String query = "SELECT " + key + ", count(*), sum(a.id) FROM " + from + " GROUP BY " + key;
    String first = key.substring(0, key.indexOf(','));
    String condition =
        dice.pick(
            "(" + first + " IS NULL OR count(*) > 1)",
            "(max(a.n) > min(a.n))",
            "(bool_or(a.b) AND max(a.t) > 'a')",
            "(sum(a.i4) > " + dice.below(9) + ")",
            "(nullif(count(a.t), 1) = 2)",
            "(avg(a.i8) BETWEEN -3 AND min(a.i4))",
            "(max(a.f8) = 'NaN')",
            "(CASE WHEN count(*) > 1 THEN every(a.b) END)");
    return identity(
        "partitions of groups",
        List.of(query),
        together(
            PARTS.stream()
                .map(part -> query + part.replace("WHERE", "HAVING").replace("<P>", condition))
                .toList()));
  }

  private Identity joinOn() {
    String on = dice.pick("a.i4 = b.i4", "a.t = b.t", "a.id < b.i2", "a.i2 = b.i8", "a.id = b.id");
    String query = "SELECT a.id, b.id FROM <a> a JOIN <b> b ON (" + on + ")";
    expressions.scope("a", "b");
    return identity(
        "partitions of joins",
        List.of(query),
        together(
            parts(query, expressions.bool(2)).stream()
                .map(part -> part.replaceFirst("\\) WHERE ", ") AND "))
                .toList()));
  }

  private Identity outerJoin() {
    expressions.scope("a", "b");
    String on =
        dice.pick("a.i4 = b.i4", "a.t = b.t", "a.i2 = b.i8", "a.id = b.id", "true")
            + " AND "
            + expressions.bool(2);
    String match = "EXISTS (SELECT 1 FROM <b> b WHERE " + on + ")";
    return identity(
        "outer join",
        dice.oneIn(3)
            ? "SELECT a.id, b.id FROM <b> b RIGHT JOIN <a> a ON " + on
            : "SELECT a.id, b.id FROM <a> a LEFT JOIN <b> b ON " + on,
        "SELECT a.id, b.id FROM <a> a JOIN <b> b ON "
            + on
            + " UNION ALL SELECT a.id, NULL FROM <a> a WHERE NOT "
            + match);
  }

  private Identity semiJoin() {
    expressions.scope("a", "b");
    String where =
        dice.pick("", "a.i4 = b.i4 AND ", "a.t = b.t AND ", "a.id = b.id AND ")
            + expressions.bool(2);
    return identity(
        "semijoin",
        "SELECT a.id FROM <a> a WHERE EXISTS (SELECT 1 FROM <b> b WHERE " + where + ")",
        dice.oneIn(2)
            ? "SELECT DISTINCT a.id FROM <a> a CROSS JOIN <b> b WHERE " + where
            : "SELECT a.id FROM <a> a WHERE (SELECT count(*) FROM <b> b WHERE " + where + ") > 0");
  }

  /// IN by its definition: true if one is equal, else unknown if that of one is, else false.
  private Identity membership() {
    Kind kind =
        dice.pick(
            List.of(
                Kind.INTEGER,
                Kind.TEXT,
                Kind.NUMERIC,
                Kind.FLOAT,
                Kind.DATE,
                Kind.BOOL,
                Kind.UUID,
                Kind.CHAR,
                Kind.BYTES));
    expressions.scope("b");
    String value = expressions.column(kind);
    String where = " WHERE " + expressions.bool(1) + ")";
    expressions.scope("a");
    String left = expressions.of(kind, 1);
    boolean not = dice.oneIn(2);
    String equal = "(" + left + " = " + value + ")";
    String in =
        "(" + left + (not ? " NOT IN " : " IN ") + "(SELECT " + value + " FROM <b> b" + where + ")";
    String spelled =
        "(SELECT CASE WHEN bool_or"
            + equal
            + " THEN "
            + !not
            + " WHEN bool_or("
            + equal
            + " IS NULL) THEN NULL ELSE "
            + not
            + " END FROM <b> b"
            + where;
    return dice.oneIn(2)
        ? identity(
            "membership",
            "SELECT a.id, " + in + " FROM <a> a",
            "SELECT a.id, " + spelled + " FROM <a> a")
        : identity(
            "membership",
            "SELECT a.id FROM <a> a WHERE " + in,
            "SELECT a.id FROM <a> a WHERE " + spelled);
  }

  private Identity combined() {
    String query = "SELECT " + key() + ", " + key() + " FROM " + from;
    String where = " WHERE " + condition();
    return dice.oneIn(2)
        ? identity(
            "except",
            "(" + query + ") EXCEPT ALL (" + query + where + ")",
            query + where + " IS NOT TRUE")
        : identity(
            "intersect", "(" + query + ") INTERSECT ALL (" + query + where + ")", query + where);
  }

  private Identity rewritten() {
    String query = "SELECT " + ids + " FROM " + from + " WHERE ";
    String condition = condition();
    String more = expressions.bool(1);
    return switch (dice.below(4)) {
      case 0 ->
          identity(
              "conjunction",
              query + condition + " AND " + more,
              query + more + " AND " + condition + " IS TRUE");
      case 1 ->
          identity(
              "disjunction",
              query + condition + " OR " + more,
              query + "NOT (NOT " + more + " AND NOT " + condition + ")");
      case 2 ->
          identity(
              "case",
              query + condition,
              query + "CASE WHEN " + condition + " THEN true ELSE false END");
      default ->
          identity("coalesce", query + condition, query + "coalesce(" + condition + ", false)");
    };
  }

  private Identity plans() {
    String query =
        "SELECT " + ids + ", " + key() + ", " + key() + " FROM " + from + " WHERE " + condition();
    return identity("plans", query, query);
  }
}
