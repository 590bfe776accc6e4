package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;

/// Puts values of a file's column into a column of a row batch: exact, or refused. Not thread-safe.
public abstract class ColumnInput implements AutoCloseable {
  /// @param context whose memory the scratch of arrays is taken from
  /// @throws dev.kakehashi.engine.api.error.EngineException DATATYPE_MISMATCH when no value of the file's type is one of the column's
  public static ColumnInput of(
      FileType type, LoadColumn column, ValueOptions options, BulkContext context) {
    return Conversions.of(type, column, options, context);
  }

  /// Puts values `from` … into rows 0 … of a batch that has begun. A refused value is noted, and its word is of no meaning.
  ///
  /// Longs of nulls may be overwritten.
  ///
  /// @param index of the column in the batch
  public abstract void put(
      FileValues values, int from, int count, BatchFill batch, int index, RowFailures failures);

  /// Gives memory back.
  @Override
  public void close() {}
}
