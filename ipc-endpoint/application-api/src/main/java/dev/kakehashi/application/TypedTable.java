package dev.kakehashi.application;

import java.util.Optional;
import java.util.stream.Stream;

/// Rows of a table as the transaction of a call sees them. Used by the thread of the call.
///
/// All throw [EngineFailure]: 23505, 23503, 23514, 23502 by constraints, 40001 and 40P01 by what others do, 57014 when the call was
/// canceled.
public interface TypedTable<R extends Record> {
  /// The row of a primary key.
  ///
  /// @param key one value for each of its columns
  Optional<R> find(Object... key);

  /// As [#find], and nobody else may change the row until the transaction ends.
  Optional<R> findForUpdate(Object... key);

  /// Rows whose first columns of an index are these values, in the order of the index. The stream reads as it goes; it is closed with the
  /// call.
  Stream<R> findAll(String index, Object... values);

  /// Rows between two keys of an index, in its order.
  ///
  /// @param from values of the first columns; empty: from the first row
  /// @param to included; empty: to the last row
  Stream<R> range(String index, Object[] from, Object[] to);

  /// All rows, in no order.
  Stream<R> all();

  void insert(R row);

  /// Sets the columns that the record has, of the row with its primary key.
  ///
  /// @return false: there is no such row
  boolean update(R row);

  /// Inserts the row, or updates the one with its primary key.
  void put(R row);

  /// @return false: there is no such row
  boolean delete(Object... key);
}
