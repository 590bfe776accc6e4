package dev.kakehashi.formats;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;

/// How values of a type lie in a row batch.
public enum ValueForm {
  BOOL,
  INT2,
  INT4,
  INT8,
  FLOAT4,
  FLOAT8,
  DATE,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  /// 16 bytes on the heap.
  INTERVAL,
  /// 16 bytes on the heap.
  UUID,
  NUMERIC,
  BYTEA,
  /// A text, or a value as PostgreSQL writes it that all formats have as text.
  TEXT,
  /// JSON as text.
  JSON,
  /// An array as PostgreSQL writes it.
  ARRAY;

  /// @throws EngineException FEATURE_NOT_SUPPORTED for a type that row batches do not have
  public static ValueForm of(int typeOid) {
    return switch (typeOid) {
      case TypeOid.BOOL -> BOOL;
      case TypeOid.INT2 -> INT2;
      case TypeOid.INT4 -> INT4;
      case TypeOid.INT8 -> INT8;
      case TypeOid.FLOAT4 -> FLOAT4;
      case TypeOid.FLOAT8 -> FLOAT8;
      case TypeOid.DATE -> DATE;
      case TypeOid.TIME -> TIME;
      case TypeOid.TIMESTAMP -> TIMESTAMP;
      case TypeOid.TIMESTAMPTZ -> TIMESTAMPTZ;
      case TypeOid.INTERVAL -> INTERVAL;
      case TypeOid.UUID -> UUID;
      case TypeOid.NUMERIC -> NUMERIC;
      case TypeOid.BYTEA -> BYTEA;
      case TypeOid.TEXT,
          TypeOid.VARCHAR,
          TypeOid.BPCHAR,
          TypeOid.CHAR,
          TypeOid.NAME,
          TypeOid.TIMETZ ->
          TEXT;
      case TypeOid.JSON, TypeOid.JSONB -> JSON;
      default -> {
        if (TypeOid.element(typeOid) != TypeOid.UNSPECIFIED) {
          yield ARRAY;
        }
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED, "type " + typeOid + " has no form in a result");
      }
    };
  }
}
