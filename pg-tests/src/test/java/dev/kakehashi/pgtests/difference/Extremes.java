package dev.kakehashi.pgtests.difference;

import java.util.List;

/// Queries over the extreme values of table `x`: one function or operator over one row, so that there is one error at most,
/// or comparisons, which do not fail, over all rows.
final class Extremes {
  private static final List<Kind> ORDERED =
      List.of(
          Kind.INTEGER,
          Kind.BIGINT,
          Kind.NUMERIC,
          Kind.FLOAT,
          Kind.TEXT,
          Kind.CHAR,
          Kind.BYTES,
          Kind.DATE,
          Kind.TIME,
          Kind.STAMP,
          Kind.ZONED,
          Kind.SPAN,
          Kind.UUID);

  private final Dice dice;
  private final Values values;

  Extremes(Dice dice) {
    this.dice = dice;
    this.values = new Values(dice, true);
  }

  Selects.Query next() {
    return switch (dice.below(6)) {
      case 0, 1, 2 -> oneRow();
      case 3 -> ordered();
      case 4 -> aggregates();
      default -> compared();
    };
  }

  private String column(Kind kind) {
    return "x." + dice.pick(kind.columns());
  }

  private String constant(Kind kind) {
    return dice.constant(kind.type(), values.text(dice.pick(kind.columns())));
  }

  private String value(Kind kind) {
    return dice.oneIn(3) ? constant(kind) : column(kind);
  }

  private Selects.Query oneRow() {
    String expression = operation();
    String row = dice.oneIn(8) ? "x.id < 0" : "x.id = " + dice.between(1, Tables.ROWS);
    String sql =
        switch (dice.below(4)) {
          case 0 -> "SELECT count(" + expression + ") FROM x WHERE " + row;
          case 1 ->
              "SELECT count(*) FILTER (WHERE (" + expression + ") IS NOT NULL) FROM x WHERE " + row;
          default ->
              "SELECT " + expression + ", count(*) FROM x WHERE " + row + " GROUP BY " + expression;
        };
    return new Selects.Query(sql, false);
  }

  private Kind number() {
    return dice.pick(List.of(Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.FLOAT));
  }

  private String operation() {
    return switch (dice.below(18)) {
      case 16, 17 -> new Documents(dice).risky("x");
      case 0, 1, 2, 3 -> column(number()) + dice.pick(" + ", " - ", " * ", " / ") + value(number());
      case 4 ->
          column(Kind.INTEGER)
              + dice.pick(" % ", " / ")
              + value(dice.pick(List.of(Kind.INTEGER, Kind.BIGINT)));
      case 5 -> dice.pick("abs(", "- (", "@ (") + column(number()) + ")";
      case 6 ->
          dice.pick("ceil(", "floor(", "sign(", "round(", "trunc(") + column(Kind.NUMERIC) + ")";
      case 7 ->
          dice.pick("round(", "trunc(")
              + column(Kind.NUMERIC)
              + ", "
              + dice.pick("0", "1", "-1", "5", "-30", "20", "2000", "-2000")
              + ")";
      case 8 ->
          dice.oneIn(2)
              ? column(Kind.NUMERIC)
                  + "::numeric("
                  + dice.pick("5,2", "30,10", "1000,0", "3,-2", "2,4", "12,3")
                  + ")"
              : "mod("
                  + column(dice.pick(List.of(Kind.BIGINT, Kind.NUMERIC)))
                  + ", "
                  + value(Kind.BIGINT)
                  + ")";
      case 9 ->
          "substring("
              + column(Kind.TEXT)
              + ", "
              + bound()
              + (dice.oneIn(3) ? "" : ", " + bound())
              + ")";
      case 10 -> dice.pick("char_length(", "length(", "upper(") + column(Kind.TEXT) + ")";
      case 11 ->
          "extract("
              + dice.pick(
                  "year", "month", "day", "dow", "doy", "quarter", "century", "epoch", "week")
              + " FROM "
              + column(dice.pick(List.of(Kind.DATE, Kind.STAMP)))
              + ")";
      case 12 ->
          "date_trunc('"
              + dice.pick(
                  "year",
                  "quarter",
                  "month",
                  "week",
                  "day",
                  "hour",
                  "millennium",
                  "century",
                  "decade",
                  "second",
                  "nonsense")
              + "', "
              + column(Kind.STAMP)
              + ")";
      case 13 ->
          column(Kind.DATE)
              + dice.pick(" + ", " - ")
              + (dice.oneIn(2) ? value(Kind.INTEGER) : value(Kind.SPAN));
      case 14 -> column(Kind.STAMP) + dice.pick(" + ", " - ") + value(Kind.SPAN);
      default ->
          switch (dice.below(4)) {
            case 0 -> column(Kind.DATE) + " - " + value(Kind.DATE);
            case 1 -> column(Kind.TEXT) + dice.pick(" LIKE ", " NOT LIKE ") + constant(Kind.TEXT);
            case 2 -> column(Kind.ZONED) + dice.pick(" + ", " - ") + value(Kind.SPAN);
            default ->
                column(Kind.BIGINT) + "::" + dice.pick("int4", "int2", "float8", "numeric", "text");
          };
    };
  }

  private String bound() {
    return dice.pick("-2147483648", "2147483647", "-1", "0", "1", "3", "100");
  }

  private Selects.Query ordered() {
    return new Selects.Query(
        "SELECT x.id FROM x ORDER BY "
            + column(dice.pick(ORDERED))
            + dice.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
            + ", "
            + column(dice.pick(ORDERED))
            + ", x.id"
            + dice.pick("", " LIMIT 7", " LIMIT 7 OFFSET 20"),
        true);
  }

  private Selects.Query aggregates() {
    return new Selects.Query(
        switch (dice.below(5)) {
          case 0 ->
              "SELECT min(i8), max(i8), sum(i8), avg(i8), sum(i4), avg(i2), count(DISTINCT i8) FROM x";
          case 1 ->
              "SELECT min(d), max(d), min(ts), max(ts), min(tt), max(tt), min(tm), max(tm), max(t), min(v), max(c) FROM x WHERE id > "
                  + dice.below(40);
          case 2 ->
              "SELECT sum(n), avg(n), trim_scale(min(nn)), trim_scale(max(nn)), count(DISTINCT nn) FROM x WHERE id <= "
                  + dice.below(40);
          case 3 -> "SELECT count(*) FROM x GROUP BY " + column(dice.pick(ORDERED));
          default ->
              "SELECT sum(nn), count(DISTINCT iv), count(DISTINCT f8), justify_interval(least(max(iv), '1000 years')) FROM x WHERE id <= "
                  + dice.below(40);
        },
        false);
  }

  private Selects.Query compared() {
    Kind left = dice.pick(ORDERED);
    Kind right = left.numeric() ? number() : left;
    if (left == Kind.DATE || left == Kind.STAMP) {
      right = dice.pick(List.of(Kind.DATE, Kind.STAMP));
    }
    if (dice.oneIn(3)) {
      return new Selects.Query("SELECT x.id FROM x WHERE " + condition(left, right), false);
    }
    String operator = dice.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM ");
    if (dice.oneIn(3)) {
      String y = value(right).replace("x.", "y.");
      return new Selects.Query(
          "SELECT x.id, y.id FROM x JOIN x y ON "
              + column(left)
              + operator
              + y
              + " AND x.id < 20 AND y.id > 20",
          false);
    }
    return new Selects.Query(
        "SELECT x.* FROM x WHERE " + column(left) + operator + value(right), false);
  }

  /// Forms of comparison that choose their operators in ways of their own.
  private String condition(Kind left, Kind right) {
    return switch (dice.below(6)) {
      case 0 -> {
        boolean in = dice.oneIn(2);
        String list = value(right) + ", " + constant(left);
        yield column(left)
            + (dice.oneIn(2)
                ? (in ? " IN (" : " NOT IN (") + list + ")"
                : (in ? " = ANY (ARRAY[" : " <> ALL (ARRAY[") + list + "])");
      }
      case 1 ->
          column(left)
              + dice.pick(" BETWEEN ", " NOT BETWEEN ")
              + value(right)
              + " AND "
              + value(left);
      case 2 -> "nullif(" + column(left) + ", " + value(right) + ") IS NULL";
      case 3 -> "CASE " + column(left) + " WHEN " + value(right) + " THEN 1 ELSE 2 END = 1";
      case 4 -> "greatest(" + column(left) + ", " + value(left) + ") = " + column(left);
      default -> "coalesce(" + column(left) + ", " + constant(left) + ") > " + value(right);
    };
  }
}
