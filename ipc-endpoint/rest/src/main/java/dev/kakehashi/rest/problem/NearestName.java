package dev.kakehashi.rest.problem;

import org.jspecify.annotations.Nullable;

/// The known name that somebody may have meant by an unknown one. Stateless.
public final class NearestName {
  /// Longer names are no typing errors; the table of distances stays small.
  private static final int MAX_LENGTH = 64;

  private NearestName() {}

  /// @param known compared without regard to case
  /// @return null: none is near, which is at most a third of the letters, at least one
  public static @Nullable String of(String wanted, Iterable<String> known) {
    if (wanted.isEmpty() || wanted.length() > MAX_LENGTH) {
      return null;
    }
    @Nullable String best = null;
    int bestDistance = Math.max(1, wanted.length() / 3) + 1;
    for (String candidate : known) {
      if (candidate.length() <= MAX_LENGTH) {
        int distance = distance(wanted, candidate);
        if (distance < bestDistance) {
          best = candidate;
          bestDistance = distance;
        }
      }
    }
    return best;
  }

  /// Insertions, deletions, replacements and swaps of neighbours.
  private static int distance(String left, String right) {
    int[] beforeLast = new int[right.length() + 1];
    int[] last = new int[right.length() + 1];
    int[] row = new int[right.length() + 1];
    for (int column = 0; column <= right.length(); column++) {
      last[column] = column;
    }
    for (int line = 1; line <= left.length(); line++) {
      row[0] = line;
      for (int column = 1; column <= right.length(); column++) {
        boolean same = same(left.charAt(line - 1), right.charAt(column - 1));
        int cost =
            Math.min(
                last[column - 1] + (same ? 0 : 1), 1 + Math.min(last[column], row[column - 1]));
        boolean swapped =
            line > 1
                && column > 1
                && same(left.charAt(line - 1), right.charAt(column - 2))
                && same(left.charAt(line - 2), right.charAt(column - 1));
        row[column] = swapped ? Math.min(cost, beforeLast[column - 2] + 1) : cost;
      }
      int[] free = beforeLast;
      beforeLast = last;
      last = row;
      row = free;
    }
    return last[right.length()];
  }

  private static boolean same(char left, char right) {
    return Character.toLowerCase(left) == Character.toLowerCase(right);
  }
}
