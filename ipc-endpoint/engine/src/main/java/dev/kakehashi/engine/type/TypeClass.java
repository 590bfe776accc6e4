package dev.kakehashi.engine.type;

import dev.kakehashi.protocol.TypeOid;

/// pg_type.typcategory, for the choice among overloaded functions.
public enum TypeClass {
  BOOLEAN,
  NUMBER,
  STRING,
  DATE_TIME,
  TIME_SPAN,
  USER,
  UNKNOWN;

  public static TypeClass of(int oid) {
    return switch (oid) {
      case TypeOid.BOOL -> BOOLEAN;
      case TypeOid.INT2,
          TypeOid.INT4,
          TypeOid.INT8,
          TypeOid.FLOAT4,
          TypeOid.FLOAT8,
          TypeOid.NUMERIC ->
          NUMBER;
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR -> STRING;
      case TypeOid.DATE, TypeOid.TIME, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ -> DATE_TIME;
      case TypeOid.INTERVAL -> TIME_SPAN;
      case Types.UNKNOWN -> UNKNOWN;
      default -> USER;
    };
  }

  public static boolean isPreferred(int oid) {
    return switch (oid) {
      case TypeOid.BOOL, TypeOid.FLOAT8, TypeOid.TEXT, TypeOid.TIMESTAMPTZ, TypeOid.INTERVAL ->
          true;
      default -> false;
    };
  }
}
