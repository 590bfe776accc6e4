package dev.kakehashi.engine.embedded.query;

import java.util.List;
import java.util.Random;

/// Random queries with window functions, grouping sets and ordered aggregates over the table `w` of [WindowDifferenceTest]. They have one
/// right answer each.
final class RandomWindows {
  private static final String INT = "k";

  private final Random random;

  RandomWindows(long seed) {
    this.random = new Random(seed);
  }

  String next() {
    return switch (random.nextInt(8)) {
      case 0 -> grouped();
      case 1 -> groupingSets();
      case 2 -> overGroups();
      default -> windows();
    };
  }

  private String windows() {
    StringBuilder list = new StringBuilder("id");
    for (int i = 0; i <= random.nextInt(3); i++) {
      list.append(", ").append(random.nextInt(3) == 0 ? overValues() : overRows());
      list.append(" as c").append(i);
    }
    return "select * from (select "
        + list
        + " from w"
        + pick("", "", " where g < 9", " where id < 3")
        + ") q where id % "
        + pick("11", "7", "3")
        + " = 0 order by id";
  }

  /// A window whose order decides between all rows.
  private String overRows() {
    String order =
        " order by "
            + pick("", "k nulls first, ", "k desc, ", "t, ", "n desc nulls last, ", "f, ", "d, ")
            + pick("id", "id desc");
    if (random.nextInt(6) == 0) {
      // An aggregate that grows with its frame is made anew for each row.
      String window = " over (" + partition() + order + smallFrame() + ")";
      return pick(
          "md5(string_agg(left(t, 2), ',')" + window + ")",
          "array_length(array_agg(k)" + window + ", 1)");
    }
    String function =
        pick(
            "row_number()",
            "rank()",
            "dense_rank()",
            "percent_rank()",
            "cume_dist()",
            "ntile(" + (1 + random.nextInt(9)) + ")",
            "lag(t)",
            "lag(k, " + random.nextInt(40) + ", -1)",
            "lead(n, 3)",
            "lead(t, 2, 'none')",
            "first_value(t)",
            "last_value(n)",
            "nth_value(k, " + (1 + random.nextInt(5)) + ")");
    String frame = random.nextInt(3) == 0 ? "" : rowFrame();
    return function + " over (" + partition() + order + frame + ")";
  }

  private String smallFrame() {
    return pick(" rows 3 preceding", " rows between 1 following and 4 following");
  }

  /// An aggregate that takes its rows in any order, so that equal rows may come as they like.
  private String overValues() {
    if (random.nextInt(2) == 0) {
      String order =
          pick("", " order by k", " order by t desc", " order by d nulls first, g", " order by n");
      String frame = order.isEmpty() ? "" : pick("", rowsOfPeers(), rowsOfPeers());
      return aggregate() + " over (" + partition() + order + frame + ")";
    }
    return aggregate() + " over (" + partition() + rangeFrame() + ")";
  }

  private String partition() {
    return pick("", "partition by g", "partition by g, o", "partition by k", "partition by o");
  }

  private String aggregate() {
    return pick(
            "count(*)",
            "count(t)",
            "sum(k)",
            "sum(b)",
            "sum(n)",
            "avg(s)",
            "avg(n)",
            "min(t)",
            "max(d)",
            "max(b)",
            "min(k)",
            "bool_and(o)",
            "bool_or(o)",
            "bit_xor(k)",
            "stddev(k)",
            "var_pop(n)")
        + pick("", "", "", " filter (where id % 3 = 0)", " filter (where o)");
  }

  private String rowFrame() {
    return pick(" rows ", " groups ") + between(number()) + exclusion();
  }

  private String rowsOfPeers() {
    return " groups " + between(String.valueOf(random.nextInt(30))) + exclusionOfPeers();
  }

  private String number() {
    return pick("0", "1", "2", "7", "63", "64", "65", "200", "5000");
  }

  private String between(String number) {
    return pick(
        number + " preceding",
        "unbounded preceding",
        "between " + number + " preceding and current row",
        "between " + number + " preceding and 1 following",
        "between 3 preceding and " + number + " following",
        "between current row and " + number + " following",
        "between current row and unbounded following",
        "between " + number + " preceding and unbounded following",
        "between " + number + " following and 9000 following",
        "between 9000 preceding and " + number + " preceding",
        "between 5 following and 2 following",
        "between unbounded preceding and " + number + " following",
        "between unbounded preceding and " + number + " preceding");
  }

  /// Now and then, because such frames are aggregated row by row.
  private String exclusion() {
    return random.nextInt(12) == 0 ? pick(" exclude current row", " exclude ties") : "";
  }

  private String exclusionOfPeers() {
    return random.nextInt(12) == 0 ? pick(" exclude group", " exclude no others") : "";
  }

  private String rangeFrame() {
    String direction = pick("", " desc", " nulls first", " desc nulls last");
    return switch (random.nextInt(9)) {
      case 0 -> range(INT, direction, "0", "5", "100", "9223372036854775807");
      case 1 -> range("b", direction, "17", "5000", "9223372036854775807");
      case 2 -> range("s", direction, "1", "40000", "3::int2", "9223372036854775800");
      case 3 -> range("n", direction, "0.25", "10", "1e30");
      case 4 -> range("f", direction, "0.5", "33", "1e308", "'infinity'::float8");
      case 5 -> range("d", direction, "interval '1 day'", "interval '1 mon 3 days'");
      case 6 -> range("ts", direction, "interval '90 minutes'", "interval '1 month'");
      case 7 -> range("c", direction, "interval '1 hour'", "interval '3 days 00:30'", "'25:00'");
      default -> range("v", direction, "interval '4 hours'", "interval '2 days'");
    };
  }

  private String range(String key, String direction, String... offsets) {
    String offset = pick(offsets);
    return " order by "
        + key
        + direction
        + " range "
        + pick(
            offset + " preceding",
            "between " + offset + " preceding and " + offset + " following",
            "between " + offset + " following and unbounded following",
            "between unbounded preceding and " + offset + " preceding",
            "between current row and " + offset + " following");
  }

  private String grouped() {
    String key = pick("g", "o", "k % 10");
    StringBuilder list = new StringBuilder(key);
    for (int i = 0; i <= random.nextInt(3); i++) {
      list.append(", ").append(random.nextBoolean() ? orderedAggregate() : aggregate());
    }
    return "select " + list + " from w group by " + key + " order by " + key + " nulls first";
  }

  private String orderedAggregate() {
    return pick(
        "md5(string_agg(t, ',' order by id desc))",
        "md5(string_agg(distinct t, ','))",
        "md5(string_agg(distinct left(t, 3), ',' order by left(t, 3) desc))",
        "md5(array_agg(k order by n desc nulls last, id)::text)",
        "md5(array_agg(distinct s)::text)",
        "md5(array_agg(d order by d, id) filter (where id % 5 = 0)::text)",
        "count(distinct t)",
        "sum(distinct n)",
        "percentile_cont(0.3) within group (order by f)",
        "percentile_disc(0.7) within group (order by t desc)",
        "percentile_disc(array[0, 0.5, 1]) within group (order by ts)",
        "mode() within group (order by s)",
        "rank(100) within group (order by k)",
        "dense_rank('a') within group (order by t)",
        "cume_dist(3.5) within group (order by n)");
  }

  private String groupingSets() {
    return "select g, o, s % 4, grouping(g, o, s % 4), "
        + aggregate()
        + ", "
        + pick(aggregate(), orderedAggregate())
        + " from w group by "
        + pick(
            "rollup (g, o, s % 4)",
            "cube (g, o, s % 4)",
            "grouping sets ((g, o), (s % 4), ())",
            "g, rollup (o, s % 4)",
            "grouping sets (rollup (g, o), cube (o, s % 4))",
            "distinct rollup (g, o, s % 4), rollup (o)")
        + pick("", " having count(*) > 40")
        + " order by 4, 1, 2, 3, 5, 6";
  }

  private String overGroups() {
    return "select g, count(*), sum(sum(k)) over (order by g "
        + pick("", "rows 2 preceding", "desc groups between 1 preceding and 3 following")
        + "), rank() over (order by count(*) desc, g), lag(max(t)) over (order by g) from w group by g order by g";
  }

  @SafeVarargs
  @SuppressWarnings("varargs") // the list copies them
  private <T> T pick(T... choices) {
    return List.of(choices).get(random.nextInt(choices.length));
  }
}
