package dev.kakehashi.bulk.parquet.write;

/// How values of a leaf are ordered in statistics.
enum ValueOrder {
  /// Longs by their value.
  SIGNED,
  /// Bits of floats; NaN is left out, zeros are of both signs.
  FLOAT,
  /// Bits of doubles, likewise.
  DOUBLE,
  /// Bytes without sign.
  BYTES,
  /// Bytes of UTF-8 without sign.
  TEXT,
  /// Two's complement of one length, most significant byte first.
  DECIMAL
}
