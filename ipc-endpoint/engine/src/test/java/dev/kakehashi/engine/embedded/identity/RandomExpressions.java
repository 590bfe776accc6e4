package dev.kakehashi.engine.embedded.identity;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Random expressions over what is in scope. They are total: over the values of [IdentityTables] none fails, so that the order in which a
/// plan checks conditions, which SQL leaves open, cannot be seen.
final class RandomExpressions {
  /// Tables that subqueries read, as [TableForms] names them.
  private static final List<String> TABLES = List.of("<a>", "<b>", "<b>", "<e>");

  private final Dice dice;
  private Map<Kind, List<String>> scope = new EnumMap<>(Kind.class);

  /// Subqueries that may still be begun.
  private int budget = 2;

  private int aliases;

  RandomExpressions(Dice dice) {
    this.dice = dice;
  }

  /// Columns are of these aliases from now on.
  RandomExpressions scope(String... names) {
    scope = columnsOf(names);
    return this;
  }

  /// Expressions begin with these from now on.
  RandomExpressions scope(Map<Kind, List<String>> leaves) {
    scope = leaves;
    return this;
  }

  private static Map<Kind, List<String>> columnsOf(String... names) {
    Map<Kind, List<String>> all = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      List<String> columns = new ArrayList<>();
      for (String name : names) {
        kind.columns().forEach(column -> columns.add(name + "." + column));
      }
      all.put(kind, columns);
    }
    return all;
  }

  Kind kind() {
    return dice.pick(List.of(Kind.values()));
  }

  Kind orderedKind() {
    Kind kind = kind();
    while (!kind.ordered()) {
      kind = kind();
    }
    return kind;
  }

  /// A kind whose equal values look the same once they are [Kind#shown].
  Kind keyKind() {
    Kind kind = kind();
    while (kind == Kind.DOCUMENT) {
      kind = kind();
    }
    return kind;
  }

  String column(Kind kind) {
    List<String> columns = scope.getOrDefault(kind, List.of());
    return columns.isEmpty() ? constant(kind) : dice.pick(columns);
  }

  String constant(Kind kind) {
    String type = kind.type();
    return dice.oneIn(12)
        ? "null::" + type
        : IdentityTables.literal(dice, dice.pick(kind.columns())) + "::" + type;
  }

  private String leaf(Kind kind) {
    return dice.oneIn(3) ? constant(kind) : column(kind);
  }

  String of(Kind kind, int depth) {
    if (depth <= 0) {
      return leaf(kind);
    }
    int next = depth - 1;
    if (kind != Kind.BOOL && dice.oneIn(6)) {
      return general(kind, next);
    }
    return switch (kind) {
      case INTEGER -> integer(next);
      case BIGINT ->
          "(" + leaf(Kind.BIGINT) + dice.pick(" + ", " - ", " * ") + leaf(Kind.INTEGER) + ")";
      case NUMERIC -> numeric(next);
      case FLOAT ->
          "("
              + of(Kind.FLOAT, next)
              + dice.pick(" + ", " - ", " * ")
              + leaf(dice.pick(List.of(Kind.FLOAT, Kind.INTEGER)))
              + ")";
      case TEXT -> text(next);
      case DATE -> "(" + leaf(Kind.DATE) + dice.pick(" + ", " - ") + leaf(Kind.INTEGER) + ")";
      case STAMP ->
          dice.oneIn(2)
              ? "date_trunc('" + dice.pick("day", "month", "hour") + "', " + leaf(Kind.STAMP) + ")"
              : "("
                  + leaf(dice.pick(List.of(Kind.STAMP, Kind.DATE)))
                  + dice.pick(" + ", " - ")
                  + leaf(Kind.SPAN)
                  + ")";
      case SPAN -> "(" + leaf(Kind.SPAN) + dice.pick(" + ", " - ") + leaf(Kind.SPAN) + ")";
      case TEXTS -> "(" + leaf(Kind.TEXTS) + " || " + leaf(Kind.TEXTS) + ")";
      case BOOL -> condition(next);
      default -> leaf(kind);
    };
  }

  private String general(Kind kind, int depth) {
    return switch (dice.below(kind == Kind.DOCUMENT ? 3 : 5)) {
      case 0 ->
          "(case when "
              + condition(depth)
              + " then "
              + of(kind, depth)
              + (dice.oneIn(3) ? "" : " else " + of(kind, depth))
              + " end)";
      case 1 -> "coalesce(" + of(kind, depth) + ", " + of(kind, depth) + ")";
      case 2 -> {
        Kind by = dice.pick(List.of(Kind.INTEGER, Kind.TEXT, Kind.DATE));
        yield "(case "
            + of(by, depth)
            + " when "
            + constant(by)
            + " then "
            + leaf(kind)
            + " when "
            + leaf(by)
            + " then "
            + leaf(kind)
            + " end)";
      }
      case 3 -> "nullif(" + of(kind, depth) + ", " + leaf(kind) + ")";
      default -> dice.pick("greatest", "least") + "(" + of(kind, depth) + ", " + leaf(kind) + ")";
    };
  }

  private String integer(int depth) {
    return switch (dice.below(10)) {
      case 0 -> "(" + of(Kind.INTEGER, depth) + dice.pick(" % ", " / ") + dice.between(2, 7) + ")";
      case 1 -> dice.pick("abs", "-", "~") + "(" + leaf(Kind.INTEGER) + ")";
      case 2 -> "length(" + of(Kind.TEXT, depth) + ")";
      case 3 ->
          "extract("
              + dice.pick("year", "month", "day", "dow")
              + " from "
              + leaf(Kind.DATE)
              + ")::int";
      case 4 -> "(" + leaf(Kind.DATE) + " - " + leaf(Kind.DATE) + ")";
      case 5 ->
          dice.oneIn(2)
              ? "array_length(" + leaf(Kind.INTEGERS) + ", 1)"
              : "cardinality(" + leaf(Kind.TEXTS) + ")";
      case 6 -> "(" + column(Kind.INTEGERS) + ")[" + dice.between(0, 2) + "]";
      case 7 ->
          "(case when jsonb_typeof(" + column(Kind.DOCUMENT) + ") = 'array' then 1 else 0 end)";
      default ->
          "(" + of(Kind.INTEGER, depth) + dice.pick(" + ", " - ", " * ") + leaf(Kind.INTEGER) + ")";
    };
  }

  private String numeric(int depth) {
    return switch (dice.below(6)) {
      case 0 ->
          dice.pick("ceil", "floor", "abs", "trunc", "-") + "(" + of(Kind.NUMERIC, depth) + ")";
      case 1 -> "round(" + of(Kind.NUMERIC, depth) + ", " + dice.between(-1, 2) + ")";
      case 2 -> "(" + of(Kind.NUMERIC, depth) + " / " + dice.pick("3", "0.5", "-2") + "::numeric)";
      case 3 -> leaf(Kind.BIGINT) + "::numeric";
      default ->
          "("
              + of(Kind.NUMERIC, depth)
              + dice.pick(" + ", " - ", " * ")
              + leaf(dice.pick(List.of(Kind.NUMERIC, Kind.INTEGER)))
              + ")";
    };
  }

  private String text(int depth) {
    return switch (dice.below(8)) {
      case 0 -> dice.pick("upper", "lower", "trim", "reverse") + "(" + of(Kind.TEXT, depth) + ")";
      case 1 ->
          "substring("
              + of(Kind.TEXT, depth)
              + ", "
              + dice.between(0, 3)
              + ", "
              + dice.below(3)
              + ")";
      case 2 -> leaf(dice.pick(List.of(Kind.INTEGER, Kind.DATE, Kind.BOOL, Kind.UUID))) + "::text";
      case 3 -> column(Kind.CHAR) + "::text";
      case 4 -> "(" + leaf(Kind.DOCUMENT) + " ->> " + dice.pick("'a'", "0") + ")";
      case 5 -> "(" + column(Kind.TEXTS) + ")[" + dice.between(0, 2) + "]";
      default -> "(" + of(Kind.TEXT, depth) + " || " + leaf(Kind.TEXT) + ")";
    };
  }

  /// A condition, in parentheses.
  String condition(int depth) {
    if (depth <= 0 && dice.oneIn(3)) {
      return "("
          + dice.pick(column(Kind.BOOL), column(Kind.BOOL), "null::bool", "true", "false")
          + ")";
    }
    int next = depth - 1;
    if (budget > 0 && dice.oneIn(6)) {
      budget--;
      return "(" + subquery(next) + ")";
    }
    return "("
        + switch (depth <= 0 ? 4 + dice.below(14) : dice.below(18)) {
          case 0, 1 -> condition(next) + dice.pick(" and ", " or ") + condition(next);
          case 2 -> "not " + condition(next);
          case 3 ->
              condition(next)
                  + dice.pick(
                      " is true",
                      " is not true",
                      " is false",
                      " is not false",
                      " is unknown",
                      " is not unknown");
          case 4, 5 -> of(kind(), next) + dice.pick(" is null", " is not null");
          case 6, 7 -> in(next);
          case 8 -> pattern(next);
          case 9 -> {
            Kind kind =
                dice.pick(
                    List.of(
                        Kind.INTEGER, Kind.NUMERIC, Kind.TEXT, Kind.DATE, Kind.FLOAT, Kind.STAMP));
            yield of(kind, next)
                + dice.pick(" between ", " not between ", " between symmetric ")
                + leaf(kind)
                + " and "
                + leaf(kind);
          }
          case 10 -> row(next);
          case 11 -> document();
          case 12 ->
              condition(next)
                  + dice.pick(" = ", " <> ", " is distinct from ", " > ")
                  + condition(next);
          default -> comparison(next);
        }
        + ")";
  }

  private String comparison(int depth) {
    Kind left = kind();
    Kind right = left;
    if (left.numeric()) {
      right = dice.pick(List.of(left, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.FLOAT));
    } else if (left == Kind.DATE || left == Kind.STAMP) {
      right = dice.pick(List.of(Kind.DATE, Kind.STAMP));
    }
    return of(left, depth)
        + dice.pick(
            " = ",
            " = ",
            " <> ",
            " < ",
            " <= ",
            " > ",
            " >= ",
            " is distinct from ",
            " is not distinct from ")
        + of(right, depth);
  }

  private String in(int depth) {
    Kind kind = kind();
    while (kind == Kind.INTEGERS || kind == Kind.TEXTS) {
      kind = kind();
    }
    StringBuilder list = new StringBuilder(dice.oneIn(4) ? "null" : constant(kind));
    for (int i = dice.below(4); i > 0; i--) {
      list.append(", ").append(dice.oneIn(4) ? column(kind) : constant(kind));
    }
    String left = of(kind, depth);
    return dice.oneIn(4)
        ? left
            + dice.pick(" = any ", " <> all ", " <> any ", " = all ")
            + "(array["
            + list
            + "]::"
            + kind.type()
            + "[])"
        : left + dice.pick(" in ", " not in ") + "(" + list + ")";
  }

  private String pattern(int depth) {
    String text = of(Kind.TEXT, depth);
    return dice.oneIn(3)
        ? text
            + dice.pick(" ~ ", " !~ ", " ~* ")
            + dice.pick("'^a'", "'b$'", "'[ab]+'", "'^$'", "'.'", "'a|x'", "'%'")
        : text
            + dice.pick(" like ", " not like ", " ilike ")
            + dice.pick(
                "'a%'",
                "'%b%'",
                "'_b'",
                "''",
                "'%'",
                "'日%'",
                "'a\\%b'",
                "'__'",
                "'%b'",
                "null::text",
                "'ab'");
  }

  private String row(int depth) {
    List<Kind> kinds = new ArrayList<>();
    for (int i = dice.between(2, 3); i > 0; i--) {
      kinds.add(
          dice.pick(
              List.of(Kind.INTEGER, Kind.TEXT, Kind.NUMERIC, Kind.DATE, Kind.BOOL, Kind.FLOAT)));
    }
    String left = list(kinds, depth, false);
    return dice.oneIn(3)
        ? left
            + dice.pick(" in (", " not in (")
            + list(kinds, 0, true)
            + ", "
            + list(kinds, 0, true)
            + ")"
        : left
            + dice.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ")
            + list(kinds, 0, dice.oneIn(2));
  }

  private String list(List<Kind> kinds, int depth, boolean constants) {
    List<String> all = new ArrayList<>();
    for (Kind kind : kinds) {
      all.add(constants ? constant(kind) : of(kind, depth));
    }
    return "(" + String.join(", ", all) + ")";
  }

  private String document() {
    return switch (dice.below(5)) {
      case 0 ->
          leaf(Kind.DOCUMENT) + dice.pick(" @> ", " <@ ", " = ", " < ") + constant(Kind.DOCUMENT);
      case 1 -> leaf(Kind.DOCUMENT) + " ? " + dice.pick("'a'", "'b'", "null");
      case 2 ->
          leaf(Kind.INTEGERS)
              + dice.pick(" @> ", " <@ ", " && ", " = ", " < ")
              + leaf(Kind.INTEGERS);
      case 3 ->
          leaf(Kind.INTEGER) + dice.pick(" = any (", " <> all (") + column(Kind.INTEGERS) + ")";
      default -> leaf(Kind.TEXT) + dice.pick(" = any (", " <> all (") + column(Kind.TEXTS) + ")";
    };
  }

  /// A condition on the rows of a subquery, most often one with columns of the queries around.
  private String subquery(int depth) {
    String alias = "s" + ++aliases;
    Map<Kind, List<String>> outer = scope;
    Kind kind =
        dice.pick(
            List.of(
                Kind.INTEGER,
                Kind.INTEGER,
                Kind.TEXT,
                Kind.NUMERIC,
                Kind.DATE,
                Kind.BOOL,
                Kind.FLOAT,
                Kind.BIGINT));
    String compared = of(kind, Math.min(depth, 1));
    String from = dice.pick(TABLES) + " " + alias;
    Map<Kind, List<String>> both = new EnumMap<>(Kind.class);
    Map<Kind, List<String>> own = columnsOf(alias);
    for (Kind each : Kind.values()) {
      List<String> columns = new ArrayList<>(own.getOrDefault(each, List.of()));
      if (!dice.oneIn(3)) {
        columns.addAll(outer.getOrDefault(each, List.of()));
      }
      both.put(each, columns);
    }
    scope = both;
    String where =
        switch (dice.below(4)) {
          case 0 -> "";
          case 1 ->
              " where "
                  + alias
                  + dice.pick(".i4 = ", ".i2 = ", ".id > ")
                  + first(outer, Kind.INTEGER);
          case 2 -> " where " + alias + ".t = " + first(outer, Kind.TEXT) + " and " + condition(0);
          default -> " where " + condition(Math.min(depth, 1));
        };
    scope = own;
    String value = of(kind, dice.below(2));
    String text =
        switch (dice.below(8)) {
          case 0, 1 -> dice.pick("", "not ") + "exists (select 1 from " + from + where + ")";
          case 2, 3 ->
              compared
                  + dice.pick(" in ", " not in ")
                  + "(select "
                  + value
                  + " from "
                  + from
                  + where
                  + ")";
          case 4 ->
              compared
                  + dice.pick(" > any ", " <= all ", " <> all ", " = all ", " < any ")
                  + "(select "
                  + value
                  + " from "
                  + from
                  + where
                  + ")";
          case 5 -> {
            Kind other = dice.pick(List.of(Kind.INTEGER, Kind.TEXT));
            String row = "(" + compared + ", " + first(outer, other) + ")";
            yield row
                + dice.pick(" in ", " not in ")
                + "(select "
                + value
                + ", "
                + column(other)
                + " from "
                + from
                + where
                + ")";
          }
          case 6 -> {
            String aggregate = kind.ordered() ? dice.pick("min(", "max(") : "bool_or(";
            yield compared
                + dice.pick(" = ", " > ", " <> ", " is distinct from ")
                + "(select "
                + aggregate
                + value
                + ") from "
                + from
                + where
                + ")";
          }
          default ->
              "(select count("
                  + dice.pick("*", value)
                  + ") from "
                  + from
                  + where
                  + ")"
                  + dice.pick(" > ", " = ")
                  + dice.below(3);
        };
    scope = outer;
    return text;
  }

  private String first(Map<Kind, List<String>> leaves, Kind kind) {
    List<String> all = leaves.getOrDefault(kind, List.of());
    return all.isEmpty() ? constant(kind) : dice.pick(all);
  }
}
