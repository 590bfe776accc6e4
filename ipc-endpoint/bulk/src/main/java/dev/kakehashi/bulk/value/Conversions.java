package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Calendars;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Which types of a file go into which columns.
///
/// | column | takes |
/// |---|---|
/// | bool | bool |
/// | integers | integers in their range, decimals and floats that are whole |
/// | float4, float8 | numbers that they hold exactly; decimals whose shortest form they are |
/// | numeric | all numbers |
/// | date | date, timestamp at midnight |
/// | time | time |
/// | timestamp, timestamptz | timestamp with or without UTC, date, INT96; a zone is UTC |
/// | interval | all intervals |
/// | uuid | uuid, 16 bytes |
/// | bytea | bytes, uuid |
/// | json, jsonb | json, text |
/// | text types | all, as PostgreSQL writes them; bytes if they are UTF-8 |
/// | arrays | lists of what goes into their elements |
///
/// Text goes into every type, null into all.
final class Conversions {
  private static final long UNIX_EPOCH_DAYS = Calendars.UNIX_EPOCH_DAYS;
  private static final long UNIX_EPOCH_MICROS = UNIX_EPOCH_DAYS * Calendars.MICROS_PER_DAY;

  private final FileType type;
  private final LoadColumn column;
  private final ValueOptions options;
  private final BulkContext context;

  private Conversions(FileType type, LoadColumn column, ValueOptions options, BulkContext context) {
    this.type = type;
    this.column = column;
    this.options = options;
    this.context = context;
  }

  static ColumnInput of(
      FileType type, LoadColumn column, ValueOptions options, BulkContext context) {
    ColumnInput input = new Conversions(type, column, options, context).input();
    if (input == null) {
      throw new EngineException(
              ErrorCode.DATATYPE_MISMATCH,
              "column \"%s\" is of type %s but the file has %s"
                  .formatted(column.name(), column.typeName(), type))
          .withColumn(column.name());
    }
    return input;
  }

  private @Nullable ColumnInput input() {
    if (type.kind() == Kind.NULL) {
      return new NullInput();
    }
    if (!column.labels().isEmpty()) {
      return isText() ? new TextColumnInput(column, true) : null;
    }
    ValueForm form = ValueForm.of(column.typeOid());
    return switch (form) {
      case BOOL -> type.kind() == Kind.BOOL ? linear(0, 1, 1, 0) : parsed();
      case INT2 -> integer(Short.MIN_VALUE, Short.MAX_VALUE);
      case INT4 -> integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
      case INT8 -> integer(Long.MIN_VALUE, Long.MAX_VALUE);
      case FLOAT4 -> floating(false);
      case FLOAT8 -> floating(true);
      case NUMERIC -> numeric();
      case DATE -> date();
      case TIME -> rounded(time());
      case TIMESTAMP, TIMESTAMPTZ -> rounded(timestamp());
      case INTERVAL -> interval();
      case UUID -> isUuid() ? new UuidColumnInput(column.name()) : parsed();
      case BYTEA -> bytes();
      case TEXT -> text();
      case JSON -> type.kind() == Kind.JSON || isText() ? new ParsedInput(column, context) : null;
      case ARRAY -> array();
    };
  }

  private boolean isText() {
    return type.kind() == Kind.TEXT;
  }

  private @Nullable ColumnInput parsed() {
    return isText() ? new ParsedInput(column, context) : null;
  }

  private @Nullable ColumnInput rounded(@Nullable ColumnInput input) {
    return input == null ? parsed() : RoundedInput.of(input, column.typeModifier());
  }

  private ColumnInput linear(long min, long max, long factor, long offset) {
    return linear(min, max, factor, offset, this::numberOutOfRange);
  }

  private ColumnInput linear(
      long min, long max, long factor, long offset, LongFunction<EngineException> refused) {
    return new LinearInput(column.name(), min, max, factor, offset, refused);
  }

  private EngineException numberOutOfRange(long value) {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        "value \"%s\" is out of range for type %s"
            .formatted(
                type.kind() == Kind.UINT ? Long.toUnsignedString(value) : Long.toString(value),
                column.typeName()));
  }

  private EngineException timeOutOfRange(long value) {
    return new EngineException(ErrorCode.DATETIME_OVERFLOW, column.typeName() + " out of range")
        .withDetail("The file has " + value + " as " + type + ".");
  }

  private @Nullable ColumnInput integer(long min, long max) {
    return switch (type.kind()) {
      case INT -> linear(min, max, 1, 0);
      case UINT -> linear(0, max, 1, 0);
      case DECIMAL ->
          type.scale() == 0
              ? linear(min, max, 1, 0)
              : new IntegerInput(column.name(), type.kind(), column.typeName(), min, max);
      case FLOAT, DECIMAL_BIG_ENDIAN, DECIMAL_LITTLE_ENDIAN ->
          new IntegerInput(column.name(), type.kind(), column.typeName(), min, max);
      default -> parsed();
    };
  }

  private @Nullable ColumnInput floating(boolean isDouble) {
    return switch (type.kind()) {
      case FLOAT ->
          isDouble
              ? linear(Long.MIN_VALUE, Long.MAX_VALUE, 1, 0)
              : new FloatInput(column.name(), type.kind(), false);
      case INT, UINT, DECIMAL, DECIMAL_BIG_ENDIAN, DECIMAL_LITTLE_ENDIAN ->
          new FloatInput(column.name(), type.kind(), isDouble);
      default -> parsed();
    };
  }

  private @Nullable ColumnInput numeric() {
    return switch (type.kind()) {
      case INT, UINT, FLOAT, DECIMAL, DECIMAL_BIG_ENDIAN, DECIMAL_LITTLE_ENDIAN, TEXT ->
          new NumericInput(column.name(), type.kind(), column.typeModifier());
      default -> null;
    };
  }

  private @Nullable ColumnInput date() {
    return switch (type.kind()) {
      case DATE ->
          linear(
              Calendars.MIN_DATE + UNIX_EPOCH_DAYS,
              Calendars.END_DATE + UNIX_EPOCH_DAYS - 1,
              1,
              -UNIX_EPOCH_DAYS,
              this::timeOutOfRange);
      case TIMESTAMP, INT96 ->
          new TimeColumnInput(column.name(), type, TimeColumnInput.Target.DATE, options);
      default -> parsed();
    };
  }

  private @Nullable ColumnInput time() {
    if (type.kind() != Kind.TIME) {
      return null;
    }
    return type.units() == TimeUnits.MICROS
        ? linear(0, Calendars.MICROS_PER_DAY, 1, 0, this::timeOutOfRange)
        : new TimeColumnInput(column.name(), type, TimeColumnInput.Target.TIME, options);
  }

  private @Nullable ColumnInput timestamp() {
    return switch (type.kind()) {
      case DATE ->
          linear(
              Calendars.MIN_DATE + UNIX_EPOCH_DAYS,
              Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY + UNIX_EPOCH_DAYS - 1,
              Calendars.MICROS_PER_DAY,
              -UNIX_EPOCH_MICROS,
              this::timeOutOfRange);
      case TIMESTAMP ->
          type.units() == TimeUnits.MICROS
              ? linear(
                  Calendars.MIN_TIMESTAMP + UNIX_EPOCH_MICROS,
                  lastTimestamp(),
                  1,
                  -UNIX_EPOCH_MICROS,
                  this::timeOutOfRange)
              : new TimeColumnInput(column.name(), type, TimeColumnInput.Target.TIMESTAMP, options);
      case INT96 ->
          new TimeColumnInput(column.name(), type, TimeColumnInput.Target.TIMESTAMP, options);
      default -> null;
    };
  }

  /// The last timestamp of PostgreSQL is later than a long of microseconds since 1970 reaches.
  private static long lastTimestamp() {
    return Math.min(Calendars.END_TIMESTAMP - 1, Long.MAX_VALUE - UNIX_EPOCH_MICROS)
        + UNIX_EPOCH_MICROS;
  }

  private @Nullable ColumnInput interval() {
    return switch (type.kind()) {
      case INTERVAL_MONTHS,
          INTERVAL_DAYS_MILLIS,
          INTERVAL_UNSIGNED,
          INTERVAL_NANOS,
          INTERVAL_MICROS ->
          new IntervalColumnInput(column.name(), type.kind(), options);
      default -> parsed();
    };
  }

  private boolean isUuid() {
    return type.kind() == Kind.UUID
        || (type.kind() == Kind.FIXED && type.bits() == Byte.SIZE * UuidColumnInput.BYTES);
  }

  private @Nullable ColumnInput bytes() {
    return switch (type.kind()) {
      case BYTES, FIXED, UUID -> new BytesColumnInput(column.name());
      default -> parsed();
    };
  }

  private @Nullable ColumnInput text() {
    return switch (column.typeOid()) {
      case TypeOid.CHAR, TypeOid.NAME, TypeOid.TIMETZ -> parsed();
      default ->
          switch (type.kind()) {
            case TEXT, JSON, BYTES -> new TextColumnInput(column, true);
            default -> new TextColumnInput(column, false);
          };
    };
  }

  private @Nullable ColumnInput array() {
    int elementOid = TypeOid.element(column.typeOid());
    FileType item = type.item();
    LoadColumn element =
        new LoadColumn(
            column.name(),
            elementOid,
            column.typeModifier(),
            TypeName.of(elementOid, column.typeModifier()),
            true,
            List.of());
    if (item == null) {
      return parsed();
    }
    ColumnInput each = new Conversions(item, element, options, context).input();
    return each == null ? null : new ListColumnInput(column.name(), each, elementOid, context);
  }
}
