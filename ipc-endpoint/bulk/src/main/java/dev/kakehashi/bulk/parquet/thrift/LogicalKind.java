package dev.kakehashi.bulk.parquet.thrift;

/// What values of a column mean beyond their physical type.
public enum LogicalKind {
  NONE,
  STRING,
  MAP,
  LIST,
  ENUM,
  DECIMAL,
  DATE,
  TIME,
  TIMESTAMP,
  INTEGER,
  JSON,
  BSON,
  UUID,
  FLOAT16,
  /// Months, days, milliseconds in 12 bytes.
  INTERVAL,
  /// Of a column that has nothing but nulls.
  UNKNOWN,
  /// A kind that this reader does not know.
  OTHER
}
