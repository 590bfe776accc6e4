package dev.kakehashi.engine.embedded.identity;

import java.util.List;

/// Families of types that expressions are built of, with the columns of [IdentityTables] that have them.
enum Kind {
  INTEGER("int", "id i2 i4"),
  BIGINT("bigint", "i8"),
  NUMERIC("numeric", "n nn"),
  FLOAT("double precision", "f4 f8"),
  TEXT("text", "t v"),
  CHAR("char(5)", "c"),
  BYTES("bytea", "y"),
  DATE("date", "d"),
  STAMP("timestamp", "ts"),
  ZONED("timestamptz", "tt"),
  SPAN("interval", "iv"),
  UUID("uuid", "u"),
  BOOL("bool", "b"),
  INTEGERS("int[]", "ai"),
  TEXTS("text[]", "at"),
  DOCUMENT("jsonb", "j");

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

  boolean numeric() {
    return this == INTEGER || this == BIGINT || this == NUMERIC || this == FLOAT;
  }

  /// Whether min and max take it.
  boolean ordered() {
    return switch (this) {
      case BOOL, UUID, BYTES, INTEGERS, TEXTS, DOCUMENT -> false;
      default -> true;
    };
  }

  /// Value that stands for all that are equal to it: 1.0 and 1.00, 0 and -0, a month and 30 days look different.
  String shown(String expression) {
    return switch (this) {
      case NUMERIC -> "trim_scale(" + expression + ")";
      case FLOAT -> "(" + expression + " + 0::double precision)";
      case SPAN -> "justify_interval(" + expression + ")";
      default -> expression;
    };
  }
}
