package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;

/// Random queries over the tables of [Tables] that have small values.
final class Selects {
  private final Dice dice;
  private final Expressions expressions;

  Selects(Dice dice) {
    this.dice = dice;
    this.expressions = new Expressions(dice, "a");
  }

  /// A query. If the last ORDER BY names all columns of the output, the order is compared, too.
  Query next() {
    expressions.scope("a");
    return switch (dice.below(20)) {
      case 0, 1 -> projection();
      case 2, 3 -> grouped();
      case 4, 5 -> joined();
      case 6 -> semiJoined();
      case 7 -> subqueries();
      case 8 -> setOperation();
      case 9 -> distinct();
      case 10 -> window();
      case 11 -> threeTables();
      case 12 -> joinedGroups();
      case 13 -> window();
      case 14 -> groupingSets();
      case 15 -> new CombinedSelects(dice, expressions).next();
      case 16 -> new PartitionedSelects(dice, expressions).next();
      case 17, 18 -> new OrderedSelects(dice, expressions).next();
      default -> nested();
    };
  }

  /// A query and whether its order is total.
  record Query(String sql, boolean ordered) {}

  private Query projection() {
    StringBuilder list = new StringBuilder("a.id");
    for (int i = dice.below(4); i > 0; i--) {
      Kind kind = dice.oneIn(4) ? Kind.KEPT : expressions.kind();
      list.append(", ").append(expressions.of(kind, 2));
    }
    if (dice.oneIn(6)) {
      list = new StringBuilder("a.*");
    }
    String where =
        " WHERE " + expressions.bool(2) + (dice.oneIn(3) ? " AND " + expressions.bool(2) : "");
    if (dice.oneIn(2)) {
      return new Query("SELECT " + list + " FROM a" + where, false);
    }
    Kind order = expressions.kind();
    return new Query(
        "SELECT "
            + list
            + " FROM a"
            + where
            + " ORDER BY "
            + expressions.of(order, 1)
            + direction()
            + ", a.id"
            + limit(),
        true);
  }

  private String direction() {
    return dice.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC NULLS LAST");
  }

  private String limit() {
    return switch (dice.below(4)) {
      case 0 -> " LIMIT " + dice.below(12);
      case 1 -> " LIMIT " + dice.below(12) + " OFFSET " + dice.below(6);
      case 2 ->
          dice.pick(
              " OFFSET 3",
              " FETCH FIRST 5 ROWS ONLY",
              " LIMIT NULL",
              " LIMIT ALL OFFSET 2",
              " LIMIT (SELECT 3)");
      default -> "";
    };
  }

  private Query grouped() {
    StringBuilder keys = new StringBuilder();
    StringBuilder list = new StringBuilder();
    int count = dice.below(4) == 0 ? 0 : dice.between(1, 2);
    for (int i = 0; i < count; i++) {
      Kind kind = expressions.kind();
      String key = dice.oneIn(2) ? expressions.column(kind) : expressions.of(kind, 2);
      if (key.startsWith("'") || key.startsWith("$")) {
        key = expressions.column(kind); // a constant is no key
      }
      keys.append(i == 0 ? "" : ", ").append(key);
      list.append(i == 0 ? "" : ", ").append(expressions.key(kind, key));
    }
    for (int i = dice.between(count == 0 ? 1 : 0, 3); i > 0; i--) {
      list.append(list.isEmpty() ? "" : ", ").append(expressions.aggregate());
    }
    return new Query(
        "SELECT "
            + list
            + " FROM a"
            + (dice.oneIn(2) ? " WHERE " + expressions.bool(2) : "")
            + (count == 0 ? "" : " GROUP BY " + keys)
            + (dice.oneIn(4)
                ? " HAVING "
                    + dice.pick(
                        "count(*) > 1",
                        "sum(a.i4) > 5",
                        "min(a.t) < 'b'",
                        "bool_or(a.b)",
                        "max(a.n) IS NOT NULL")
                : "")
            + order(list.toString()),
        false);
  }

  /// By the first column of the output, sometimes, for the plan's sake: the comparison does not need it.
  private String order(String list) {
    return dice.oneIn(2) || list.isEmpty() ? "" : " ORDER BY 1" + direction();
  }

  private String joinCondition(String left, String right) {
    if (dice.oneIn(4)) {
      expressions.scope(left, right);
      return expressions.comparison(1) + " AND " + left + ".i2 = " + right + ".i2";
    }
    return dice.pick(
            "%1$s.i4 = %2$s.i4",
            "%1$s.id = %2$s.id + 3",
            "%1$s.t = %2$s.t",
            "%1$s.v = %2$s.t AND %1$s.i2 < %2$s.i2",
            "%1$s.n = %2$s.n",
            "%1$s.i2 = %2$s.i8",
            "%1$s.i4 = %2$s.f8",
            "%1$s.c = %2$s.c AND %1$s.id < %2$s.id",
            "%1$s.d = %2$s.d AND %1$s.b",
            "%1$s.d = %2$s.ts::date",
            "%1$s.u = %2$s.u",
            "%1$s.e = %2$s.e AND %1$s.i4 = %2$s.i4",
            "%1$s.by = %2$s.by",
            "%1$s.iv = %2$s.iv",
            "%1$s.tt = %2$s.tt",
            "%1$s.nn = %2$s.nn",
            "%1$s.id = %2$s.id",
            "%1$s.id = %2$s.i4")
        .formatted(left, right);
  }

  private Query joined() {
    String kind = dice.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN");
    boolean hashable = kind.startsWith("FULL");
    boolean local = dice.oneIn(5);
    String right = local ? "loc b" : "b";
    String condition =
        local
            ? dice.pick("a.id = b.id", "a.i4 = b.id", "a.i4 = b.i4", "a.t = b.t", "b.id = a.i2 + 3")
            : hashable
                ? dice.pick("a.i4 = b.i4", "a.id = b.id + 3", "a.n = b.n", "a.t = b.t")
                : joinCondition("a", "b");
    expressions.scope("a");
    String list = "a.id, b.id, " + expressions.of(expressions.kind(), 1) + ", b.t, b.n";
    if (!local) {
      expressions.scope("a", "b");
      list += ", " + expressions.of(expressions.kind(), 1);
    }
    String where = "";
    if (dice.oneIn(2)) {
      where = " WHERE " + expressions.bool(2);
    }
    boolean ordered = dice.oneIn(3);
    return new Query(
        "SELECT "
            + list
            + " FROM a "
            + kind
            + " "
            + right
            + " ON "
            + condition
            + where
            + (ordered ? " ORDER BY a.id" + direction() + ", b.id" + direction() + limit() : ""),
        ordered);
  }

  private Query threeTables() {
    String first = joinCondition("a", "b");
    String second = joinCondition(dice.pick("a", "b"), "c");
    expressions.scope("a", "b", "c");
    String where = dice.oneIn(2) ? " WHERE " + expressions.bool(1) : "";
    String sql =
        "SELECT a.id, b.id, c.id, "
            + expressions.of(expressions.kind(), 1)
            + " FROM a "
            + dice.pick("JOIN", "LEFT JOIN")
            + " b ON "
            + first
            + " "
            + dice.pick("JOIN", "LEFT JOIN")
            + " "
            + dice.pick("a", "b")
            + " c ON "
            + second
            + where;
    return new Query(sql, false);
  }

  private Query joinedGroups() {
    expressions.scope("a", "b");
    String aggregates = expressions.aggregate() + ", " + expressions.aggregate();
    String key = dice.pick("b.i4", "a.t", "a.b, b.c", "a.d", "b.e");
    return new Query(
        "SELECT "
            + key
            + ", "
            + aggregates
            + " FROM a "
            + dice.pick("JOIN", "LEFT JOIN")
            + " b ON "
            + joinCondition("a", "b")
            + " GROUP BY "
            + key
            + order(key),
        false);
  }

  private Query semiJoined() {
    String condition = joinCondition("a", "b");
    expressions.scope("a");
    String sql =
        switch (dice.below(7)) {
          case 0 -> "EXISTS (SELECT 1 FROM b WHERE " + condition + ")";
          case 1 -> "NOT EXISTS (SELECT 1 FROM b WHERE " + condition + ")";
          case 2 -> "a.i4 IN (SELECT i4 FROM b WHERE b.id > " + dice.below(30) + ")";
          case 3 ->
              "a.i4 NOT IN (SELECT i4 FROM b WHERE i4 "
                  + dice.pick("IS NOT NULL", "> 3 OR i4 IS NULL")
                  + ")";
          case 4 -> "a.t IN (SELECT t FROM b GROUP BY t HAVING count(*) > 1)";
          case 5 -> "(a.i2, a.b) IN (SELECT i2, b FROM b)";
          default ->
              "EXISTS (SELECT FROM b JOIN b c ON b.i4 = c.i4 AND b.id < c.id WHERE "
                  + condition
                  + ")";
        };
    String more = dice.oneIn(2) ? " AND " + expressions.bool(1) : "";
    // Columns that are equal to others, or null, because of the join.
    return switch (dice.below(6)) {
      case 0 ->
          new Query(
              "SELECT a.id, a.i4, a.t FROM a WHERE "
                  + sql
                  + more
                  + " ORDER BY "
                  + dice.pick("a.i4", "a.t", "a.id")
                  + direction()
                  + ", a.id",
              true);
      case 1 ->
          new Query(
              "SELECT a.id, loc.t FROM a JOIN loc ON loc.i4 = a.i4 WHERE " + sql + more, false);
      case 2 ->
          new Query(
              "SELECT a.id, b.t, coalesce(b.i4, 7) FROM a LEFT JOIN b ON "
                  + condition
                  + " WHERE b.id IS NULL"
                  + more,
              false);
      default -> new Query("SELECT a.id, a.t FROM a WHERE " + sql + more, false);
    };
  }

  private Query subqueries() {
    return new Query(
        switch (dice.below(8)) {
          case 0 -> "SELECT a.id, (SELECT max(b.id) FROM b WHERE b.i4 = a.i4) FROM a";
          case 1 ->
              "SELECT a.id, (SELECT count(*) FROM b WHERE " + joinCondition("a", "b") + ") FROM a";
          case 2 ->
              "SELECT a.id, a.i4 "
                  + dice.pick("= ANY", "> ANY", "< ALL", "<> ALL")
                  + " (SELECT i4 FROM b WHERE i4 IS NOT NULL) FROM a";
          case 3 ->
              "SELECT a.id FROM a WHERE a.i4 = (SELECT max(i4) FROM b WHERE "
                  + dice.pick("b.b", "b.i2 > 0", "b.id = a.id")
                  + ")";
          case 4 ->
              "SELECT a.id, l.id, l.t FROM a, LATERAL (SELECT b.id, b.t FROM b WHERE b.i4 = a.i4 ORDER BY b.id LIMIT "
                  + dice.between(1, 3)
                  + ") l";
          case 5 ->
              "SELECT a.id, l.s FROM a LEFT JOIN LATERAL (SELECT sum(b.i8) AS s FROM b WHERE b.i2 "
                  + dice.pick("=", "<", ">")
                  + " a.i2) l ON true";
          case 6 -> "SELECT a.id FROM a WHERE a.i8 > (SELECT avg(i8) FROM b WHERE b.b = a.b)";
          default ->
              "SELECT x.t, x.n FROM (SELECT a.t, count(*) AS n FROM a WHERE "
                  + expressions.bool(1)
                  + " GROUP BY a.t) x WHERE x.n > 1";
        },
        false);
  }

  private Query setOperation() {
    if (dice.oneIn(3)) {
      return ofOtherTypes();
    }
    String column =
        dice.pick("i4", "t", "n", "d", "b", "c", "f8", "u", "tt", "e", "by", "i4, t", "tz");
    String operation =
        dice.pick("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL");
    String right =
        "SELECT " + column + " FROM b" + (dice.oneIn(2) ? " WHERE b.id < " + dice.below(40) : "");
    return new Query(
        "SELECT "
            + column
            + " FROM a WHERE "
            + expressions.bool(1)
            + " "
            + operation
            + " "
            + right
            + (column.equals("i4, t")
                ? " ORDER BY 1" + direction() + ", 2" + direction() + limit()
                : dice.oneIn(2) ? " ORDER BY 1" + direction() : ""),
        column.equals("i4, t"));
  }

  /// Columns that have to be brought to one type. No operation chooses one of several numbers that are equal and look different.
  private Query ofOtherTypes() {
    String columns =
        dice.pick("i2, t|i8, v", "i8, v|i4, t", "d, t|ts, t", "ts, id|d, i2", "v, b|t, b");
    String operation = dice.pick("UNION", "INTERSECT", "EXCEPT", "UNION ALL");
    if (dice.oneIn(3)) {
      columns = dice.pick("i4, t|f8, v", "n, id|f8, i8", "f4, t|i2, v");
      operation = "UNION ALL";
    }
    String[] sides = columns.split("\\|", -1);
    return new Query(
        "SELECT "
            + sides[0]
            + " FROM a WHERE "
            + expressions.bool(1)
            + " "
            + operation
            + " SELECT "
            + sides[1]
            + " FROM b"
            + (dice.oneIn(3) ? " UNION ALL SELECT " + sides[dice.below(2)] + " FROM a" : "")
            + " ORDER BY 1"
            + direction()
            + ", 2"
            + direction()
            + limit(),
        true);
  }

  private Query distinct() {
    if (dice.oneIn(4)) {
      return new Query(
          "SELECT DISTINCT ON (a.i4) a.i4, a.id, a.t FROM a ORDER BY a.i4" + direction() + ", a.id",
          true);
    }
    String columns =
        dice.pick("i4, t", "b, c", "d, n", "i8, i2", "e, b", "tt, b", "u, by", "v, tm");
    return new Query(
        "SELECT DISTINCT "
            + columns
            + " FROM a"
            + (dice.oneIn(2) ? " WHERE " + expressions.bool(2) : "")
            + " ORDER BY 1"
            + direction()
            + ", 2"
            + direction()
            + limit(),
        true);
  }

  /// Frames of the rows whose keys are near. Which rows of the same key come first is open.
  private Query ranged() {
    String[] key =
        dice.pick(
                "a.i4|2|'0'",
                "a.i2|1|3::int8",
                "a.i8|(SELECT 4)|9223372036854775807",
                "a.n|0.5|1.25",
                "a.nn|1|'Infinity'",
                "a.f8|0.25|'Infinity'",
                "a.f4|0.5|1",
                "a.d|'1 mon'|'3 days'",
                "a.ts|'1 day 2 hours'|'1 mon'",
                "a.tm|'90 minutes'|'1 day'",
                "a.tt|'25 hours'|'90 minutes'",
                "a.iv|'3 hours'|'1 mon'")
            .split("\\|", -1);
    String over =
        " OVER ("
            + dice.pick("", "PARTITION BY a.b ")
            + "ORDER BY "
            + key[0]
            + direction()
            + " RANGE BETWEEN "
            + key[dice.between(1, 2)]
            + dice.pick(" PRECEDING AND CURRENT ROW", " PRECEDING AND UNBOUNDED FOLLOWING")
            + dice.pick("", " EXCLUDE CURRENT ROW", " EXCLUDE TIES", " EXCLUDE GROUP")
            + ")";
    String both = " PRECEDING AND " + key[dice.between(1, 2)] + " FOLLOWING";
    return new Query(
        "SELECT a.id, "
            + dice.pick("count(*)", "sum(a.i4)", "max(a.t)", "count(a.t) FILTER (WHERE a.b)")
            + (dice.oneIn(2) ? over : over.replace(" PRECEDING AND CURRENT ROW", both))
            + " FROM a WHERE "
            + expressions.bool(1),
        false);
  }

  private Query window() {
    if (dice.oneIn(3)) {
      return ranged();
    }
    String over =
        "OVER ("
            + dice.pick("", "PARTITION BY a.i4 ", "PARTITION BY a.b, a.t ")
            + "ORDER BY "
            + dice.pick("a.n", "a.t DESC", "a.d NULLS FIRST", "a.i8")
            + ", a.id"
            + frame()
            + ")";
    String function =
        dice.pick(
            "row_number()",
            "rank()",
            "dense_rank()",
            "percent_rank()",
            "ntile(4)",
            "sum(a.i4)",
            "avg(a.n)",
            "lag(a.t)",
            "lead(a.i4, 2, 0)",
            "first_value(a.id)",
            "last_value(a.t)",
            "nth_value(a.n, 2)",
            "count(*)",
            "count(a.t) FILTER (WHERE a.b)",
            "max(a.d)");
    String from = " FROM a WHERE " + expressions.bool(1);
    return new Query(
        switch (dice.below(4)) {
          case 0 ->
              "SELECT w.id FROM (SELECT a.id, row_number() "
                  + over
                  + " AS place"
                  + from
                  + ") w WHERE w.place <= "
                  + dice.between(1, 5);
          case 1 ->
              "SELECT a.i4, sum(a.i8), rank() OVER (ORDER BY sum(a.i8), a.i4)"
                  + from
                  + " GROUP BY a.i4";
          default -> "SELECT a.id, " + function + " " + over + from;
        },
        false);
  }

  private String frame() {
    return switch (dice.below(3)) {
      case 0 ->
          " ROWS BETWEEN "
              + dice.pick("UNBOUNDED PRECEDING", "2 PRECEDING", "CURRENT ROW")
              + " AND "
              + dice.pick("CURRENT ROW", "3 FOLLOWING", "UNBOUNDED FOLLOWING")
              + dice.pick("", " EXCLUDE CURRENT ROW", " EXCLUDE TIES");
      case 1 -> " GROUPS BETWEEN 1 PRECEDING AND " + dice.pick("CURRENT ROW", "2 FOLLOWING");
      default -> "";
    };
  }

  /// Groups of several sets, aggregates of rows in order, constants among the keys.
  private Query groupingSets() {
    String from = " FROM a WHERE " + expressions.bool(1);
    return new Query(
        switch (dice.below(4)) {
          case 0 ->
              "SELECT a.i4, a.b, grouping(a.i4, a.b), count(*), max(a.t)"
                  + from
                  + " GROUP BY "
                  + dice.pick(
                      "ROLLUP (a.i4, a.b)",
                      "CUBE (a.i4, a.b)",
                      "GROUPING SETS ((a.i4), (a.b), ())");
          case 1 -> "SELECT 'all', a.i2, count(*)" + from + " GROUP BY 1, 2";
          case 2 ->
              "SELECT a.i4, array_agg(a.id ORDER BY a.id"
                  + dice.pick("", " DESC")
                  + "), string_agg(a.t, ',' ORDER BY a.t, a.id), array_agg(DISTINCT a.i2)"
                  + from
                  + " GROUP BY a.i4";
          default ->
              "SELECT a.b, percentile_disc(0.4) WITHIN GROUP (ORDER BY a.id), percentile_cont(0.7) WITHIN GROUP (ORDER BY a.i4), mode() WITHIN GROUP (ORDER BY a.i2)"
                  + from
                  + " GROUP BY a.b";
        },
        false);
  }

  private Query nested() {
    List<String> shapes = new ArrayList<>();
    shapes.add(
        "WITH q AS "
            + dice.pick("", "MATERIALIZED ", "NOT MATERIALIZED ")
            + "(SELECT a.id, a.i4, a.t FROM a WHERE "
            + expressions.bool(1)
            + ") SELECT x.id, y.id FROM q x JOIN q y ON x.i4 = y.i4 WHERE x.id < y.id");
    shapes.add(
        "SELECT count(*), sum(s.i4) FROM (SELECT a.i4 FROM a WHERE "
            + expressions.bool(1)
            + " ORDER BY a.i4, a.id LIMIT "
            + dice.between(1, 20)
            + ") s");
    shapes.add(
        "SELECT k.g, k.s, k.q, a.id FROM k JOIN a ON k.g = a.i2 AND k.s = a.t WHERE "
            + expressions.bool(1));
    shapes.add("SELECT k.g, k.s, l.id FROM loc l JOIN k ON k.g = l.i4 AND k.s = l.t");
    shapes.add(
        "SELECT g, s, q FROM k WHERE (g, s) IN ((1, 'a'), (2, 'b'), (9, 'z')) OR g = "
            + dice.below(7)
            + " AND s > 'b'");
    shapes.add(
        "SELECT l.id, a.id, b.id FROM loc l JOIN a ON a.id = l.id LEFT JOIN b ON b.id = a.i4 WHERE "
            + expressions.bool(1));
    shapes.add(
        "WITH RECURSIVE r AS (SELECT 1 AS step UNION ALL SELECT step + 1 FROM r WHERE step < (SELECT count(*) FROM k)) SELECT step, a.t FROM r JOIN a ON a.id = r.step WHERE "
            + expressions.bool(1));
    shapes.add(
        "SELECT a.i4, count(*), string_agg(a.t, ',' ORDER BY a.id) FROM a GROUP BY GROUPING SETS ((a.i4), ())");
    shapes.add(
        "SELECT a.id, row_to_json(a)->>'t', (a.*)::text = (SELECT b::text FROM b WHERE b.id = a.id) FROM a WHERE "
            + expressions.bool(1));
    return new Query(dice.pick(shapes), false);
  }
}
