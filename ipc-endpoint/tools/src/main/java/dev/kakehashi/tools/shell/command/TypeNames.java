package dev.kakehashi.tools.shell.command;

import dev.kakehashi.protocol.TypeOid;

/// Names of types, as format_type() of PostgreSQL gives them.
final class TypeNames {
  private static final int HEADER_BYTES = 4;

  private TypeNames() {}

  static String of(int oid, int modifier) {
    int element = TypeOid.element(oid);
    if (element != TypeOid.UNSPECIFIED) {
      return of(element, modifier) + "[]";
    }
    return switch (oid) {
      case TypeOid.BOOL -> "boolean";
      case TypeOid.BYTEA -> "bytea";
      case TypeOid.INT8 -> "bigint";
      case TypeOid.INT2 -> "smallint";
      case TypeOid.INT4 -> "integer";
      case TypeOid.TEXT -> "text";
      case TypeOid.FLOAT4 -> "real";
      case TypeOid.FLOAT8 -> "double precision";
      case TypeOid.BPCHAR -> modifier < 0 ? "bpchar" : "character" + length(modifier);
      case TypeOid.VARCHAR -> "character varying" + length(modifier);
      case TypeOid.DATE -> "date";
      case TypeOid.TIME -> "time" + precision(modifier) + " without time zone";
      case TypeOid.TIMESTAMP -> "timestamp" + precision(modifier) + " without time zone";
      case TypeOid.TIMESTAMPTZ -> "timestamp" + precision(modifier) + " with time zone";
      case TypeOid.TIMETZ -> "time" + precision(modifier) + " with time zone";
      case TypeOid.INTERVAL -> "interval";
      case TypeOid.NUMERIC -> "numeric" + digits(modifier);
      case TypeOid.UUID -> "uuid";
      case TypeOid.CHAR -> "\"char\"";
      case TypeOid.NAME -> "name";
      case TypeOid.JSON -> "json";
      case TypeOid.JSONB -> "jsonb";
      default -> "type " + oid;
    };
  }

  private static String length(int modifier) {
    return modifier < HEADER_BYTES ? "" : "(" + (modifier - HEADER_BYTES) + ")";
  }

  private static String precision(int modifier) {
    return modifier < 0 ? "" : "(" + modifier + ")";
  }

  private static String digits(int modifier) {
    if (modifier < HEADER_BYTES) {
      return "";
    }
    int both = modifier - HEADER_BYTES;
    int scale = ((both & 0x7ff) ^ 1024) - 1024;
    return "(" + (both >>> 16 & 0xffff) + "," + scale + ")";
  }
}
