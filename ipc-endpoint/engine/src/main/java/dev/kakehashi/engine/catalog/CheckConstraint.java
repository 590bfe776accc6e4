package dev.kakehashi.engine.catalog;

import java.util.List;

/// A CHECK constraint of a table.
///
/// @param text SQL expression as written, with the columns' present names
/// @param columns positions of the columns that it names
/// @param validated whether every row is known to fulfil it; otherwise those that were there when it was made may not
public record CheckConstraint(String name, String text, List<Integer> columns, boolean validated) {
  /// A constraint that every row fulfils.
  public CheckConstraint(String name, String text, List<Integer> columns) {
    this(name, text, columns, true);
  }

  public CheckConstraint withName(String newName) {
    return new CheckConstraint(newName, text, columns, validated);
  }

  /// The same condition in other words.
  public CheckConstraint withText(String newText) {
    return new CheckConstraint(name, newText, columns, validated);
  }

  /// The same condition over columns at other positions.
  public CheckConstraint withColumns(List<Integer> newColumns) {
    return new CheckConstraint(name, text, List.copyOf(newColumns), validated);
  }

  public CheckConstraint withValidated(boolean isValidated) {
    return new CheckConstraint(name, text, columns, isValidated);
  }
}
