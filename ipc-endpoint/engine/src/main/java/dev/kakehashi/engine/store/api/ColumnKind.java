package dev.kakehashi.engine.store.api;

/// How the store keeps and orders the values of a column. Order is PostgreSQL's default btree order of the type ("C" collation for text).
///
/// Kinds from [#JSONB] on are orders of values that the store keeps as [#VARLENA]: no column has such a kind, see [#stored()].
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
  INTERVAL,
  /// jsonb: text, ordered by kinds of values, their number and the values.
  JSONB,
  /// Text of an array of int2/4/8, ordered by elements.
  ARRAY_INTEGER,
  /// Text of an array of float4/8.
  ARRAY_FLOAT,
  /// Text of an array of numeric.
  ARRAY_NUMERIC,
  /// Text of an array of a type whose values are ordered as their texts' bytes are: text, bool, bytea, uuid, time and others.
  ARRAY_TEXT,
  /// Text of an array of bpchar.
  ARRAY_BPCHAR,
  /// Text of an array of date.
  ARRAY_DATE,
  /// Text of an array of timestamp.
  ARRAY_TIMESTAMP,
  /// Text of an array of timestamptz.
  ARRAY_TIMESTAMPTZ,
  /// Text of an array of interval.
  ARRAY_INTERVAL,
  /// Text of an array of jsonb.
  ARRAY_JSONB;

  /// Whether values are texts that are read to be compared.
  public boolean isDocument() {
    return compareTo(JSONB) >= 0;
  }

  /// Kind that a column of such values has in the store.
  public ColumnKind stored() {
    return isDocument() ? VARLENA : this;
  }

  /// Whether the word is an address.
  public boolean byReference() {
    return this != INTEGER && this != FLOAT4 && this != FLOAT8;
  }
}
