package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;

/// Random expressions over columns of the aliases in scope, mostly of what is sent to the engine.
///
/// Over the small values of [Tables] they never fail, so that the order in which conditions are checked, which SQL leaves
/// open, cannot be seen.
final class Expressions {
  private static final List<Kind> COMPARABLE =
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
          Kind.UUID,
          Kind.INTEGERS,
          Kind.TEXTS,
          Kind.BOOL);

  private final Dice dice;
  private final Values values;
  private final Documents documents;
  private List<String> aliases;

  Expressions(Dice dice, String... aliases) {
    this.dice = dice;
    this.values = new Values(dice, false);
    this.documents = new Documents(dice);
    this.aliases = List.of(aliases);
  }

  /// Columns are of these tables from now on.
  void scope(String... names) {
    aliases = List.of(names);
  }

  Kind kind() {
    return dice.pick(COMPARABLE);
  }

  String column(Kind kind) {
    return dice.pick(aliases) + "." + dice.pick(kind.columns());
  }

  String constant(Kind kind) {
    return dice.constant(kind.type(), values.small(dice.pick(kind.columns())));
  }

  String leaf(Kind kind) {
    return kind != Kind.KEPT && dice.oneIn(3) ? constant(kind) : column(kind);
  }

  /// Value that a group of the expression shows: the same for all that are equal.
  String key(Kind kind, String expression) {
    return switch (kind) {
      case NUMERIC -> "trim_scale(" + expression + ")";
      case FLOAT -> "(" + expression + " + 0::float8)";
      case SPAN -> "justify_interval(" + expression + ")";
      default -> expression;
    };
  }

  String of(Kind kind, int depth) {
    if (depth == 0 || kind == Kind.KEPT) {
      return leaf(kind);
    }
    int next = depth - 1;
    if (dice.oneIn(8)) {
      return general(kind, next);
    }
    return switch (kind) {
      case INTEGER -> integer(next);
      case BIGINT ->
          arithmetic(of(Kind.BIGINT, next), leaf(dice.pick(List.of(Kind.BIGINT, Kind.INTEGER))));
      case NUMERIC -> numeric(next);
      case FLOAT ->
          arithmetic(
              of(Kind.FLOAT, next), leaf(dice.pick(List.of(Kind.FLOAT, Kind.FLOAT, Kind.INTEGER))));
      case TEXT -> text(next);
      case CHAR, BYTES, TIME, ZONED, UUID, KEPT -> leaf(kind);
      case INTEGERS -> documents.ints(dice.pick(aliases));
      case TEXTS -> documents.strings(dice.pick(aliases));
      case DATE ->
          "(" + of(Kind.DATE, next) + dice.pick(" + ", " - ") + constant(Kind.INTEGER) + ")";
      case STAMP ->
          dice.oneIn(5)
              ? "date_trunc('"
                  + dice.pick("hour", "day", "month", "year", "quarter", "week")
                  + "', "
                  + of(Kind.STAMP, next)
                  + ")"
              : "("
                  + of(dice.pick(List.of(Kind.STAMP, Kind.DATE)), next)
                  + dice.pick(" + ", " - ")
                  + leaf(Kind.SPAN)
                  + ")";
      case SPAN -> "(" + leaf(Kind.SPAN) + dice.pick(" + ", " - ") + leaf(Kind.SPAN) + ")";
      case BOOL -> bool(next);
    };
  }

  private String arithmetic(String left, String right) {
    return "(" + left + dice.pick(" + ", " - ", " * ") + right + ")";
  }

  private String general(Kind kind, int depth) {
    return switch (dice.below(4)) {
      case 0 ->
          "CASE WHEN "
              + of(Kind.BOOL, depth)
              + " THEN "
              + of(kind, depth)
              + (dice.oneIn(3) ? "" : " ELSE " + of(kind, depth))
              + " END";
      case 1 -> "coalesce(" + of(kind, depth) + ", " + of(kind, depth) + ")";
      case 2 -> "nullif(" + of(kind, depth) + ", " + of(kind, depth) + ")";
      default ->
          dice.pick("greatest", "least") + "(" + of(kind, depth) + ", " + of(kind, depth) + ")";
    };
  }

  private String integer(int depth) {
    if (dice.oneIn(8)) {
      return documents.integer(dice.pick(aliases));
    }
    return switch (dice.below(9)) {
      case 0 -> "(" + of(Kind.INTEGER, depth) + dice.pick(" % ", " / ") + dice.between(2, 7) + ")";
      case 1 ->
          dice.oneIn(2)
              ? "abs(" + of(Kind.INTEGER, depth) + ")"
              : "mod(" + column(Kind.INTEGER) + ", " + dice.between(2, 7) + "::int4)";
      case 2 ->
          dice.oneIn(2)
              ? "(- " + leaf(Kind.INTEGER) + ")"
              : "(" + leaf(Kind.INTEGER) + " & " + leaf(Kind.INTEGER) + ")";
      case 3 -> dice.pick("length", "char_length") + "(" + of(Kind.TEXT, depth) + ")";
      case 4 ->
          "extract("
              + dice.pick("year", "month", "day", "dow", "doy", "quarter")
              + " FROM "
              + of(Kind.DATE, depth)
              + ")::int4";
      case 5 -> "(" + of(Kind.DATE, depth) + " - " + of(Kind.DATE, depth) + ")";
      default -> arithmetic(of(Kind.INTEGER, depth), leaf(Kind.INTEGER));
    };
  }

  private String numeric(int depth) {
    return switch (dice.below(9)) {
      // Operands are finite: an infinite value does not fit, and whether it is met depends on the
      // order of conditions.
      case 8 ->
          "("
              + dice.pick(aliases)
              + ".n * "
              + leaf(Kind.INTEGER)
              + ")::numeric(40, "
              + dice.between(0, 5)
              + ")";
      case 0 ->
          dice.pick("ceil", "floor", "sign", "abs", "round", "trunc", "trim_scale", "-")
              + "("
              + of(Kind.NUMERIC, depth)
              + ")";
      case 1 ->
          dice.pick("round", "trunc")
              + "("
              + of(Kind.NUMERIC, depth)
              + ", "
              + dice.between(-2, 3)
              + ")";
      case 2 ->
          "("
              + of(Kind.NUMERIC, depth)
              + dice.pick(" / ", " % ")
              + dice.pick("3", "7.5", "0.125", "-2")
              + "::numeric)";
      case 3 ->
          "extract("
              + dice.pick("hour", "minute", "day", "year", "epoch", "second")
              + " FROM "
              + of(Kind.STAMP, depth)
              + ")";
      default ->
          arithmetic(
              of(Kind.NUMERIC, depth),
              leaf(dice.pick(List.of(Kind.NUMERIC, Kind.INTEGER, Kind.BIGINT))));
    };
  }

  private String text(int depth) {
    if (dice.oneIn(6)) {
      return documents.text(dice.pick(aliases));
    }
    return switch (dice.below(7)) {
      case 0 -> "upper(" + of(Kind.TEXT, depth) + ")";
      case 5 -> "repeat(" + of(Kind.TEXT, depth) + ", " + dice.between(-1, 2) + ")";
      case 1 ->
          "substring("
              + of(Kind.TEXT, depth)
              + ", "
              + dice.between(-1, 3)
              + ", "
              + dice.below(4)
              + ")";
      case 2 -> "substr(" + of(Kind.TEXT, depth) + ", " + dice.between(-1, 3) + ")";
      case 3 -> leaf(Kind.INTEGER) + "::text";
      case 4 -> column(Kind.CHAR) + "::text";
      default -> "(" + of(Kind.TEXT, depth) + " || " + of(Kind.TEXT, depth) + ")";
    };
  }

  /// A comparison of two expressions of kinds that go together.
  String comparison(int depth) {
    Kind left = kind();
    Kind right = left;
    if (left.numeric()) {
      right = dice.pick(List.of(left, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.FLOAT));
    } else if (left == Kind.DATE || left == Kind.STAMP) {
      right = dice.pick(List.of(left, Kind.DATE, Kind.STAMP));
    }
    return "("
        + of(left, depth)
        + dice.pick(
            " = ",
            " <> ",
            " < ",
            " <= ",
            " > ",
            " >= ",
            " IS DISTINCT FROM ",
            " IS NOT DISTINCT FROM ")
        + of(right, depth)
        + ")";
  }

  String bool(int depth) {
    return switch (dice.below(17)) {
      case 14, 15 -> documents.condition(dice.pick(aliases), dice.pick(aliases));
      case 0, 1 ->
          "(" + of(Kind.BOOL, depth) + dice.pick(" AND ", " OR ") + of(Kind.BOOL, depth) + ")";
      case 2 -> "(NOT " + of(Kind.BOOL, depth) + ")";
      case 3 -> "(" + of(kind(), depth) + dice.pick(" IS NULL", " IS NOT NULL") + ")";
      case 4 ->
          "("
              + of(Kind.BOOL, depth)
              + dice.pick(
                  " IS TRUE",
                  " IS NOT TRUE",
                  " IS FALSE",
                  " IS NOT FALSE",
                  " IS UNKNOWN",
                  " IS NOT UNKNOWN")
              + ")";
      case 5 -> in();
      case 6 ->
          "("
              + of(Kind.TEXT, depth)
              + dice.pick(" LIKE ", " NOT LIKE ")
              + dice.constant(
                  "text",
                  dice.pick("a%", "%b%", "_b%", "", "%", "日%", "\\%", "a\\%b", "__", "%\\\\%"))
              + ")";
      case 7 -> between();
      case 8 -> kept();
      default -> comparison(depth);
    };
  }

  private String in() {
    Kind kind = kind();
    while (kind.array()) {
      kind = kind();
    }
    StringBuilder list = new StringBuilder();
    for (int i = dice.below(3); i >= 0; i--) {
      list.append(constant(kind)).append(", ");
    }
    if (dice.oneIn(4)) {
      return "(" + of(kind, 1) + dice.pick(" = ANY (", " <> ALL (") + array(kind) + "))";
    }
    if (dice.oneIn(3)) {
      return "("
          + of(kind, 1)
          + dice.pick(" = ANY ", " <> ALL ", " = ALL ", " < ANY ")
          + "(ARRAY["
          + list
          + (dice.oneIn(4) ? "NULL" : constant(kind))
          + "]))";
    }
    return "("
        + of(kind, 1)
        + dice.pick(" IN ", " NOT IN ")
        + "("
        + list
        + (dice.oneIn(4) ? "NULL" : constant(kind))
        + "))";
  }

  /// A constant array, in a prepared query a parameter.
  private String array(Kind kind) {
    String type = kind.type() + "[]";
    if (dice.oneIn(6)) {
      return "NULL::" + type;
    }
    List<String> elements = new ArrayList<>();
    for (int i = dice.below(5); i > 0; i--) {
      String element = values.small(dice.pick(kind.columns()));
      elements.add(
          dice.oneIn(5) ? "NULL" : '"' + element.replace("\\", "\\\\").replace("\"", "\\\"") + '"');
    }
    return dice.constant(type, "{" + String.join(",", elements) + "}");
  }

  private String between() {
    Kind kind = kind();
    return "("
        + leaf(kind)
        + dice.pick(" BETWEEN ", " NOT BETWEEN ", " BETWEEN SYMMETRIC ")
        + leaf(kind)
        + " AND "
        + leaf(kind)
        + ")";
  }

  /// Conditions on what the engine only keeps.
  private String kept() {
    String alias = dice.pick(aliases);
    return "("
        + alias
        + dice.pick(
            ".ch = 'a'",
            ".na < 'p'",
            ".na = 'two'::name",
            ".tz < '02:00+00'::timetz",
            ".jb @> '{\"a\": 1}'",
            ".jb = '7'",
            ".ai = '{1,2}'",
            ".ai[1] = 1",
            ".at && ARRAY['a']",
            ".e > 'sad'",
            ".e = 'ok'",
            ".e IS NULL",
            ".j IS NOT NULL",
            ".e IN ('sad', 'happy')",
            ".ch IS DISTINCT FROM 'b'")
        + ")";
  }

  /// An aggregate whose result does not depend on the order of rows.
  String aggregate() {
    Kind ordered = dice.pick(COMPARABLE);
    return switch (dice.below(12)) {
      case 0 -> "count(*)";
      case 1 -> "count(" + of(kind(), 1) + ")";
      case 2, 3 -> {
        Kind kind = dice.pick(List.of(Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC));
        // Any one of equal numerics may count, with its scale.
        boolean distinct = kind != Kind.NUMERIC && dice.oneIn(4);
        yield dice.pick("sum(", "avg(") + (distinct ? "DISTINCT " : "") + of(kind, 2) + ")";
      }
      case 4, 5 -> {
        if (ordered == Kind.BOOL || ordered == Kind.UUID || ordered == Kind.BYTES) {
          yield "count(DISTINCT " + column(ordered) + ")";
        }
        yield key(ordered, dice.pick("min(", "max(") + of(ordered, 1) + ")");
      }
      case 6 -> "count(DISTINCT " + of(kind(), 1) + ")";
      case 7 -> "sum(" + column(Kind.INTEGER) + ") FILTER (WHERE " + of(Kind.BOOL, 1) + ")";
      case 8 -> dice.pick("bool_and", "bool_or", "every") + "(" + of(Kind.BOOL, 1) + ")";
      // Eighths: no rounding, whatever the order.
      case 9 -> dice.pick("sum(", "avg(") + dice.pick(aliases) + dice.pick(".f8)", ".f4)");
      case 10 -> dice.pick("variance(", "stddev_pop(", "bit_or(") + column(Kind.INTEGER) + ")";
      default -> "count(*) FILTER (WHERE " + of(Kind.BOOL, 2) + ")";
    };
  }
}
