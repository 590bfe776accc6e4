package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Random choices of one program, and its constants: as they are, or as parameters of a prepared statement.
final class Dice {
  private final Random random;
  private final List<String> types = new ArrayList<>();
  private final List<String> values = new ArrayList<>();
  private boolean parameterized;

  Dice(long seed) {
    // Seeds that follow on each other begin alike without the mixing.
    random = new Random(seed * 0x9E3779B97F4A7C15L);
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  int between(int low, int high) {
    return low + random.nextInt(high - low + 1);
  }

  /// True in one of `count` cases.
  boolean oneIn(int count) {
    return random.nextInt(count) == 0;
  }

  String pick(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  <T> T pick(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  /// From now on constants become parameters.
  void parameterize() {
    parameterized = true;
  }

  /// A constant of a type.
  ///
  /// @param text without quotes
  String constant(String type, String text) {
    String literal = "'" + text.replace("'", "''") + "'";
    if (!parameterized) {
      return literal + "::" + type;
    }
    types.add(type);
    values.add(literal);
    return "$" + values.size();
  }

  /// Statements that run a query with its parameters.
  List<String> prepared(String query) {
    if (values.isEmpty()) {
      return List.of(query);
    }
    return List.of(
        "PREPARE random_query (" + String.join(", ", types) + ") AS " + query,
        "EXECUTE random_query (" + String.join(", ", values) + ")",
        "EXECUTE random_query (" + String.join(", ", values) + ")",
        "DEALLOCATE random_query");
  }
}
