package dev.kakehashi.protocol.value;

/// A PostgreSQL `interval`: three parts that do not convert into each other.
public record PgInterval(int months, int days, long micros) {
  /// Length in a row batch.
  public static final int BYTES = 16;
}
