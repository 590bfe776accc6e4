package dev.kakehashi.protocol.capability;

/// A type of PostgreSQL whose values an engine may keep without loss: microseconds, infinity, NaN, numeric without a bound, every byte of a
/// text. The numbers are those of the bits in the protocol: new ones come last.
///
/// A column of another type is refused when a table is imported, and never narrowed.
public enum StoredType {
  BOOLEAN(0, "boolean"),
  SMALLINT(1, "smallint"),
  INTEGER(2, "integer"),
  BIGINT(3, "bigint"),
  REAL(4, "real"),
  DOUBLE_PRECISION(5, "double precision"),
  NUMERIC(6, "numeric"),
  TEXT(7, "text"),
  VARCHAR(8, "character varying"),
  CHAR(9, "character"),
  BYTEA(10, "bytea"),
  DATE(11, "date"),
  TIME(12, "time"),
  TIMETZ(13, "time with time zone"),
  TIMESTAMP(14, "timestamp"),
  TIMESTAMPTZ(15, "timestamp with time zone"),
  INTERVAL(16, "interval"),
  UUID(17, "uuid"),
  JSON(18, "json"),
  JSONB(19, "jsonb"),
  /// `"char"` and `name`, which PostgreSQL uses in its catalogues.
  NAME(20, "name"),
  /// Arrays of the others that it keeps.
  ARRAY(21, "arrays");

  private final int number;
  private final String title;

  StoredType(int number, String title) {
    this.number = number;
    this.title = title;
  }

  /// As PostgreSQL calls it.
  public String title() {
    return title;
  }

  /// Its bit.
  long bit() {
    return 1L << number;
  }
}
