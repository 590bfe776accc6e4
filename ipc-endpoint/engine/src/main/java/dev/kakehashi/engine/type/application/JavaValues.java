package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgTime;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.Zone;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Words from and to the objects of native applications; the table is that of [dev.kakehashi.engine.api.application]. Thread-safe, as far
/// as the heap is.
///
/// An infinity of a date or a time is the extreme of its class, such as [Instant#MAX]. An array has one dimension.
public final class JavaValues {
  private static final long NANOS_PER_MICRO = 1000;
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;

  private JavaValues() {}

  /// Whether values of a type can be objects.
  public static boolean isKnown(int oid) {
    return switch (oid) {
      case TypeOid.BOOL,
          TypeOid.INT2,
          TypeOid.INT4,
          TypeOid.INT8,
          TypeOid.FLOAT4,
          TypeOid.FLOAT8,
          TypeOid.NUMERIC,
          TypeOid.TEXT,
          TypeOid.VARCHAR,
          TypeOid.BPCHAR,
          TypeOid.NAME,
          TypeOid.BYTEA,
          TypeOid.DATE,
          TypeOid.TIME,
          TypeOid.TIMESTAMP,
          TypeOid.TIMESTAMPTZ,
          TypeOid.INTERVAL,
          TypeOid.UUID,
          TypeOid.JSON,
          TypeOid.JSONB ->
          true;
      default -> TypeOid.element(oid) != TypeOid.UNSPECIFIED && isKnown(TypeOid.element(oid));
    };
  }

  /// The object of a word that is not null.
  ///
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE, DATETIME_OVERFLOW, INTERVAL_FIELD_OVERFLOW, FEATURE_NOT_SUPPORTED for a value that
  ///     its class does not have, and for a type without a class
  public static Object toObject(int oid, long word) {
    return switch (oid) {
      case TypeOid.BOOL -> word != 0;
      case TypeOid.INT2 -> (short) word;
      case TypeOid.INT4 -> (int) word;
      case TypeOid.INT8 -> word;
      case TypeOid.FLOAT4 -> FloatMath.ofWord4(word);
      case TypeOid.FLOAT8 -> FloatMath.ofWord8(word);
      case TypeOid.NUMERIC -> decimal(word);
      case TypeOid.TEXT,
          TypeOid.VARCHAR,
          TypeOid.BPCHAR,
          TypeOid.NAME,
          TypeOid.JSON,
          TypeOid.JSONB ->
          Varlena.string(word);
      case TypeOid.BYTEA -> Varlena.bytes(word);
      case TypeOid.DATE -> PgTime.toDate((int) word);
      case TypeOid.TIME -> time(word);
      case TypeOid.TIMESTAMP -> PgTime.toTimestamp(word);
      case TypeOid.TIMESTAMPTZ -> PgTime.toInstant(word);
      case TypeOid.INTERVAL -> duration(word);
      case TypeOid.UUID ->
          new UUID(RawMemory.getLongBigEndian(word), RawMemory.getLongBigEndian(word + 8));
      default -> {
        if (TypeOid.element(oid) == TypeOid.UNSPECIFIED) {
          throw noClass(oid);
        }
        yield elements(TypeOid.element(oid), word);
      }
    };
  }

  private static EngineException noClass(int oid) {
    return SqlErrors.notSupported("type " + Types.name(oid) + " has no class of Java");
  }

  private static BigDecimal decimal(long word) {
    long unscaled = NumericFast.unscaled(word);
    if (unscaled != NumericFast.NOT_FAST) {
      return BigDecimal.valueOf(unscaled, NumericFast.scale(word));
    }
    if (NumericForm.isSpecial(word)) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
          "numeric " + Values.toText(TypeOid.NUMERIC, word) + " has no BigDecimal");
    }
    return NumericForm.toBigDecimal(word);
  }

  private static LocalTime time(long word) {
    if (word == MICROS_PER_DAY) {
      throw ValueErrors.datetimeOverflow("time 24:00:00 has no LocalTime");
    }
    return PgTime.toTime(word);
  }

  private static Duration duration(long word) {
    if (Intervals.months(word) != 0) {
      throw new EngineException(
          ErrorCode.INTERVAL_FIELD_OVERFLOW,
          "interval \"" + Intervals.toText(word) + "\" has months, which a Duration has not");
    }
    long micros = Intervals.micros(word);
    return Duration.ofDays(Intervals.days(word))
        .plusSeconds(micros / MICROS_PER_SECOND)
        .plusNanos(micros % MICROS_PER_SECOND * NANOS_PER_MICRO);
  }

  private static @Nullable Object[] elements(int oid, long word) {
    ArrayValue array = ArrayValue.parse(Varlena.string(word));
    if (array.dimensions() > 1) {
      throw SqlErrors.notSupported("an array of several dimensions has no class of Java");
    }
    @Nullable Object[] objects = new @Nullable Object[array.elements().size()];
    try (VarHeap heap = new VarHeap()) {
      for (int i = 0; i < objects.length; i++) {
        String text = array.elements().get(i);
        objects[i] = text == null ? null : toObject(oid, Values.parse(oid, text, heap));
        heap.reset();
      }
    }
    return objects;
  }

  /// The word of an object; by-reference words are fresh in the heap.
  ///
  /// @throws EngineException DATATYPE_MISMATCH for an object of another class than the type has, and the SQLSTATE of a value that the type
  ///     does not have
  public static long ofObject(int oid, Object value, VarHeap heap) {
    try {
      return word(oid, value, heap);
    } catch (ClassCastException other) {
      throw new EngineException(
          ErrorCode.DATATYPE_MISMATCH,
          "a value of type "
              + Types.name(oid)
              + " cannot be made of class "
              + value.getClass().getName(),
          other);
    } catch (ArithmeticException | DateTimeException beyond) {
      throw outOfRange(oid, value, beyond);
    }
  }

  private static EngineException outOfRange(int oid, Object value, @Nullable Throwable cause) {
    return new EngineException(
        ErrorCode.DATETIME_OVERFLOW, value + " is out of range for type " + Types.name(oid), cause);
  }

  private static long word(int oid, Object value, VarHeap heap) {
    return switch (oid) {
      case TypeOid.BOOL -> Values.ofBoolean((Boolean) value);
      case TypeOid.INT2 -> (Short) value;
      case TypeOid.INT4 -> (Integer) value;
      case TypeOid.INT8 -> (Long) value;
      case TypeOid.FLOAT4 -> FloatMath.word((float) (Float) value);
      case TypeOid.FLOAT8 -> FloatMath.word((double) (Double) value);
      case TypeOid.NUMERIC -> Values.ofDecimal((BigDecimal) value, heap);
      case TypeOid.TEXT,
          TypeOid.VARCHAR,
          TypeOid.BPCHAR,
          TypeOid.NAME,
          TypeOid.JSON,
          TypeOid.JSONB ->
          Values.parse(oid, (String) value, heap);
      case TypeOid.BYTEA -> Values.ofBytes((byte[]) value, heap);
      case TypeOid.DATE -> {
        int days = PgTime.fromDate((LocalDate) value);
        yield inRange(
            oid, days, value, !Calendars.isFiniteDate(days) || Calendars.isValidDate(days));
      }
      case TypeOid.TIME -> PgTime.fromTime((LocalTime) value);
      case TypeOid.TIMESTAMP -> timestamp(oid, PgTime.fromTimestamp((LocalDateTime) value), value);
      case TypeOid.TIMESTAMPTZ -> timestamp(oid, PgTime.fromInstant((Instant) value), value);
      case TypeOid.INTERVAL -> interval((Duration) value, heap);
      case TypeOid.UUID -> Values.ofUuid((UUID) value, heap);
      default -> {
        if (TypeOid.element(oid) == TypeOid.UNSPECIFIED) {
          throw noClass(oid);
        }
        yield array(TypeOid.element(oid), (@Nullable Object[]) value, heap);
      }
    };
  }

  private static long timestamp(int oid, long micros, Object value) {
    return inRange(
        oid, micros, value, !Calendars.isFinite(micros) || Calendars.isValidTimestamp(micros));
  }

  private static long inRange(int oid, long word, Object value, boolean inRange) {
    if (!inRange) {
      throw outOfRange(oid, value, null);
    }
    return word;
  }

  /// Days of 24 hours, and the rest.
  private static long interval(Duration value, VarHeap heap) {
    long days = value.toDays();
    Duration rest = value.minusDays(days);
    return Values.ofInterval(
        0,
        Math.toIntExact(days),
        rest.getSeconds() * MICROS_PER_SECOND + rest.getNano() / NANOS_PER_MICRO,
        heap);
  }

  private static long array(int oid, @Nullable Object[] elements, VarHeap heap) {
    List<@Nullable String> texts = new ArrayList<>(elements.length);
    try (VarHeap own = new VarHeap()) {
      for (Object element : elements) {
        texts.add(
            element == null ? null : Values.toText(oid, ofObject(oid, element, own), Zone.UTC));
        own.reset();
      }
    }
    return Varlena.of(heap, ArrayValue.of(texts).toString());
  }
}
