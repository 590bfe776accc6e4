package dev.kakehashi.engine.catalog;

import java.util.List;
import java.util.function.IntUnaryOperator;

/// A FOREIGN KEY constraint of a table.
///
/// @param constraintId constraints of several tables are looked at in the order of their numbers, which is that of their making
/// @param columns positions in the table
/// @param referencedId tableId of the table that is referenced
/// @param referencedColumns positions there, each for the column of the same place
/// @param onUpdate what becomes of rows whose key is changed
/// @param onDelete what becomes of rows whose key is deleted
/// @param setColumns those of `columns` that ON DELETE SET NULL and SET DEFAULT set
/// @param matchFull whether nulls come together only
/// @param timing when it is looked at
/// @param validated whether every row is known to fulfil it; otherwise those that were there when it was made may not
public record ForeignKey(
    String name,
    long constraintId,
    List<Integer> columns,
    long referencedId,
    List<Integer> referencedColumns,
    Action onUpdate,
    Action onDelete,
    List<Integer> setColumns,
    boolean matchFull,
    Timing timing,
    boolean validated) {
  /// When a foreign key is looked at. RESTRICT, and actions that change rows, are always looked at by the statement.
  public enum Timing {
    /// At the end of each statement.
    NOT_DEFERRABLE,
    /// At the end of each statement, unless SET CONSTRAINTS says otherwise.
    INITIALLY_IMMEDIATE,
    /// When the transaction commits, unless SET CONSTRAINTS says otherwise.
    INITIALLY_DEFERRED
  }

  /// Action for rows whose key goes away.
  public enum Action {
    /// Refused at the end of the statement, if the key is not there again.
    NO_ACTION,
    /// Refused.
    RESTRICT,
    CASCADE,
    SET_NULL,
    SET_DEFAULT;

    /// In SQL: NO ACTION.
    public String text() {
      return name().replace('_', ' ');
    }

    /// Whether rows are changed.
    public boolean changes() {
      return this != NO_ACTION && this != RESTRICT;
    }
  }

  public ForeignKey withName(String newName) {
    return copy(newName, columns, referencedId, referencedColumns, setColumns, timing, validated);
  }

  /// The same constraint, looked at at another time, or known to hold.
  public ForeignKey with(Timing newTiming, boolean isValidated) {
    return copy(name, columns, referencedId, referencedColumns, setColumns, newTiming, isValidated);
  }

  /// The same constraint of a table whose columns are at other positions.
  public ForeignKey moved(IntUnaryOperator newPosition) {
    return copy(
        name,
        moved(columns, newPosition),
        referencedId,
        referencedColumns,
        moved(setColumns, newPosition),
        timing,
        validated);
  }

  /// The same constraint after another table has taken the place of the one that it references.
  public ForeignKey referencing(long newId, IntUnaryOperator newPosition) {
    return copy(
        name, columns, newId, moved(referencedColumns, newPosition), setColumns, timing, validated);
  }

  private static List<Integer> moved(List<Integer> positions, IntUnaryOperator newPosition) {
    return positions.stream().map(newPosition::applyAsInt).toList();
  }

  /// The number of the constraint, its actions and its match type never change.
  private ForeignKey copy(
      String newName,
      List<Integer> newColumns,
      long newReferencedId,
      List<Integer> newReferencedColumns,
      List<Integer> newSetColumns,
      Timing newTiming,
      boolean isValidated) {
    return new ForeignKey(
        newName,
        constraintId,
        newColumns,
        newReferencedId,
        newReferencedColumns,
        onUpdate,
        onDelete,
        newSetColumns,
        matchFull,
        newTiming,
        isValidated);
  }
}
