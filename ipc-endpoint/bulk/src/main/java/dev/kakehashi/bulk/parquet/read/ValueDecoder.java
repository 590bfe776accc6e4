package dev.kakehashi.bulk.parquet.read;

/// Reads values of pages of one encoding in their order, without nulls. One of [#longs] and [#pieces] works, as the column's values lie.
/// Not thread-safe.
///
/// Errors are BAD_COPY_FILE_FORMAT: too few values, values that leave the page.
interface ValueDecoder extends AutoCloseable {
  /// Begins with the values of a page, which lie from `from` to `to`.
  ///
  /// @param most values that there may be; there are fewer if some are null
  void open(byte[] source, int from, int to, int most);

  /// Reads the next values that are longs.
  void longs(long[] into, int from, int count);

  /// Whether the longs are values of the column's type already, and not what the file has.
  default boolean areTyped() {
    return false;
  }

  /// Reads the next values that are pieces of [#bytes()].
  void pieces(int[] starts, int[] lengths, int from, int count);

  /// Bytes that the last pieces are of; none if values are longs.
  byte[] bytes();

  /// How many values may be read at once, so that [#bytes()] do not become too many.
  default int mostAtOnce() {
    return Integer.MAX_VALUE;
  }

  /// Gives its memory back.
  @Override
  default void close() {}
}
