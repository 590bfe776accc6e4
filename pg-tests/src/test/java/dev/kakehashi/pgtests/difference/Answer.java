package dev.kakehashi.pgtests.difference;

import java.util.ArrayList;
import java.util.List;

/// Results of the statements of a program.
final class Answer {
  static final String ERROR = "error ";

  private static final int MAX_LENGTH = 1500;

  private final List<String> statements = new ArrayList<>();
  private final List<String> results = new ArrayList<>();

  void add(String sql, String result) {
    statements.add(sql);
    results.add(result);
  }

  boolean failed() {
    return results.stream().anyMatch(result -> result.startsWith(ERROR));
  }

  /// Empty if the other is the same. Errors count by their first line, which has the SQLSTATE.
  String difference(Answer other) {
    for (int i = 0; i < results.size(); i++) {
      String mine = results.get(i);
      String its = other.results.get(i);
      if (!comparable(mine).equals(comparable(its))) {
        return "differs: "
            + statements.get(i)
            + "\n  heap:    "
            + shortened(mine, its)
            + "\n  foreign: "
            + shortened(its, mine);
      }
    }
    return "";
  }

  private static String comparable(String result) {
    return result.startsWith(ERROR) ? result.lines().findFirst().orElseThrow() : result;
  }

  /// From where it differs, a little before.
  private static String shortened(String text, String other) {
    int same = 0;
    while (same < Math.min(text.length(), other.length())
        && text.charAt(same) == other.charAt(same)) {
      same++;
    }
    int begin = same < MAX_LENGTH / 2 ? 0 : same - MAX_LENGTH / 4;
    String from = (begin > 0 ? "... " : "") + text.substring(begin);
    return from.length() > MAX_LENGTH ? from.substring(0, MAX_LENGTH) + " ..." : from;
  }
}
