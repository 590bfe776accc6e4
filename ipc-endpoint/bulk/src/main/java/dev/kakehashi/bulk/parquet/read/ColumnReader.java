package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.value.FileValues;

/// Rows of a column in a row group, in their order. Not thread-safe.
interface ColumnReader extends AutoCloseable {
  /// How many of the next rows can be read at once, at least 1.
  int ready(int wanted);

  /// Reads the next rows.
  ///
  /// @param rows at most as many as are ready
  void read(int rows, FileValues into);

  /// Bytes of the file that were read so far.
  long readBytes();

  @Override
  void close();
}
