package dev.kakehashi.bulk.format;

import org.jspecify.annotations.Nullable;

/// A file as rows, in parts. Thread-safe.
public interface RowsFile extends AutoCloseable {
  /// Columns of its rows: indices into those that it was opened with.
  int[] columns();

  /// Draws the next part; null: there is no more. Where parts begin depends on the file and the format's options alone.
  @Nullable RowsPart next();

  /// Frees memory; the file is its owner's.
  @Override
  void close();
}
