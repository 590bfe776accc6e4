package dev.kakehashi.engine.type;

/// A type as PostgreSQL names it: OID of pg_type and atttypmod (-1: none).
public record SqlType(int oid, int typeModifier) {
  public static SqlType of(int oid) {
    return new SqlType(oid, -1);
  }
}
