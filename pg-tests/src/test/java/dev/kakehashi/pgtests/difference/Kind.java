package dev.kakehashi.pgtests.difference;

import java.util.List;

/// Families of types that expressions are built of, with the columns of [Tables] that have them.
enum Kind {
  INTEGER("int4", "id i2 i4 dm"),
  BIGINT("int8", "i8"),
  NUMERIC("numeric", "n nn"),
  FLOAT("float8", "f4 f8"),
  TEXT("text", "t v"),
  CHAR("char(5)", "c"),
  BYTES("bytea", "by"),
  DATE("date", "d"),
  TIME("time", "tm"),
  STAMP("timestamp", "ts"),
  ZONED("timestamptz", "tt"),
  SPAN("interval", "iv"),
  UUID("uuid", "u"),
  BOOL("bool", "b"),
  INTEGERS("int4[]", "ai"),
  TEXTS("text[]", "at"),
  /// The types that the engine only keeps, or knows less of.
  KEPT("", "ch na tz j jb ai at e");

  private final String type;
  private final String columns;

  Kind(String type, String columns) {
    this.type = type;
    this.columns = columns;
  }

  String type() {
    return type;
  }

  List<String> columns() {
    return List.of(columns.split(" ", -1));
  }

  /// Whether equal values of an expression may look different (1.0 and 1.00, 0 and -0, a month and 30 days), so that which
  /// one a group shows is nobody's promise.
  boolean ambiguous() {
    return this == NUMERIC || this == FLOAT || this == SPAN;
  }

  boolean array() {
    return this == INTEGERS || this == TEXTS;
  }

  boolean numeric() {
    return this == INTEGER || this == BIGINT || this == NUMERIC || this == FLOAT;
  }
}
