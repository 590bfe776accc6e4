package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.TypeOid;

/// pg_type.typname, which names output columns of casts.
public final class PgTypeNames {
  private PgTypeNames() {}

  public static String internalName(int oid) {
    return switch (oid) {
      case TypeOid.BOOL -> "bool";
      case TypeOid.INT2 -> "int2";
      case TypeOid.INT4 -> "int4";
      case TypeOid.INT8 -> "int8";
      case TypeOid.FLOAT4 -> "float4";
      case TypeOid.FLOAT8 -> "float8";
      case TypeOid.VARCHAR -> "varchar";
      case TypeOid.BPCHAR -> "bpchar";
      case TypeOid.TIME -> "time";
      case TypeOid.TIMESTAMP -> "timestamp";
      case TypeOid.TIMESTAMPTZ -> "timestamptz";
      case TypeOid.TIMETZ -> "timetz";
      default -> Types.name(oid);
    };
  }
}
