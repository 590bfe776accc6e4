package dev.kakehashi.engine.store.api;

import java.util.List;

/// Memory of a table, in bytes. Replaced and deleted versions that are kept for readers do not count.
///
/// @param rows live ones, approximately
/// @param pageBytes pages of rows
/// @param valueBytes values that lie outside of their row, as text does; of a table with many pages an estimate
/// @param indexBytes nodes of its indexes
/// @param columns what of the pages and values each column has; the rest of the pages says who made the rows and when
public record TableMemory(
    long rows, long pageBytes, long valueBytes, long indexBytes, List<OfColumn> columns) {
  /// Memory of a column of the table.
  public record OfColumn(long pageBytes, long valueBytes) {
    public long totalBytes() {
      return pageBytes + valueBytes;
    }
  }

  public long totalBytes() {
    return pageBytes + valueBytes + indexBytes;
  }
}
