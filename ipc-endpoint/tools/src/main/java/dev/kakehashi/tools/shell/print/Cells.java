package dev.kakehashi.tools.shell.print;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A whole result as texts, for forms that have to know all of it. Not thread-safe.
///
/// @param names of the columns
/// @param right whether a column is of numbers
/// @param rows one text for each column; null: null
public record Cells(List<String> names, List<Boolean> right, List<@Nullable String[]> rows) {
  /// One without rows.
  public static Cells of(List<String> names, List<Boolean> right) {
    return new Cells(names, right, new ArrayList<>());
  }

  /// One of texts.
  public static Cells ofTexts(String... names) {
    List<Boolean> left = new ArrayList<>();
    for (int i = 0; i < names.length; i++) {
      left.add(false);
    }
    return of(List.of(names), left);
  }
}
