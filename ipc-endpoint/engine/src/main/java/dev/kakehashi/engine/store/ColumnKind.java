package dev.kakehashi.engine.store;

/// How the store keeps and orders the values of a column. Order is PostgreSQL's default btree order of the type ("C" collation for text).
public enum ColumnKind {
  /// bool, int2/4/8, date, time, timestamp, timestamptz: a signed word.
  INTEGER,
  /// float4: IEEE bits in the low half; NaN greatest, -0 equals 0.
  FLOAT4,
  /// float8: IEEE bits; NaN greatest, -0 equals 0.
  FLOAT8,
  /// text, varchar, bytea: varlena ordered by bytes.
  VARLENA,
  /// bpchar: varlena ordered by bytes without trailing blanks.
  BPCHAR,
  /// numeric: varlena ordered by value; equal values of different scale are equal.
  NUMERIC,
  /// uuid: 16 bytes ordered by bytes.
  UUID,
  /// interval: 16 bytes ordered by its span of time (month = 30 days, day = 24 hours).
  INTERVAL;

  /// Whether the word is an address.
  public boolean byReference() {
    return this != INTEGER && this != FLOAT4 && this != FLOAT8;
  }
}
