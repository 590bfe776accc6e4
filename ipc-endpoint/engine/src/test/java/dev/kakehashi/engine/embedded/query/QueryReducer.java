package dev.kakehashi.engine.embedded.query;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Makes a query smaller of which something is wrong, as long as it stays wrong.
///
/// By delta debugging over its words (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002): what is left out
/// need not be a part of the grammar, because `isWrong` refuses what is no query.
public final class QueryReducer {
  /// One word is what determines the row that LIMIT leaves, too.
  private static final Pattern WORD =
      Pattern.compile(
          "order by [0-9]+ limit [0-9]+|[a-z_0-9]+(\\.[a-z_0-9]+)?|'[^']*'|<>|<=|>=|\\S");

  /// Words that may stand for a part in parentheses.
  private static final List<List<String>> STAND_INS =
      List.of(List.of(), List.of("true"), List.of("false"), List.of("0"), List.of("null"));

  private final Predicate<String> isWrong;
  private int trials;

  /// @param isWrong whether a text is a query that shows the fault
  /// @param trials of it, at most
  public QueryReducer(Predicate<String> isWrong, int trials) {
    this.isWrong = isWrong;
    this.trials = trials;
  }

  /// A query no part of which can be left out, if there are trials enough.
  ///
  /// @param sql that shows the fault
  public String reduce(String sql) {
    List<String> words = new ArrayList<>();
    for (Matcher word = WORD.matcher(sql); word.find(); ) {
      words.add(word.group());
    }
    int before;
    do {
      before = words.size();
      words = withoutRanges(withoutParentheses(words));
    } while (words.size() < before && trials > 0);
    return String.join(" ", words);
  }

  private List<String> withoutParentheses(List<String> all) {
    List<String> words = all;
    for (int from = 0; from < words.size(); from++) {
      if (!words.get(from).equals("(")) {
        continue;
      }
      int to = closing(words, from);
      List<List<String>> standIns = new ArrayList<>(STAND_INS);
      standIns.add(words.subList(from + 1, to));
      for (List<String> standIn : standIns) {
        List<String> smaller = replaced(words, from, to + 1, standIn);
        if (smaller.size() < words.size() && isWrong(smaller)) {
          words = smaller;
          break;
        }
      }
    }
    return words;
  }

  private static int closing(List<String> words, int open) {
    int depth = 0;
    for (int i = open; i < words.size(); i++) {
      depth += words.get(i).equals("(") ? 1 : words.get(i).equals(")") ? -1 : 0;
      if (depth == 0) {
        return i;
      }
    }
    return words.size() - 1;
  }

  private List<String> withoutRanges(List<String> all) {
    List<String> words = all;
    for (int length = words.size() / 2;
        length > 0;
        length = length > 16 ? length / 2 : length - 1) {
      for (int from = 0; from + length <= words.size(); from++) {
        List<String> smaller = replaced(words, from, from + length, List.of());
        if (isWrong(smaller)) {
          words = smaller;
          from--;
        }
      }
    }
    return words;
  }

  private static List<String> replaced(List<String> words, int from, int to, List<String> by) {
    List<String> smaller = new ArrayList<>(words.subList(0, from));
    smaller.addAll(by);
    smaller.addAll(words.subList(to, words.size()));
    return smaller;
  }

  private boolean isWrong(List<String> words) {
    return trials-- > 0 && isWrong.test(String.join(" ", words));
  }
}
