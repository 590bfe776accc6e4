package dev.kakehashi.formats;

import dev.kakehashi.protocol.TypeOid;

/// Names of types as PostgreSQL's `format_type()` writes them.
public final class TypeName {
  private static final int MODIFIER_BASE = 4;

  private TypeName() {}

  /// @param typeModifier PostgreSQL's; -1: none
  public static String of(int typeOid, int typeModifier) {
    int element = TypeOid.element(typeOid);
    return element == TypeOid.UNSPECIFIED
        ? scalar(typeOid, typeModifier)
        : scalar(element, typeModifier) + "[]";
  }

  private static String scalar(int typeOid, int typeModifier) {
    return switch (typeOid) {
      case TypeOid.BOOL -> "boolean";
      case TypeOid.BYTEA -> "bytea";
      case TypeOid.CHAR -> "\"char\"";
      case TypeOid.NAME -> "name";
      case TypeOid.INT2 -> "smallint";
      case TypeOid.INT4 -> "integer";
      case TypeOid.INT8 -> "bigint";
      case TypeOid.TEXT -> "text";
      case TypeOid.JSON -> "json";
      case TypeOid.JSONB -> "jsonb";
      case TypeOid.FLOAT4 -> "real";
      case TypeOid.FLOAT8 -> "double precision";
      case TypeOid.UUID -> "uuid";
      case TypeOid.DATE -> "date";
      case TypeOid.VARCHAR -> withLength("character varying", typeModifier);
      case TypeOid.BPCHAR -> withLength(typeModifier < 0 ? "bpchar" : "character", typeModifier);
      case TypeOid.TIME -> withPrecision("time", typeModifier, " without time zone");
      case TypeOid.TIMETZ -> withPrecision("time", typeModifier, " with time zone");
      case TypeOid.TIMESTAMP -> withPrecision("timestamp", typeModifier, " without time zone");
      case TypeOid.TIMESTAMPTZ -> withPrecision("timestamp", typeModifier, " with time zone");
      case TypeOid.NUMERIC ->
          typeModifier < 0
              ? "numeric"
              : "numeric(" + precision(typeModifier) + "," + scale(typeModifier) + ")";
      case TypeOid.INTERVAL -> "interval";
      default -> Integer.toString(typeOid);
    };
  }

  /// Precision of a numeric with a modifier.
  public static int precision(int typeModifier) {
    return (typeModifier - MODIFIER_BASE) >>> 16 & 0xFFFF;
  }

  /// Scale of a numeric with a modifier: 11 bits with sign.
  public static int scale(int typeModifier) {
    return (((typeModifier - MODIFIER_BASE) & 0x7FF) ^ 0x400) - 0x400;
  }

  private static String withLength(String name, int typeModifier) {
    return typeModifier < MODIFIER_BASE ? name : name + "(" + (typeModifier - MODIFIER_BASE) + ")";
  }

  private static String withPrecision(String name, int typeModifier, String zone) {
    return typeModifier < 0 ? name + zone : name + "(" + typeModifier + ")" + zone;
  }
}
