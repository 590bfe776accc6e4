package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.NumericType;
import dev.kakehashi.bulk.parquet.thrift.LogicalKind;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.TypeOid;

/// Form of a column, or of the elements of one, in the file.
///
/// @param form how values lie in a row batch
/// @param kind how they lie in the file
/// @param precision of a decimal
/// @param scale of a decimal
record LeafForm(int typeOid, ValueForm form, Kind kind, int precision, int scale, boolean isEnum) {
  private static final int INT_DIGITS = 9;
  private static final int LONG_DIGITS = 18;
  private static final int WIDE_DIGITS = 38;
  private static final int UUID_BYTES = 16;
  private static final int DECIMAL_BYTES = 16;
  private static final int WIDE_DECIMAL_BYTES = 32;

  /// How values lie in the file.
  enum Kind {
    BOOL,
    INT32,
    INT64,
    FLOAT,
    DOUBLE,
    /// A decimal of up to 18 digits.
    SHORT_DECIMAL,
    /// A decimal of up to 76.
    LONG_DECIMAL,
    UUID,
    /// The bytes as they are.
    BYTES,
    /// The value as PostgreSQL writes it.
    TEXT,
    /// Months, days and microseconds.
    INTERVAL
  }

  /// The form of a column that is no array, or of the elements of one.
  ///
  /// @param typeOid of the elements
  static LeafForm of(LoadColumn column, int typeOid, ParquetOptions options) {
    boolean isEnum = !column.labels().isEmpty();
    ValueForm form = isEnum ? ValueForm.TEXT : ValueForm.of(typeOid);
    boolean text =
        (options.textColumns().contains(column.name()) && form != ValueForm.TEXT)
            || (options.infinity() == Infinity.TEXT && hasSpecials(form, column));
    if (text) {
      return new LeafForm(typeOid, form, Kind.TEXT, 0, 0, false);
    }
    if (form == ValueForm.NUMERIC) {
      return numeric(typeOid, column.typeModifier(), options);
    }
    Kind kind =
        switch (form) {
          case BOOL -> Kind.BOOL;
          case INT2, INT4, DATE -> Kind.INT32;
          case INT8, TIME, TIMESTAMP, TIMESTAMPTZ -> Kind.INT64;
          case FLOAT4 -> Kind.FLOAT;
          case FLOAT8 -> Kind.DOUBLE;
          case INTERVAL -> Kind.INTERVAL;
          case UUID -> Kind.UUID;
          case NUMERIC -> Kind.TEXT;
          case BYTEA, TEXT, JSON, ARRAY -> Kind.BYTES;
        };
    return new LeafForm(typeOid, form, kind, 0, 0, isEnum);
  }

  /// Whether a type has values that its form in Parquet does not have.
  private static boolean hasSpecials(ValueForm form, LoadColumn column) {
    return switch (form) {
      case DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> true;
      case NUMERIC -> column.typeModifier() >= 0;
      default -> false;
    };
  }

  private static LeafForm numeric(int typeOid, int typeModifier, ParquetOptions options) {
    int precision = 0;
    int scale = 0;
    NumericType chosen = options.numericAs();
    if (typeModifier >= 0) {
      precision = TypeName.precision(typeModifier);
      scale = TypeName.scale(typeModifier);
    } else if (chosen != null) {
      precision = chosen.precision();
      scale = chosen.scale();
    }
    // Readers do not agree on other scales.
    if (precision == 0 || precision > NumericType.MAX_PRECISION || scale < 0 || scale > precision) {
      return new LeafForm(typeOid, ValueForm.NUMERIC, Kind.TEXT, 0, 0, false);
    }
    Kind kind = precision <= LONG_DIGITS ? Kind.SHORT_DECIMAL : Kind.LONG_DECIMAL;
    return new LeafForm(typeOid, ValueForm.NUMERIC, kind, precision, scale, false);
  }

  /// Physical type of the only leaf.
  int physical() {
    return switch (kind) {
      case BOOL -> Physical.BOOLEAN;
      case INT32 -> Physical.INT32;
      case INT64, INTERVAL -> Physical.INT64;
      case FLOAT -> Physical.FLOAT;
      case DOUBLE -> Physical.DOUBLE;
      case SHORT_DECIMAL -> precision <= INT_DIGITS ? Physical.INT32 : Physical.INT64;
      case LONG_DECIMAL, UUID -> Physical.FIXED;
      case BYTES, TEXT -> Physical.BYTE_ARRAY;
    };
  }

  /// Bytes of a FIXED value.
  int width() {
    return switch (kind) {
      case UUID -> UUID_BYTES;
      case LONG_DECIMAL -> precision <= WIDE_DIGITS ? DECIMAL_BYTES : WIDE_DECIMAL_BYTES;
      default -> 0;
    };
  }

  ValueOrder order() {
    return switch (kind) {
      case FLOAT -> ValueOrder.FLOAT;
      case DOUBLE -> ValueOrder.DOUBLE;
      case LONG_DECIMAL -> ValueOrder.DECIMAL;
      case UUID -> ValueOrder.BYTES;
      case BYTES -> form == ValueForm.BYTEA ? ValueOrder.BYTES : ValueOrder.TEXT;
      case TEXT -> ValueOrder.TEXT;
      default -> ValueOrder.SIGNED;
    };
  }

  /// The element of the schema of the only leaf.
  SchemaNode node(String name) {
    SchemaNode plain =
        SchemaNode.leaf(name, physical(), width(), Physical.OPTIONAL, LogicalKind.NONE);
    return switch (kind) {
      case BOOL, FLOAT, DOUBLE, INTERVAL -> plain;
      case INT32 ->
          form == ValueForm.DATE
              ? with(plain, LogicalKind.DATE)
              : plain.integer(typeOid == TypeOid.INT2 ? 16 : 32);
      case INT64 ->
          switch (form) {
            case TIME -> with(plain, LogicalKind.TIME).micros(false);
            case TIMESTAMP -> with(plain, LogicalKind.TIMESTAMP).micros(false);
            case TIMESTAMPTZ -> with(plain, LogicalKind.TIMESTAMP).micros(true);
            default -> plain.integer(64);
          };
      case SHORT_DECIMAL, LONG_DECIMAL -> plain.decimal(precision, scale);
      case UUID -> with(plain, LogicalKind.UUID);
      case TEXT -> with(plain, LogicalKind.STRING);
      case BYTES ->
          switch (form) {
            case BYTEA -> plain;
            case JSON -> with(plain, LogicalKind.JSON);
            default -> with(plain, isEnum ? LogicalKind.ENUM : LogicalKind.STRING);
          };
    };
  }

  private static SchemaNode with(SchemaNode plain, LogicalKind kind) {
    return SchemaNode.leaf(
        plain.name(), plain.physical(), plain.length(), plain.repetition(), kind);
  }
}
