package dev.kakehashi.formats;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.TypeOid;
import org.apache.arrow.flatbuf.Binary;
import org.apache.arrow.flatbuf.Bool;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Interval;
import org.apache.arrow.flatbuf.IntervalUnit;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Utf8;
import org.jspecify.annotations.Nullable;

/// A field of an Arrow schema: a column, or the elements of one.
///
/// @param precision of a decimal; 0: it is none
/// @param scale of a decimal
/// @param item the elements of an array; null: it is none
public record ArrowField(
    String name,
    int typeOid,
    int typeModifier,
    ValueForm form,
    int precision,
    int scale,
    @Nullable ArrowField item) {
  /// Digits of Decimal128 and Decimal256.
  private static final int DECIMAL_128_DIGITS = 38;

  private static final int DECIMAL_256_DIGITS = 76;

  public static ArrowField of(Statement.Column column) {
    return of(column.name(), column.typeOid(), column.typeModifier());
  }

  private static ArrowField of(String name, int typeOid, int typeModifier) {
    ValueForm form = ValueForm.of(typeOid);
    int precision = 0;
    int scale = 0;
    if (form == ValueForm.NUMERIC && typeModifier >= 0) {
      int digits = TypeName.precision(typeModifier);
      int places = TypeName.scale(typeModifier);
      // Arrow's readers do not agree on other scales; those are texts.
      if (digits <= DECIMAL_256_DIGITS && places >= 0 && places <= digits) {
        precision = digits;
        scale = places;
      }
    }
    ArrowField item =
        form == ValueForm.ARRAY ? of("item", TypeOid.element(typeOid), typeModifier) : null;
    return new ArrowField(name, typeOid, typeModifier, form, precision, scale, item);
  }

  /// The field with its values as PostgreSQL writes them. It keeps the name of its type.
  public ArrowField asText() {
    return new ArrowField(name, typeOid, typeModifier, ValueForm.TEXT, 0, 0, null);
  }

  /// Bytes of a value of fixed length; 0: its length varies; -1: it is a bit.
  public int width() {
    return switch (form) {
      case BOOL -> -1;
      case INT2 -> 2;
      case INT4, FLOAT4, DATE -> 4;
      case INT8, FLOAT8, TIME, TIMESTAMP, TIMESTAMPTZ -> 8;
      case INTERVAL, UUID -> 16;
      case NUMERIC -> precision == 0 ? 0 : precision <= DECIMAL_128_DIGITS ? 16 : 32;
      case BYTEA, TEXT, JSON, ARRAY -> 0;
    };
  }

  /// Writes the field into a schema.
  ///
  /// @return where it is
  int write(FlatBufferBuilder builder) {
    int[] children = item == null ? new int[0] : new int[] {item.write(builder)};
    int childrenAt = Field.createChildrenVector(builder, children);
    int metadataAt = Field.createCustomMetadataVector(builder, metadata(builder));
    int nameAt = builder.createString(name);
    int typeAt = type(builder);
    return Field.createField(builder, nameAt, true, typeTag(), typeAt, 0, childrenAt, metadataAt);
  }

  private int[] metadata(FlatBufferBuilder builder) {
    int exact = keyValue(builder, "kakehashi.type", TypeName.of(typeOid, typeModifier));
    String extension =
        switch (form) {
          case UUID -> "arrow.uuid";
          case JSON -> "arrow.json";
          default -> "";
        };
    if (extension.isEmpty()) {
      return new int[] {exact};
    }
    return new int[] {
      exact,
      keyValue(builder, "ARROW:extension:name", extension),
      keyValue(builder, "ARROW:extension:metadata", "")
    };
  }

  static int keyValue(FlatBufferBuilder builder, String key, String value) {
    int keyAt = builder.createString(key);
    return KeyValue.createKeyValue(builder, keyAt, builder.createString(value));
  }

  private byte typeTag() {
    return switch (form) {
      case BOOL -> Type.Bool;
      case INT2, INT4, INT8 -> Type.Int;
      case FLOAT4, FLOAT8 -> Type.FloatingPoint;
      case DATE -> Type.Date;
      case TIME -> Type.Time;
      case TIMESTAMP, TIMESTAMPTZ -> Type.Timestamp;
      case INTERVAL -> Type.Interval;
      case UUID -> Type.FixedSizeBinary;
      case NUMERIC -> precision == 0 ? Type.Utf8 : Type.Decimal;
      case BYTEA -> Type.Binary;
      case TEXT, JSON -> Type.Utf8;
      case ARRAY -> Type.List;
    };
  }

  private int type(FlatBufferBuilder builder) {
    return switch (form) {
      case BOOL -> {
        Bool.startBool(builder);
        yield Bool.endBool(builder);
      }
      case INT2, INT4, INT8 -> Int.createInt(builder, 8 * width(), true);
      case FLOAT4 -> FloatingPoint.createFloatingPoint(builder, Precision.SINGLE);
      case FLOAT8 -> FloatingPoint.createFloatingPoint(builder, Precision.DOUBLE);
      case DATE -> Date.createDate(builder, DateUnit.DAY);
      case TIME -> Time.createTime(builder, TimeUnit.MICROSECOND, 64);
      case TIMESTAMP -> Timestamp.createTimestamp(builder, TimeUnit.MICROSECOND, 0);
      case TIMESTAMPTZ ->
          Timestamp.createTimestamp(builder, TimeUnit.MICROSECOND, builder.createString("UTC"));
      case INTERVAL -> Interval.createInterval(builder, IntervalUnit.MONTH_DAY_NANO);
      case UUID -> FixedSizeBinary.createFixedSizeBinary(builder, width());
      case NUMERIC ->
          precision == 0
              ? utf8(builder)
              : Decimal.createDecimal(builder, precision, scale, 8 * width());
      case BYTEA -> {
        Binary.startBinary(builder);
        yield Binary.endBinary(builder);
      }
      case TEXT, JSON -> utf8(builder);
      case ARRAY -> {
        org.apache.arrow.flatbuf.List.startList(builder);
        yield org.apache.arrow.flatbuf.List.endList(builder);
      }
    };
  }

  private static int utf8(FlatBufferBuilder builder) {
    Utf8.startUtf8(builder);
    return Utf8.endUtf8(builder);
  }
}
