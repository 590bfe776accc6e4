package dev.kakehashi.bulk.csv;

/// How the lines of a file end. The first line decides; others in the same file are errors, as for PostgreSQL.
enum LineEnd {
  LF,
  CRLF,
  CR;

  int bytes() {
    return this == CRLF ? 2 : 1;
  }

  /// The last byte.
  byte last() {
    return (byte) (this == CR ? '\r' : '\n');
  }
}
