package dev.kakehashi.engine.embedded.identity;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Identities of aggregates, groups and HAVING.
final class GroupedIdentities extends IdentityMaker {
  GroupedIdentities(IdentityMaker other) {
    super(other);
  }

  /// A value per group or of all rows, its parts, and how they come together.
  private record Parts(String whole, String parts, String together) {}

  private Parts value(String name) {
    Kind number = dice.pick(List.of(Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC));
    String value = expressions.of(number, 1);
    return switch (dice.below(8)) {
      case 0 -> new Parts("count(*)", "count(*) as " + name, "sum(" + name + ")");
      case 1 -> {
        String counted = "count(" + expressions.of(expressions.kind(), 1) + ")";
        yield new Parts(counted, counted + " as " + name, "sum(" + name + ")");
      }
      case 2 ->
          new Parts("sum(" + value + ")", "sum(" + value + ") as " + name, "sum(" + name + ")");
      case 3 ->
          new Parts(
              "round(avg(" + value + "), 6)",
              "sum(" + value + ") as " + name + ", count(" + value + ") as " + name + "c",
              "round(sum(" + name + ") / nullif(sum(" + name + "c), 0), 6)");
      case 4, 5 -> {
        Kind kind = expressions.orderedKind();
        String function = dice.pick("min(", "max(");
        String extreme = function + expressions.of(kind, 1) + ")";
        yield new Parts(
            kind.shown(extreme), extreme + " as " + name, kind.shown(function + name + ")"));
      }
      case 6 -> {
        String function = dice.pick("bool_and(", "bool_or(");
        String all = function + expressions.condition(1) + ")";
        yield new Parts(all, all + " as " + name, function + name + ")");
      }
      default -> {
        // Eighths, NaN and infinities: no rounding, whatever the order.
        String sum = "sum(" + expressions.column(Kind.FLOAT) + "::double precision)";
        yield new Parts(
            Kind.FLOAT.shown(sum), sum + " as " + name, Kind.FLOAT.shown("sum(" + name + ")"));
      }
    };
  }

  Identity aggregate() {
    Parts first = value("m");
    Parts second = value("n");
    List<String> all = new ArrayList<>();
    PARTS.forEach(
        part -> all.add("select " + first.parts + ", " + second.parts + " from " + from + part));
    return identity(
        "aggregates of partitions",
        "select " + first.whole + ", " + second.whole + " from " + from,
        "select "
            + first.together
            + ", "
            + second.together
            + " from ("
            + String.join(" union all ", all)
            + ") w",
        condition());
  }

  Identity groups() {
    Kind kind = expressions.keyKind();
    String key = kind.shown(expressions.column(kind));
    Parts first = value("m");
    Parts second = value("n");
    List<String> all = new ArrayList<>();
    PARTS.forEach(part ->
        all.add(
            "select "
                + key
                + " as k, "
                + first.parts
                + ", "
                + second.parts
                + " from "
                + from
                + part
                + " group by "
                + key));
    return identity(
        "groups of partitions",
        "select "
            + key
            + ", "
            + first.whole
            + ", "
            + second.whole
            + " from "
            + from
            + " group by "
            + key,
        "select k, "
            + first.together
            + ", "
            + second.together
            + " from ("
            + String.join(" union all ", all)
            + ") w group by k",
        condition());
  }

  /// GROUP BY ALL, and the same by the numbers of the items that are no aggregates.
  Identity groupByAll() {
    List<String> items = new ArrayList<>();
    List<String> numbers = new ArrayList<>();
    for (int left = dice.between(1, 4); left > 0; left--) {
      Kind kind = expressions.keyKind();
      switch (dice.below(5)) {
        case 0 -> items.add(value("m").whole);
        case 1 -> items.add("count(*) over ()");
        case 2 -> {
          items.add("(select max(z.id) from <b> z where z.i4 = q.i4)");
          numbers.add(Integer.toString(items.size()));
        }
        default -> {
          items.add(kind.shown(dice.oneIn(2) ? expressions.column(kind) : expressions.of(kind, 1)));
          numbers.add(Integer.toString(items.size()));
        }
      }
    }
    items.add("count(*)");
    String query = "select " + String.join(", ", items) + " from " + from + " where <P>";
    String having = dice.oneIn(3) ? " having count(*) > 1" : "";
    String explicit = numbers.isEmpty() ? "" : " group by " + String.join(", ", numbers);
    return identity(
        "group by all", query + " group by all" + having, query + explicit + having, condition());
  }

  Identity having() {
    Kind first = expressions.keyKind();
    Kind second = expressions.keyKind();
    List<String> keys =
        new ArrayList<>(List.of(expressions.column(first), expressions.column(second)));
    Map<Kind, List<String>> leaves = new EnumMap<>(Kind.class);
    leaves.put(
        Kind.BIGINT,
        List.of(
            "count(*)",
            "count(" + expressions.of(expressions.kind(), 1) + ")",
            "sum(" + expressions.column(Kind.INTEGER) + ")"));
    for (Kind kind : Kind.values()) {
      if (kind.ordered() && kind != Kind.BIGINT) {
        leaves.put(
            kind,
            List.of(
                "max(" + expressions.column(kind) + ")", "min(" + expressions.column(kind) + ")"));
      }
    }
    leaves.put(
        Kind.NUMERIC,
        List.of(
            "avg(" + expressions.column(Kind.INTEGER) + ")",
            "sum(" + expressions.column(Kind.NUMERIC) + ")"));
    leaves.put(
        Kind.BOOL,
        List.of(
            "bool_or(" + expressions.column(Kind.BOOL) + ")",
            "every(" + expressions.condition(0) + ")"));
    leaves.merge(first, List.of(keys.get(0)), GroupedIdentities::joined);
    leaves.merge(second, List.of(keys.get(1)), GroupedIdentities::joined);
    String group = String.join(", ", keys);
    String query =
        "select "
            + first.shown(keys.get(0))
            + ", "
            + second.shown(keys.get(1))
            + ", count(*) from "
            + from
            + " group by "
            + group;
    String predicate = expressions.scope(leaves).condition(2);
    List<String> all = new ArrayList<>();
    PARTS.forEach(part -> all.add(query + part.replace(" where ", " having ")));
    return identity(
        "partitions of groups",
        List.of(query),
        dice.oneIn(2) ? all : List.of(String.join(" union all ", all)),
        predicate);
  }

  private static List<String> joined(List<String> some, List<String> others) {
    List<String> all = new ArrayList<>(some);
    all.addAll(others);
    return all;
  }
}
