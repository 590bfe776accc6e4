package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;

/// Reads the values of one column from text. Not thread-safe.
///
/// Accepts the texts of PostgreSQL's input functions, with blanks around numbers, dates and the like. Dates and times without a zone
/// are in UTC. The type's modifier is applied as for an assignment.
public abstract class TextColumn implements AutoCloseable {
  /// Sets the column's value in the batch's last row.
  ///
  /// @param bytes with padding behind `to`
  /// @throws EngineException with PostgreSQL's SQLSTATE for text that is none of the type
  public abstract void set(byte[] bytes, int from, int to, TextBatch batch, int column);

  /// Gives back memory.
  @Override
  public void close() {
    // Most hold none.
  }

  /// @param context whose memory it reserves
  /// @throws EngineException FEATURE_NOT_SUPPORTED for a type without text form
  public static TextColumn of(LoadColumn column, BulkContext context) {
    if (!column.labels().isEmpty()) {
      return new TextToEnum(column.typeName(), column.labels());
    }
    return of(column.typeOid(), column.typeModifier(), context);
  }

  static TextColumn of(int typeOid, int modifier, BulkContext context) {
    return switch (typeOid) {
      case TypeOid.BOOL -> new TextToBool();
      case TypeOid.INT2 -> new TextToInteger("smallint", Short.MIN_VALUE, Short.MAX_VALUE);
      case TypeOid.INT4 -> new TextToInteger("integer", Integer.MIN_VALUE, Integer.MAX_VALUE);
      case TypeOid.INT8 -> new TextToInteger("bigint", Long.MIN_VALUE, Long.MAX_VALUE);
      case TypeOid.FLOAT4 -> new TextToFloat(true);
      case TypeOid.FLOAT8 -> new TextToFloat(false);
      case TypeOid.NUMERIC -> new TextToNumeric(modifier);
      case TypeOid.DATE, TypeOid.TIME, TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ ->
          new TextToTime(typeOid, modifier, context::now);
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR, TypeOid.NAME, TypeOid.CHAR ->
          new TextToString(typeOid, modifier);
      case TypeOid.UUID -> new TextToUuid();
      case TypeOid.BYTEA -> new TextToBytea();
      case TypeOid.INTERVAL -> new TextToInterval(modifier);
      case TypeOid.TIMETZ -> new TextToTimetz(modifier, context::now);
      case TypeOid.JSON, TypeOid.JSONB -> new TextToJson(typeOid, context);
      default -> {
        int element = TypeOid.element(typeOid);
        if (element == TypeOid.UNSPECIFIED) {
          throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "type " + TypeName.of(typeOid, -1) + " cannot be read from text");
        }
        yield new TextToArray(element, modifier, context);
      }
    };
  }
}
