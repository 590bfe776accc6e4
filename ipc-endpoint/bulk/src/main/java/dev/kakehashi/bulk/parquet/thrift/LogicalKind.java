package dev.kakehashi.bulk.parquet.thrift;

/// Meaning of a column's values beyond their physical type.
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
  /// Kind of a column that has nothing but nulls.
  UNKNOWN,
  /// A kind that this reader does not know.
  OTHER
}
