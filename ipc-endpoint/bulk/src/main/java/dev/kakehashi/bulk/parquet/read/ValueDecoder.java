package dev.kakehashi.bulk.parquet.read;

/// Reads values of a page in their order, without nulls. One of both methods works, as the column's values lie. Not thread-safe.
///
/// Errors are BAD_COPY_FILE_FORMAT: too few values, values that leave the page.
interface ValueDecoder {
  /// Reads the next values that are longs.
  void longs(long[] into, int from, int count);

  /// Reads the next values that are pieces of [#bytes()].
  void pieces(int[] starts, int[] lengths, int from, int count);

  /// What the last pieces are of.
  byte[] bytes();
}
