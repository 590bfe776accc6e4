package dev.kakehashi.engine.api.application;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A table in a transaction. Used by the thread of its [DirectAccess].
///
/// Rows are arrays of values by the order of [#columns]; a caller that wants few columns says so by [#select].
public interface DirectTable {
  /// @param typeOid PostgreSQL's
  /// @param notNull whether it never has nulls
  /// @param generated whether it is not inserted
  record Column(String name, int typeOid, boolean notNull, boolean generated) {}

  List<Column> columns();

  /// Names of the columns of the primary key; empty: it has none.
  List<String> key();

  /// Columns that the other calls read and write, in this order; all until it is called.
  void select(List<String> columns);

  /// @param values of the primary key's columns
  /// @param lock as FOR UPDATE does
  /// @return null: none
  @Nullable Object @Nullable [] find(Object[] values, boolean lock);

  /// Rows by an index, in its order.
  ///
  /// @param index its name; null: the primary key's
  /// @param from values of the first columns; empty: none
  /// @param to included; empty: none
  Rows range(@Nullable String index, Object[] from, Object[] to);

  Rows all();

  /// Rows, read as they are asked for.
  interface Rows extends AutoCloseable {
    /// @return null: no more
    @Nullable Object @Nullable [] next();

    @Override
    void close();
  }

  void insert(@Nullable Object[] values);

  /// Sets the selected columns of the row with this primary key, but for those of the key.
  ///
  /// @return false: none
  boolean update(@Nullable Object[] values);

  boolean delete(Object[] key);
}
