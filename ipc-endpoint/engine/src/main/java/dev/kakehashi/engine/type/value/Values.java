package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.ByteStrings;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SearchOrder;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.json.JsonWords;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.number.FloatText;
import dev.kakehashi.valuetext.number.IntegerText;
import dev.kakehashi.valuetext.time.Clock;
import dev.kakehashi.valuetext.time.DateTimeFormat;
import dev.kakehashi.valuetext.time.DateTimeInput;
import dev.kakehashi.valuetext.time.Zone;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.UUID;
import java.util.function.LongSupplier;

/// Words from Java values and text, and back. By-reference words are fresh in the given heap. Thread-safe, as far as the heap is.
public final class Values {
  private static final int UUID_BYTES = 16;

  private Values() {}

  public static long ofBoolean(boolean value) {
    return value ? 1 : 0;
  }

  public static long ofFloat4(float value) {
    return FloatMath.word(value);
  }

  public static long ofFloat8(double value) {
    return FloatMath.word(value);
  }

  /// text, varchar; bpchar if it has its blanks already.
  public static long ofText(String value, VarHeap heap) {
    return Varlena.of(heap, value);
  }

  public static long ofBytes(byte[] value, VarHeap heap) {
    return Varlena.of(heap, value);
  }

  /// numeric, with the scale of the argument as display scale.
  public static long ofDecimal(BigDecimal value, VarHeap heap) {
    return NumericForm.of(heap, value);
  }

  /// numeric without fraction.
  public static long ofDecimal(long value, VarHeap heap) {
    return NumericFast.encode(heap, value, 0);
  }

  public static long ofUuid(UUID value, VarHeap heap) {
    long address = heap.allocate(UUID_BYTES);
    RawMemory.putLongBigEndian(address, value.getMostSignificantBits());
    RawMemory.putLongBigEndian(address + 8, value.getLeastSignificantBits());
    return address;
  }

  public static long ofInterval(int months, int days, long micros, VarHeap heap) {
    return Intervals.of(heap, months, days, micros);
  }

  /// Copies a by-reference value to another heap; other words are returned as they are.
  public static long copy(int oid, long word, VarHeap heap) {
    return switch (Types.kind(oid)) {
      case INTEGER, FLOAT4, FLOAT8 -> word;
      case UUID, INTERVAL -> heap.copy(word, UUID_BYTES);
      default -> heap.copy(word, Varlena.totalBytes(word));
    };
  }

  /// Bytes of a by-reference value.
  public static long byteLength(ColumnKind kind, long word) {
    return kind == ColumnKind.UUID || kind == ColumnKind.INTERVAL
        ? UUID_BYTES
        : Varlena.totalBytes(word);
  }

  /// PostgreSQL's output form in UTC.
  public static String toText(int oid, long word) {
    return toText(oid, word, Zone.UTC);
  }

  /// PostgreSQL's output form: DateStyle ISO, IntervalStyle postgres, bytea hex, shortest-precise floats, bool t or f.
  public static String toText(int oid, long word, Zone zone) {
    return switch (oid) {
      case TypeOid.BOOL -> word != 0 ? "t" : "f";
      case TypeOid.INT2, TypeOid.INT4, TypeOid.INT8 -> Long.toString(word);
      case TypeOid.FLOAT4 -> FloatText.toText(FloatMath.ofWord4(word));
      case TypeOid.FLOAT8 -> FloatText.toText(FloatMath.ofWord8(word));
      case TypeOid.NUMERIC -> NumericConversion.toText(word);
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR, Types.UNKNOWN -> Varlena.string(word);
      case TypeOid.BYTEA -> ByteStrings.byteaText(Varlena.bytes(word));
      case Types.RECORD, Types.RECORD_ARRAY -> SearchOrder.text(word);
      case TypeOid.UUID -> ByteStrings.uuidText(RawMemory.bytes(word, UUID_BYTES));
      case TypeOid.DATE -> DateTimeFormat.date(word);
      case TypeOid.TIME -> DateTimeFormat.time(word);
      case TypeOid.TIMESTAMP -> DateTimeFormat.timestamp(word);
      case TypeOid.TIMESTAMPTZ -> DateTimeFormat.timestamptz(word, zone);
      case TypeOid.INTERVAL -> Intervals.toText(word);
      default -> TypeOid.isTextForm(oid) ? Varlena.string(word) : Types.name(oid); // throws
    };
  }

  /// PostgreSQL's input of a type without modifier, in UTC.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException with PostgreSQL's SQLSTATE for text that is not of the type
  public static long parse(int oid, String text, VarHeap heap) {
    return parse(oid, text, heap, Zone.UTC);
  }

  /// PostgreSQL's input of a type without modifier.
  ///
  /// @param zone of times that say none
  /// @throws dev.kakehashi.engine.api.error.EngineException with PostgreSQL's SQLSTATE for text that is not of the type
  public static long parse(int oid, String text, VarHeap heap, Zone zone) {
    return parse(oid, text, heap, zone, Clock::now);
  }

  /// The same with the instant of words such as "now", in microseconds since 2000-01-01 UTC.
  public static long parse(int oid, String text, VarHeap heap, Zone zone, LongSupplier now) {
    return switch (oid) {
      case TypeOid.BOOL -> parseBoolean(text);
      case TypeOid.INT2 -> IntegerText.parse(text, "smallint", Short.MIN_VALUE, Short.MAX_VALUE);
      case TypeOid.INT4 -> IntegerText.parse(text, "integer", Integer.MIN_VALUE, Integer.MAX_VALUE);
      case TypeOid.INT8 -> IntegerText.parse(text, "bigint", Long.MIN_VALUE, Long.MAX_VALUE);
      case TypeOid.FLOAT4 -> FloatMath.word(FloatText.parse4(text));
      case TypeOid.FLOAT8 -> FloatMath.word(FloatText.parse8(text));
      case TypeOid.NUMERIC -> NumericConversion.parse(text, heap);
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR, Types.UNKNOWN -> parseText(text, heap);
      case TypeOid.BYTEA -> Varlena.of(heap, ByteStrings.parseBytea(text));
      case TypeOid.UUID -> {
        long address = heap.allocate(UUID_BYTES);
        RawMemory.copy(ByteStrings.parseUuid(text), address);
        yield address;
      }
      case TypeOid.DATE -> DateTimeInput.date(text, zone, now);
      case TypeOid.TIME -> DateTimeInput.time(text, zone, now);
      case TypeOid.TIMESTAMP -> DateTimeInput.timestamp(text, zone, now);
      case TypeOid.TIMESTAMPTZ -> DateTimeInput.timestamptz(text, zone, now);
      case TypeOid.TIMETZ -> Varlena.of(heap, DateTimeInput.timeWithZone(text, -1, zone, now));
      case TypeOid.INTERVAL -> Intervals.parse(text, heap);
      default -> {
        if (oid == TypeOid.JSON || oid == TypeOid.JSONB) {
          yield Varlena.of(heap, JsonWords.canonical(oid, text));
        }
        if (TypeOid.isTextForm(oid)) {
          yield parseText(text, heap);
        }
        throw SqlErrors.notSupported("type " + Types.name(oid) + " has no input");
      }
    };
  }

  private static long parseText(String text, VarHeap heap) {
    if (text.indexOf('\0') >= 0) {
      throw new EngineException(
          ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
          "invalid byte sequence for encoding \"UTF8\": 0x00");
    }
    return Varlena.of(heap, text);
  }

  private static long parseBoolean(String text) {
    String word = Spaces.trim(text).toLowerCase(Locale.ROOT);
    boolean isTrue =
        !word.isEmpty()
            && ("true".startsWith(word)
                || "yes".startsWith(word)
                || word.equals("on")
                || word.equals("1"));
    boolean isFalse =
        !word.isEmpty()
            && ("false".startsWith(word)
                || "no".startsWith(word)
                || word.equals("of")
                || word.equals("off")
                || word.equals("0"));
    if (!isTrue && !isFalse) {
      throw ValueErrors.invalidSyntax("boolean", text);
    }
    return isTrue ? 1 : 0;
  }

  /// @throws EngineException INVALID_TEXT_REPRESENTATION or NUMERIC_VALUE_OUT_OF_RANGE
  static int parseInt4(String text) {
    return (int) IntegerText.parse(text, "integer", Integer.MIN_VALUE, Integer.MAX_VALUE);
  }
}
