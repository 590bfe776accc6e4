package dev.kakehashi.protocol;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The word that somebody may have meant by an unknown one. Stateless.
public final class NearestWord {
  /// Longer words are no typing errors.
  private static final int MAX_LENGTH = 64;

  private NearestWord() {}

  /// A hint: the nearest word, or all if none is near.
  public static String hint(String wanted, Collection<String> known) {
    String nearest = of(wanted, known);
    if (nearest != null) {
      return "Perhaps you meant \"" + nearest + "\".";
    }
    List<String> quoted = new ArrayList<>();
    known.forEach(each -> quoted.add("\"" + each + "\""));
    return "There are " + String.join(", ", quoted) + ".";
  }

  /// @return null: none is near, which is a third of the letters wrong at most, at least one
  public static @Nullable String of(String wanted, Collection<String> known) {
    @Nullable String best = null;
    int bestDistance = Math.max(1, wanted.length() / 3) + 1;
    if (wanted.length() <= MAX_LENGTH) {
      for (String each : known) {
        int distance = distance(wanted, each);
        if (distance < bestDistance) {
          best = each;
          bestDistance = distance;
        }
      }
    }
    return best;
  }

  /// Insertions, deletions and replacements that make one word the other (Levenshtein).
  public static int distance(String left, String right) {
    int[] row = new int[right.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= left.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int above = row[j];
        int replaced = diagonal + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(above, row[j - 1]) + 1);
        diagonal = above;
      }
    }
    return row[right.length()];
  }
}
