package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.catalog.ForeignKey.Timing;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/// An index of a table, or the one behind its primary key or a unique constraint.
///
/// @param columns positions of the key columns in the table
/// @param descending per key column
/// @param nullsFirst per key column, where the definition wants nulls; the store has them behind everything, or in front when descending, whatever it says
/// @param nullsNotDistinct whether nulls are equal where the index is unique
/// @param constraint whether it is there for a constraint of the same name
/// @param comment what COMMENT said, or null
/// @param timing when the uniqueness of a constraint is looked at; the store refuses duplicates of those that are not deferrable, at once
/// @param predicate what a row has to fulfil, all of it, to be in the index
public record Index(
    String name,
    long indexId,
    List<Integer> columns,
    List<Boolean> descending,
    List<Boolean> nullsFirst,
    boolean unique,
    boolean nullsNotDistinct,
    boolean primary,
    boolean constraint,
    @Nullable String comment,
    Timing timing,
    List<IndexCondition> predicate) {
  /// An index of all rows with nulls where they are by default, of which duplicates, if it is unique, are refused at once.
  public Index(
      String name,
      long indexId,
      List<Integer> columns,
      List<Boolean> descending,
      boolean unique,
      boolean primary,
      boolean constraint,
      @Nullable String comment) {
    this(
        name,
        indexId,
        columns,
        descending,
        descending,
        unique,
        false,
        primary,
        constraint,
        comment,
        Timing.NOT_DEFERRABLE,
        List.of());
  }

  public boolean deferrable() {
    return timing != Timing.NOT_DEFERRABLE;
  }

  /// Whether there are never two rows with equal, non-null keys.
  public boolean isKey() {
    return unique && !deferrable() && predicate.isEmpty();
  }

  /// Whether the index needs a column.
  public boolean uses(int column) {
    return columns.contains(column)
        || predicate.stream().anyMatch(condition -> condition.column() == column);
  }

  /// The same index of fewer rows.
  public Index where(List<IndexCondition> conditions) {
    return with(name, indexId, columns, primary, constraint, comment, timing, conditions);
  }

  /// The same constraint, looked at at another time.
  public Index with(Timing newTiming) {
    return with(name, indexId, columns, primary, constraint, comment, newTiming, predicate);
  }

  /// The same index with another idea of nulls.
  ///
  /// @param first per key column
  /// @param notDistinct whether they are equal where the index is unique
  public Index withNulls(List<Boolean> first, boolean notDistinct) {
    return new Index(
        name,
        indexId,
        columns,
        descending,
        List.copyOf(first),
        unique,
        notDistinct,
        primary,
        constraint,
        comment,
        timing,
        predicate);
  }

  /// The same index of a table that replaces the present one.
  public Index renumbered(long newId) {
    return with(name, newId, columns, primary, constraint, comment, timing, predicate);
  }

  public Index withName(String newName) {
    return with(newName, indexId, columns, primary, constraint, comment, timing, predicate);
  }

  /// The same index with or without a constraint that needs it.
  Index asConstraint(boolean needed) {
    return with(name, indexId, columns, primary, needed, comment, timing, predicate);
  }

  /// The same unique index for a constraint of its name.
  public Index ofConstraint(boolean isPrimary) {
    return with(name, indexId, columns, isPrimary, true, comment, timing, predicate);
  }

  /// The same index over columns at other positions.
  ///
  /// @param newPosition of each column that the index has
  public Index moved(IntUnaryOperator newPosition) {
    return with(
        name,
        indexId,
        columns.stream().map(c -> newPosition.applyAsInt(c)).toList(),
        primary,
        constraint,
        comment,
        timing,
        predicate.stream().map(condition -> condition.moved(newPosition)).toList());
  }

  public Index withComment(@Nullable String text) {
    return with(name, indexId, columns, primary, constraint, text, timing, predicate);
  }

  public IndexDefinition definition() {
    return new IndexDefinition(
        indexId, name, columns, descending, unique && !deferrable(), nullsNotDistinct, predicate);
  }

  /// The same order and uniqueness; all else may be other.
  private Index with(
      String newName,
      long newId,
      List<Integer> newColumns,
      boolean isPrimary,
      boolean isConstraint,
      @Nullable String newComment,
      Timing newTiming,
      List<IndexCondition> newPredicate) {
    return new Index(
        newName,
        newId,
        newColumns,
        descending,
        nullsFirst,
        unique,
        nullsNotDistinct,
        isPrimary,
        isConstraint,
        newComment,
        newTiming,
        newPredicate);
  }
}
