package dev.kakehashi.engine.embedded.query;

import java.util.List;
import java.util.Random;

/// Random queries over the tables `a` and `b` of [QueryDifferenceTest], with an order that decides between equal rows.
final class RandomQueries {
  private enum Type {
    INTEGER,
    NUMERIC,
    FLOAT,
    TEXT,
    DATE,
    TIMESTAMP,
    INTERVAL,
    BOOL
  }

  private final Random random;

  /// Alias in front of columns.
  private String alias = "a";

  RandomQueries(long seed) {
    this.random = new Random(seed);
  }

  String next() {
    alias = "a";
    return switch (random.nextInt(9)) {
      case 0, 1 -> projection();
      case 2, 3 -> grouped();
      case 4 -> joined();
      case 5 -> withSubquery();
      case 6 -> setOperation();
      case 7 -> ordered();
      default -> joinedGroups();
    };
  }

  private String projection() {
    StringBuilder list = new StringBuilder("a.id");
    for (int i = 0; i <= random.nextInt(4); i++) {
      list.append(", ").append(expression(any(), 3));
    }
    return "select " + list + " from a where " + expression(Type.BOOL, 3) + " order by a.id";
  }

  private String grouped() {
    String key = pick("a.i2 % 4", "a.b", "a.c", "a.t", "extract(month from a.d)", "a.i4 is null");
    StringBuilder list = new StringBuilder(key);
    for (int i = 0; i <= random.nextInt(4); i++) {
      list.append(", ").append(aggregate());
    }
    String having = random.nextInt(3) == 0 ? " having count(*) > " + random.nextInt(6) : "";
    String where = random.nextBoolean() ? " where " + expression(Type.BOOL, 2) : "";
    if (random.nextInt(4) == 0) {
      return "select " + aggregate() + ", " + aggregate() + " from a" + where;
    }
    return "select " + list + " from a" + where + " group by " + key + having + " order by 1";
  }

  private String aggregate() {
    return switch (random.nextInt(9)) {
      case 0 -> "count(*)";
      case 1 -> "count(" + expression(any(), 1) + ")";
      case 2 -> "sum(" + expression(pick(Type.INTEGER, Type.NUMERIC), 2) + ")";
      case 3 -> "avg(" + expression(pick(Type.INTEGER, Type.NUMERIC), 1) + ")";
      case 4 ->
          pick("min", "max")
              + "("
              + expression(pick(Type.INTEGER, Type.NUMERIC, Type.TEXT, Type.DATE, Type.INTERVAL), 1)
              + ")";
      case 5 -> "count(distinct " + expression(pick(Type.INTEGER, Type.TEXT), 1) + ")";
      case 6 -> "sum(a.i4) filter (where " + expression(Type.BOOL, 1) + ")";
      case 7 -> pick("bool_and", "bool_or", "every") + "(" + expression(Type.BOOL, 1) + ")";
      default ->
          pick(
              "sum(a.i8)",
              "avg(a.n)",
              "stddev(a.i4)",
              "var_pop(a.n)",
              "sum(distinct a.i2)",
              "regr_count(a.i2, a.i4)");
    };
  }

  private String joinCondition() {
    return pick(
        "a.i4 = b.i4",
        "a.id = b.id + 3",
        "a.t = b.t",
        "a.i4 = b.i4 and a.t <> b.t",
        "a.n = b.n",
        "a.i2 = b.i8",
        "a.c = b.c and a.id < b.id",
        "(a.i4 = b.i4 and a.id < 20 and b.b) or (a.i4 = b.i4 and a.id > 40 and b.id > 10)",
        "(a.i2 < 0 and b.i2 > 0) or (a.t = b.t and b.n is null) or (a.id = 7 and b.id = 8)",
        "a.id < b.id and b.id < 8",
        "a.d = b.d or a.id = b.id");
  }

  private String joined() {
    String kind = pick("join", "left join", "right join", "full join");
    if (!kind.equals("join") && !kind.equals("left join")) {
      // PostgreSQL has full and right joins on hashable conditions only.
      return "select a.id, b.id, a.t, b.n from a "
          + kind
          + " b on "
          + pick("a.i4 = b.i4", "a.id = b.id + 3", "a.n = b.n")
          + " order by 1, 2";
    }
    return "select a.id, b.id, "
        + expression(any(), 2)
        + ", b.t from a "
        + kind
        + " b on "
        + joinCondition()
        + " where "
        + expression(Type.BOOL, 2)
        + " order by 1, 2";
  }

  private String joinedGroups() {
    return "select b.i4, count(*), sum(a.n), min(a.t) from a join b on a.i4 = b.i4 where "
        + expression(Type.BOOL, 2)
        + " group by b.i4 order by 1";
  }

  private String withSubquery() {
    return switch (random.nextInt(9)) {
      case 7 ->
          "select id from a where "
              + pick("", "not ")
              + "exists (select id, t from b where "
              + joinCondition()
              + " and "
              + pick("b.b", "b.i4 > 3", "exists (select 1 from a c where c.i4 = b.i4)")
              + ") and "
              + expression(Type.BOOL, 1)
              + " order by 1";
      case 8 ->
          "select a.id from a, b where "
              + joinCondition()
              + " and "
              + pick("", "not ")
              + "exists (select 1 from b c where c.i4 = a.i4 and c.id <> b.id) and b.id < 9 order by 1";
      case 0 ->
          "select id from a where exists (select 1 from b where "
              + joinCondition()
              + ") order by 1";
      case 1 ->
          "select id from a where not exists (select 1 from b where "
              + joinCondition()
              + ") order by 1";
      case 2 -> "select id from a where i4 in (select i4 from b where b.id > a.id) order by 1";
      case 3 ->
          "select id from a where i4 not in (select i4 from b where i4 is not null) order by 1";
      case 4 -> "select id, (select max(b.id) from b where b.i4 = a.i4) from a order by 1";
      case 5 -> "select id, (select count(*) from b where b.i4 = a.i4) from a order by 1";
      default ->
          "select id, i4 "
              + pick("= any", "> any", "< all", "<> all")
              + " (select i4 from b where i4 is not null) from a order by 1";
    };
  }

  private String setOperation() {
    String column = pick("i4", "t", "n", "d", "b", "c", "f8");
    return "select "
        + column
        + " from a "
        + pick("union", "union all", "intersect", "except", "intersect all", "except all")
        + " select "
        + column
        + " from b order by 1"
        + pick("", " desc", " nulls first", " desc nulls last");
  }

  private String ordered() {
    return "select distinct "
        + pick("i4, t", "b, c", "d, n", "i8, i2")
        + " from a order by 1"
        + pick("", " desc")
        + pick("", " nulls first", " nulls last")
        + ", 2 limit "
        + random.nextInt(20)
        + " offset "
        + random.nextInt(5);
  }

  private Type any() {
    Type[] all = Type.values();
    return all[random.nextInt(all.length)];
  }

  private String column(String... names) {
    return alias + "." + pick(names);
  }

  private String expression(Type type, int depth) {
    if (depth == 0) {
      return leaf(type);
    }
    int next = depth - 1;
    if (random.nextInt(8) == 0) {
      return switch (random.nextInt(4)) {
        case 0 ->
            "case when "
                + expression(Type.BOOL, next)
                + " then "
                + expression(type, next)
                + " else "
                + expression(type, next)
                + " end";
        case 1 -> "coalesce(" + expression(type, next) + ", " + expression(type, next) + ")";
        case 2 -> "nullif(" + expression(type, next) + ", " + expression(type, next) + ")";
        default ->
            type == Type.BOOL
                ? leaf(type)
                : pick("greatest", "least")
                    + "("
                    + expression(type, next)
                    + ", "
                    + expression(type, next)
                    + ")";
      };
    }
    return switch (type) {
      case INTEGER -> integer(next);
      case NUMERIC ->
          "("
              + expression(Type.NUMERIC, next)
              + pick(" + ", " - ", " * ")
              + expression(pick(Type.NUMERIC, Type.INTEGER), next)
              + ")";
      case FLOAT ->
          "("
              + expression(Type.FLOAT, next)
              + pick(" + ", " - ", " * ")
              + expression(Type.FLOAT, next)
              + ")";
      case TEXT -> text(next);
      case DATE ->
          "(" + expression(Type.DATE, next) + pick(" + ", " - ") + random.nextInt(50) + ")";
      case TIMESTAMP ->
          "("
              + expression(pick(Type.TIMESTAMP, Type.DATE), next)
              + pick(" + ", " - ")
              + expression(Type.INTERVAL, 0)
              + ")";
      case INTERVAL ->
          "(" + expression(Type.INTERVAL, next) + pick(" + ", " - ") + leaf(Type.INTERVAL) + ")";
      case BOOL -> bool(next);
    };
  }

  private String integer(int depth) {
    return switch (random.nextInt(7)) {
      case 6 -> "(" + unparenthesized() + ")";
      case 0 -> "(" + expression(Type.INTEGER, depth) + " % " + (2 + random.nextInt(7)) + ")";
      case 1 -> "(" + expression(Type.INTEGER, depth) + " / " + (2 + random.nextInt(7)) + ")";
      case 2 -> "-" + leaf(Type.INTEGER);
      case 3 -> "length(" + expression(Type.TEXT, depth) + ")";
      default ->
          "("
              + expression(Type.INTEGER, depth)
              + pick(" + ", " - ", " * ")
              + leaf(Type.INTEGER)
              + ")";
    };
  }

  /// Operators whose precedences decide.
  private String unparenthesized() {
    StringBuilder chain = new StringBuilder(pick("", "-", "~ ", "@ ") + column("id", "i2", "i4"));
    for (int i = 0; i <= random.nextInt(5); i++) {
      boolean shift = random.nextInt(6) == 0;
      chain
          .append(shift ? pick(" << ", " >> ") : pick(" + ", " - ", " * ", " & ", " | ", " # "))
          .append(
              shift ? random.nextInt(9) : pick(column("id", "i2", "i4"), "-7", "5 % 3", "@ -2"));
    }
    return chain.toString();
  }

  private String text(int depth) {
    return switch (random.nextInt(7)) {
      case 6 ->
          "format('"
              + pick("%s|%s", "%5s|%-7s", "%2$s%1$s", "%L, %-3L", "%%%1$4s%1$-4L", "%s")
              + "', "
              + leaf(any())
              + ", "
              + leaf(any())
              + ")";
      case 5 -> "('' || " + unparenthesized() + " || " + leaf(Type.TEXT) + ")";
      case 0 -> "upper(" + expression(Type.TEXT, depth) + ")";
      case 1 ->
          "substring(" + expression(Type.TEXT, depth) + " from " + random.nextInt(4) + " for 3)";
      case 2 -> expression(Type.INTEGER, 0) + "::text";
      case 3 -> "trim(" + expression(Type.TEXT, depth) + ")";
      default -> "(" + expression(Type.TEXT, depth) + " || " + expression(Type.TEXT, depth) + ")";
    };
  }

  private String bool(int depth) {
    Type type = any();
    return switch (random.nextInt(9)) {
      case 0 -> "(" + expression(Type.BOOL, depth) + " and " + expression(Type.BOOL, depth) + ")";
      case 1 -> "(" + expression(Type.BOOL, depth) + " or " + expression(Type.BOOL, depth) + ")";
      case 2 -> "not " + leaf(Type.BOOL);
      case 3 -> "(" + expression(type, depth) + pick(" is null", " is not null") + ")";
      case 4 ->
          "("
              + expression(type, depth)
              + pick(" is distinct from ", " is not distinct from ")
              + expression(type, depth)
              + ")";
      case 5 ->
          "("
              + leaf(Type.INTEGER)
              + pick(" in ", " not in ")
              + "(1, 2, "
              + random.nextInt(9)
              + pick("", ", null")
              + "))";
      case 6 ->
          "("
              + expression(Type.TEXT, 0)
              + pick(" like ", " not like ")
              + pick("'a%'", "'%b%'", "'_b'")
              + ")";
      case 7 ->
          "("
              + expression(Type.NUMERIC, 0)
              + pick(" between ", " not between ")
              + leaf(Type.INTEGER)
              + " and "
              + leaf(Type.NUMERIC)
              + ")";
      default ->
          "("
              + expression(type, depth)
              + pick(" = ", " <> ", " < ", " <= ", " > ", " >= ")
              + expression(type, depth)
              + ")";
    };
  }

  private String leaf(Type type) {
    boolean constant = random.nextInt(3) == 0;
    return switch (type) {
      case INTEGER ->
          constant ? String.valueOf(random.nextInt(12)) : column("id", "i2", "i4", "i8");
      case NUMERIC -> constant ? pick("0.5", "1.25", "10.000", "3") : column("n", "nn");
      case FLOAT -> constant ? pick("0.5::float8", "2.25::float8") : column("f8", "f4");
      case TEXT -> constant ? pick("'a'::text", "'xyz'::text", "''::text") : column("t", "v");
      case DATE -> constant ? "date '2020-02-29'" : column("d");
      case TIMESTAMP -> constant ? "timestamp '2021-03-04 05:06:07.891'" : column("ts");
      case INTERVAL ->
          constant ? pick("interval '1 month'", "interval '3 days 04:05'") : column("iv");
      case BOOL -> constant ? pick("true", "false", "null::bool") : column("b");
    };
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  private <T> T pick(T... choices) {
    return List.of(choices).get(random.nextInt(choices.length));
  }
}
