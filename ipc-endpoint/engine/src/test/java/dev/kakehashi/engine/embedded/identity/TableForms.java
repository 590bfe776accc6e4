package dev.kakehashi.engine.embedded.identity;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Ways to name a table, with the same rows in each: with and without indexes and statistics, as a view, behind a limit or an order.
///
/// The engine has no settings of its planner. These forms, and the order of FROM, make it choose other plans.
final class TableForms {
  private static final Pattern TABLE = Pattern.compile("<([abe])>");

  private TableForms() {}

  /// Gives each `<a>`, `<b>` and `<e>` of a template a form.
  static String in(String template, Dice dice) {
    boolean alike = dice.oneIn(2);
    String schema = dice.pick("p", "x");
    return TABLE
        .matcher(template)
        .replaceAll(table ->
            Matcher.quoteReplacement(
                alike ? schema + "." + table.group(1) : form(table.group(1), dice)));
  }

  private static String form(String table, Dice dice) {
    return switch (dice.below(12)) {
      case 0, 1, 2 -> "p." + table;
      case 3, 4, 5 -> "x." + table;
      case 6 -> "v." + table;
      case 7 -> "(select * from p." + table + " limit 1000)";
      case 8 -> "(select * from x." + table + " order by i4, id desc limit 1000)";
      case 9 -> "(select * from x." + table + " where id >= 0)";
      case 10 -> "(select * from x." + table + " union all select * from p.e)";
      default ->
          "(select * from p."
              + table
              + " where i4 > 2 union all select * from x."
              + table
              + " where i4 > 2 is not true)";
    };
  }
}
