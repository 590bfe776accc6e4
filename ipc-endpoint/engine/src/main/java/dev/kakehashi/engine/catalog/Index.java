package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.catalog.ForeignKey.Timing;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/// An index of a table, or the one behind its primary key or a unique constraint.
///
/// @param columns positions of the key columns in the table
/// @param descending per key column
/// @param nullsFirst per key column, where the definition wants nulls; the store has them behind everything, or in front when descending,
///     whatever it says
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
    return with(fields -> fields.predicate = conditions);
  }

  /// The same constraint, looked at at another time.
  public Index with(Timing newTiming) {
    return with(fields -> fields.timing = newTiming);
  }

  /// The same index with another idea of nulls.
  ///
  /// @param first per key column
  /// @param notDistinct whether they are equal where the index is unique
  public Index withNulls(List<Boolean> first, boolean notDistinct) {
    return with(fields -> {
      fields.nullsFirst = List.copyOf(first);
      fields.nullsNotDistinct = notDistinct;
    });
  }

  /// The same index of a table that replaces the present one.
  public Index renumbered(long newId) {
    return with(fields -> fields.indexId = newId);
  }

  public Index withName(String newName) {
    return with(fields -> fields.name = newName);
  }

  /// The same index with or without a constraint that needs it.
  Index asConstraint(boolean needed) {
    return with(fields -> fields.constraint = needed);
  }

  /// The same unique index for a constraint of its name.
  public Index ofConstraint(boolean isPrimary) {
    return with(fields -> {
      fields.primary = isPrimary;
      fields.constraint = true;
    });
  }

  /// The same index over columns at other positions.
  ///
  /// @param newPosition of each column that the index has
  public Index moved(IntUnaryOperator newPosition) {
    return with(fields -> {
      fields.columns = columns.stream().map(c -> newPosition.applyAsInt(c)).toList();
      fields.predicate = predicate.stream().map(condition -> condition.moved(newPosition)).toList();
    });
  }

  public Index withComment(@Nullable String text) {
    return with(fields -> fields.comment = text);
  }

  public IndexDefinition definition() {
    return new IndexDefinition(
        indexId, name, columns, descending, unique && !deferrable(), nullsNotDistinct, predicate);
  }

  /// The same index with other fields.
  private Index with(Consumer<Fields> change) {
    Fields fields = new Fields(this);
    change.accept(fields);
    return fields.index();
  }

  /// The fields of an index that is being made of another. Confined to one thread.
  private static final class Fields {
    String name;
    long indexId;
    List<Integer> columns;
    final List<Boolean> descending;
    List<Boolean> nullsFirst;
    final boolean unique;
    boolean nullsNotDistinct;
    boolean primary;
    boolean constraint;
    @Nullable String comment;
    Timing timing;
    List<IndexCondition> predicate;

    Fields(Index of) {
      name = of.name;
      indexId = of.indexId;
      columns = of.columns;
      descending = of.descending;
      nullsFirst = of.nullsFirst;
      unique = of.unique;
      nullsNotDistinct = of.nullsNotDistinct;
      primary = of.primary;
      constraint = of.constraint;
      comment = of.comment;
      timing = of.timing;
      predicate = of.predicate;
    }

    Index index() {
      return new Index(
          name,
          indexId,
          columns,
          descending,
          nullsFirst,
          unique,
          nullsNotDistinct,
          primary,
          constraint,
          comment,
          timing,
          predicate);
    }
  }
}
