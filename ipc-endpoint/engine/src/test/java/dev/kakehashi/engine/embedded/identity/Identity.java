package dev.kakehashi.engine.embedded.identity;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Two ways to ask for the same rows. One seed makes it, by which it runs alone.
///
/// @param name of the rule that says that they are the same
/// @param left queries whose rows together are those of the others, in any order
/// @param right these others
/// @param predicate that takes the place of [#PREDICATE] in them
/// @param constants by column of the alias `q`, for [#FOLDED]
record Identity(
    long seed,
    String name,
    List<String> left,
    List<String> right,
    String predicate,
    Map<String, String> constants) {
  static final String PREDICATE = "<P>";

  /// The predicate with constants instead of columns.
  static final String FOLDED = "<F>";

  private static final Pattern COLUMN = Pattern.compile("\\bq\\.(\\w+)");

  /// The same with another predicate.
  Identity with(String other) {
    return new Identity(seed, name, left, right, other, constants);
  }

  /// Text of a query.
  String text(String query) {
    return query.replace(FOLDED, folded()).replace(PREDICATE, predicate);
  }

  private String folded() {
    return COLUMN
        .matcher(predicate)
        .replaceAll(
            column -> Matcher.quoteReplacement(constants.getOrDefault(column.group(1), "null")));
  }

  @Override
  public String toString() {
    return name
        + ", -Dkakehashi.seed="
        + seed
        + " -Dkakehashi.identities=1\n  "
        + all(left)
        + "\n  "
        + all(right);
  }

  private String all(List<String> queries) {
    return String.join(";\n    ", queries.stream().map(this::text).toList());
  }
}
