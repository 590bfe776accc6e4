package dev.kakehashi.engine.embedded.query;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Queries with subqueries in subqueries, each of which names columns of any queries around it, over tables `t`, `u` and `n` with the
/// integer columns `a` and `b`.
///
/// They have no order, and no errors: what would be one for some rows, a second row of a value or a division by zero, stands in branches
/// that are not taken for these.
final class RandomSubqueries {
  private static final List<String> TABLES = List.of("t", "u", "n");

  /// Rows of the queries around, multiplied, for which a subquery is still evaluated.
  private static final int MAX_EVALUATIONS = 700;

  /// Rows of a table.
  static final int ROWS = 5;

  private static final List<String> COMPARISONS = List.of("=", "<>", "<", "<=", ">", ">=");

  private final Random random;

  /// Numbers the aliases of a query, so that all differ.
  private int aliases;

  /// Subqueries that may still be begun, so that queries have an end.
  private int budget;

  /// Column that is not zero in the branch that is being made; null: none is known not to be.
  private @Nullable String divisor;

  RandomSubqueries(long seed) {
    this.random = new Random(seed);
  }

  String next() {
    aliases = 0;
    budget = 3 + random.nextInt(5);
    return switch (random.nextInt(6)) {
      case 0 -> grouped(List.of());
      case 1 -> windowed(List.of(), 3);
      default -> rows(List.of(), 2 + random.nextInt(3), true);
    };
  }

  /// Whether there may be a subquery in these queries.
  private boolean mayNest(List<List<String>> scopes) {
    int evaluations = 1;
    for (List<String> columns : scopes) {
      evaluations *= ROWS * Math.max(columns.size() / 2, 1);
    }
    return budget > 0 && evaluations <= MAX_EVALUATIONS;
  }

  /// Columns of the queries around, the outermost first; each entry is those of one query.
  private static List<List<String>> within(List<List<String>> outer, List<String> own) {
    List<List<String>> all = new ArrayList<>(outer);
    all.add(own);
    return all;
  }

  /// @param text of FROM
  private record From(String text, List<String> columns) {}

  private From from(List<List<String>> outer) {
    int kind = mayNest(outer) ? random.nextInt(14) : 0;
    From first = table();
    return switch (kind) {
      case 0, 1, 2, 3 -> first;
      case 4, 5, 6 -> {
        From second = table();
        List<String> columns = new ArrayList<>(first.columns);
        columns.addAll(second.columns);
        String type = List.of("join", "left join", "right join").get(random.nextInt(3));
        String on = condition(within(outer, columns));
        yield new From(
            first.text
                + " "
                + type
                + " "
                + second.text
                + " on "
                + first.columns.getFirst()
                + " = "
                + second.columns.getFirst()
                + " and "
                + on,
            columns);
      }
      case 7 -> {
        List<List<String>> around = within(outer, first.columns);
        String alias = "q" + aliases++;
        budget--;
        String type = random.nextBoolean() ? "join" : "left join";
        List<String> columns = new ArrayList<>(first.columns);
        columns.add(alias + ".x1");
        columns.add(alias + ".x2");
        yield new From(
            first.text + " " + type + " lateral (" + rows(around, 2) + ") " + alias + " on true",
            columns);
      }
      case 8 -> derived(grouped(outer));
      case 9 -> derived(rows(outer, 2) + setOperator() + rows(outer, 2));
      case 10 -> derived("select distinct" + rows(outer, 2).substring("select".length()));
      case 11, 12 -> {
        From second = random.nextInt(3) == 0 ? derived(rows(outer, 2)) : first;
        From rows =
            derived(
                switch (random.nextInt(4)) {
                  case 0, 1 -> rows(outer, 2);
                  case 2 -> grouped(outer);
                  default -> oneGroup(outer);
                });
        List<String> columns = new ArrayList<>(second.columns);
        columns.addAll(rows.columns);
        yield new From(
            random.nextInt(3) == 0
                ? second.text + ", " + rows.text
                : rows.text + ", " + second.text,
            columns);
      }
      default -> {
        List<List<String>> around = within(outer, first.columns);
        From second =
            derived(
                switch (random.nextInt(4)) {
                  case 0 -> grouped(around);
                  case 2 -> oneGroup(around);
                  case 1 -> windowed(around, 2);
                  default ->
                      "select v.x1, v.x2 from (values ("
                          + value(around)
                          + ", 1), ("
                          + named(around)
                          + ", "
                          + value(around)
                          + ")) v (x1, x2)";
                });
        List<String> columns = new ArrayList<>(first.columns);
        columns.addAll(second.columns);
        String type = random.nextBoolean() ? "join" : "left join";
        yield new From(first.text + " " + type + " lateral " + second.text + " on true", columns);
      }
    };
  }

  private From derived(String query) {
    String alias = "q" + aliases++;
    budget--;
    return new From("(" + query + ") " + alias, List.of(alias + ".x1", alias + ".x2"));
  }

  private String setOperator() {
    String operator = List.of(" union", " except", " intersect").get(random.nextInt(3));
    return operator + (random.nextBoolean() ? " all " : " ");
  }

  private From table() {
    String alias = "q" + aliases++;
    String table = TABLES.get(random.nextInt(TABLES.size()));
    return new From(table + " " + alias, List.of(alias + ".a", alias + ".b"));
  }

  /// Columns `x1`, `x2` and so on.
  private String rows(List<List<String>> outer, int columns) {
    return rows(outer, columns, false);
  }

  /// @param more whether with a column `y`, and perhaps `z`, which is an array
  private String rows(List<List<String>> outer, int columns, boolean more) {
    From from = from(outer);
    List<List<String>> scopes = within(outer, from.columns);
    List<String> items = new ArrayList<>();
    for (int i = 1; i <= columns; i++) {
      String item = i == 1 ? from.columns.getFirst() : value(scopes);
      items.add(item + " as x" + i);
    }
    if (more) {
      items.add(condition(scopes) + " as y");
      if (mayNest(scopes)) {
        items.add("array(" + column(scopes) + " order by 1) as z");
      }
    }
    return "select " + String.join(", ", items) + " from " + from.text + where(scopes);
  }

  private String grouped(List<List<String>> outer) {
    From from = from(outer);
    List<List<String>> scopes = within(outer, from.columns);
    String key = from.columns.getFirst();
    List<List<String>> groups = within(outer, List.of(key));
    String aggregate = aggregate(scopes);
    String item = random.nextBoolean() ? aggregate : aggregate + " + " + value(groups);
    String where = where(scopes);
    String having = random.nextBoolean() ? " having " + condition(groups) : "";
    return "select "
        + key
        + " as x1, "
        + item
        + " as x2 from "
        + from.text
        + where
        + " group by "
        + key
        + having;
  }

  /// @param columns 2 or 3
  private String windowed(List<List<String>> outer, int columns) {
    From from = from(outer);
    List<List<String>> scopes = within(outer, from.columns);
    String by = from.columns.getFirst();
    return "select "
        + by
        + " as x1, "
        + aggregate(scopes)
        + " over (order by "
        + by
        + ") + "
        + value(scopes)
        + " as x2"
        + (columns > 2
            ? ", "
                + aggregate(scopes)
                + " over (partition by coalesce("
                + value(scopes)
                + ", 0)) as x3"
            : "")
        + " from "
        + from.text
        + where(scopes);
  }

  /// Columns `x1` and `x2` of a row that there is in any case.
  private String oneGroup(List<List<String>> outer) {
    From from = from(outer);
    List<List<String>> scopes = within(outer, from.columns);
    return "select "
        + aggregate(scopes)
        + " as x1, "
        + aggregate(scopes)
        + " as x2 from "
        + from.text
        + where(scopes);
  }

  private String where(List<List<String>> scopes) {
    return random.nextInt(4) == 0 ? "" : " where " + condition(scopes);
  }

  /// An aggregate of the innermost query: it names a column of that.
  private String aggregate(List<List<String>> scopes) {
    String own = pick(scopes.getLast());
    String argument = random.nextBoolean() ? own : own + " + " + value(scopes);
    return List.of("max", "min", "sum", "count").get(random.nextInt(4)) + "(" + argument + ")";
  }

  private String pick(List<String> columns) {
    return columns.get(random.nextInt(columns.size()));
  }

  private String named(List<List<String>> scopes) {
    return pick(scopes.get(random.nextInt(scopes.size())));
  }

  private String value(List<List<String>> scopes) {
    if (mayNest(scopes) && random.nextInt(5) < 3) {
      budget--;
      return scalar(scopes);
    }
    return switch (random.nextInt(8)) {
      case 0 -> String.valueOf(random.nextInt(4));
      case 6 -> divisor == null ? named(scopes) : "6 / " + divisor;
      case 7 -> branch(scopes);
      case 1 -> named(scopes) + " + " + named(scopes);
      case 2 -> "coalesce(" + named(scopes) + ", " + value(scopes) + ")";
      case 3 ->
          "case when "
              + condition(scopes)
              + " then "
              + value(scopes)
              + " else "
              + named(scopes)
              + " end";
      default -> named(scopes);
    };
  }

  /// A value that would be an error for some rows, in a branch for the others.
  private String branch(List<List<String>> scopes) {
    if (!mayNest(scopes)) {
      return named(scopes);
    }
    budget--;
    String column = named(scopes);
    return switch (random.nextInt(4)) {
      case 0 -> "coalesce(" + column + ", (select 7 where " + column + " is null))";
      case 1 ->
          "case when (select count(*) from "
              + TABLES.getFirst()
              + " where a = "
              + column
              + ") = 1 then (select b from "
              + TABLES.getFirst()
              + " where a = "
              + column
              + ") end";
      default ->
          "case when "
              + column
              + " <> 0 then "
              + dividing(column, () -> scalar(scopes))
              + (random.nextBoolean() ? " else " + named(scopes) : "")
              + " end";
    };
  }

  private String dividing(String by, Supplier<String> made) {
    String before = divisor;
    divisor = by;
    String text = made.get();
    divisor = before;
    return text;
  }

  private String scalar(List<List<String>> outer) {
    if (random.nextInt(4) == 0) {
      String offset = random.nextInt(4) == 0 ? " offset 1" : "";
      return "(" + column(outer) + " order by 1 limit 1" + offset + ")";
    }
    From from = from(outer);
    List<List<String>> scopes = within(outer, from.columns);
    String item = aggregate(scopes);
    if (random.nextInt(3) == 0) {
      item += " + " + aggregate(scopes);
    }
    if (random.nextInt(4) == 0 && !outer.isEmpty()) {
      item += " + " + value(outer);
    }
    return "(select " + item + " from " + from.text + where(scopes) + ")";
  }

  /// A query of one column.
  private String column(List<List<String>> outer) {
    if (mayNest(outer) && random.nextInt(8) == 0) {
      budget--;
      return "(" + plainColumn(outer) + ")" + setOperator() + "(" + plainColumn(outer) + ")";
    }
    String column = plainColumn(outer);
    return random.nextInt(8) == 0
        ? "select distinct" + column.substring("select".length())
        : column;
  }

  private String plainColumn(List<List<String>> outer) {
    From from = from(outer);
    List<List<String>> scopes = within(outer, from.columns);
    String item = random.nextInt(3) == 0 ? value(scopes) : pick(from.columns);
    return "select " + item + " from " + from.text + where(scopes);
  }

  private String condition(List<List<String>> scopes) {
    if (mayNest(scopes) && random.nextInt(5) < 3) {
      budget--;
      return switch (random.nextInt(7)) {
        case 0 -> "exists (" + column(scopes) + ")";
        case 1 -> "not exists (" + column(scopes) + ")";
        case 2 -> value(scopes) + " in (" + column(scopes) + ")";
        case 3 -> value(scopes) + " not in (" + column(scopes) + ")";
        case 4 -> value(scopes) + comparison() + "any (" + column(scopes) + ")";
        case 5 -> value(scopes) + comparison() + "all (" + column(scopes) + ")";
        default ->
            "("
                + named(scopes)
                + ", "
                + named(scopes)
                + ")"
                + (random.nextBoolean() ? "" : " not")
                + " in (select "
                + pair(scopes)
                + ")";
      };
    }
    return switch (random.nextInt(10)) {
      case 0 -> named(scopes) + " is null";
      case 1 -> named(scopes) + " is not distinct from " + named(scopes);
      case 2 -> "(" + condition(scopes) + " or " + condition(scopes) + ")";
      case 3 -> "(" + condition(scopes) + " and " + condition(scopes) + ")";
      case 4 -> "not (" + condition(scopes) + ")";
      case 5 -> "(" + condition(scopes) + ") is not true";
      case 6 -> pick(scopes.getFirst()) + " = " + pick(scopes.getLast());
      case 7 -> {
        String column = named(scopes);
        yield "("
            + column
            + " = 0 or ("
            + column
            + " <> 0) is not true or "
            + dividing(column, () -> condition(scopes))
            + ")";
      }
      default -> named(scopes) + comparison() + named(scopes);
    };
  }

  private String comparison() {
    return " " + COMPARISONS.get(random.nextInt(COMPARISONS.size())) + " ";
  }

  /// Text after SELECT in a query of two columns.
  private String pair(List<List<String>> outer) {
    From from = from(outer);
    List<List<String>> scopes = within(outer, from.columns);
    return pick(from.columns) + ", " + pick(from.columns) + " from " + from.text + where(scopes);
  }
}
