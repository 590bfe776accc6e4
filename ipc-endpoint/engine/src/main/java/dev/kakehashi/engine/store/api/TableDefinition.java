package dev.kakehashi.engine.store.api;

import java.util.List;

/// The physical side of a table: kinds of its columns and its indexes.
///
/// @param tableId unique in the store, never used again
/// @param columns one per column, in order
/// @param notNull whether column i refuses null (checked by the caller; the store relies on it for keys)
/// @param indexes the primary key first when there is one
/// @param placement where the columns lie in the rows: the store's own affair, which keeps it when the table is defined anew
public record TableDefinition(
    long tableId,
    List<ColumnKind> columns,
    List<Boolean> notNull,
    List<IndexDefinition> indexes,
    Placement placement) {

  /// That of a new table.
  public TableDefinition(
      long tableId,
      List<ColumnKind> columns,
      List<Boolean> notNull,
      List<IndexDefinition> indexes) {
    this(tableId, columns, notNull, indexes, Placement.of(columns, true));
  }

  /// The same form, lying elsewhere in the rows.
  public TableDefinition withPlacement(Placement other) {
    return new TableDefinition(tableId, columns, notNull, indexes, other);
  }

  /// An index.
  ///
  /// @param indexId unique in the store, never used again
  /// @param name for error messages: the constraint or index name
  /// @param columns positions of the key columns
  /// @param descending per key column
  /// @param unique whether two live rows of the index with equal keys are refused
  /// @param nullsNotDistinct whether keys with nulls are equal, too
  /// @param predicate what a row has to fulfil, all of it, to be in the index
  public record IndexDefinition(
      long indexId,
      String name,
      List<Integer> columns,
      List<Boolean> descending,
      boolean unique,
      boolean nullsNotDistinct,
      List<IndexCondition> predicate) {
    /// An index whose keys with nulls are all unique.
    public IndexDefinition(
        long indexId,
        String name,
        List<Integer> columns,
        List<Boolean> descending,
        boolean unique,
        List<IndexCondition> predicate) {
      this(indexId, name, columns, descending, unique, false, predicate);
    }

    /// An index of all rows.
    public IndexDefinition(
        long indexId,
        String name,
        List<Integer> columns,
        List<Boolean> descending,
        boolean unique) {
      this(indexId, name, columns, descending, unique, List.of());
    }
  }
}
