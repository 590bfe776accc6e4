package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayOrder;
import dev.kakehashi.engine.type.json.JsonbOrder;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.type.numeric.NumericOrder;
import dev.kakehashi.engine.type.time.Intervals;

/// Order, equality and hash of every type, as PostgreSQL's default btree and hash operator classes ("C" collation).
///
/// Arrays and jsonb are read for every comparison. None of the words is null. Thread-safe.
public final class Ordering {
  private static final int UUID_BYTES = 16;

  private Ordering() {}

  /// Negative, zero or positive.
  ///
  /// @param oid type of both words
  public static int compare(int oid, long a, long b) {
    return compare(Types.kind(oid), a, b);
  }

  /// Negative, zero or positive.
  public static int compare(ColumnKind kind, long a, long b) {
    return switch (kind) {
      case INTEGER -> Long.compare(a, b);
      case FLOAT4 -> FloatMath.compare(FloatMath.ofWord4(a), FloatMath.ofWord4(b));
      case FLOAT8 -> FloatMath.compare(FloatMath.ofWord8(a), FloatMath.ofWord8(b));
      case VARLENA -> compareVarlena(a, b);
      case BPCHAR -> compareBpchar(a, b);
      case NUMERIC -> NumericOrder.compare(a, b);
      case UUID -> RawMemory.compareBytes(a, UUID_BYTES, b, UUID_BYTES);
      case INTERVAL -> Intervals.compare(a, b);
      case JSONB -> JsonbOrder.compare(a, b);
      default -> ArrayOrder.of(kind).compare(a, b);
    };
  }

  /// Whether the words are equal values.
  public static boolean equal(int oid, long a, long b) {
    return equal(Types.kind(oid), a, b);
  }

  /// Whether the words are equal values.
  public static boolean equal(ColumnKind kind, long a, long b) {
    return switch (kind) {
      case INTEGER -> a == b;
      case VARLENA -> equalVarlena(a, b);
      case UUID ->
          RawMemory.getLong(a) == RawMemory.getLong(b)
              && RawMemory.getLong(a + 8) == RawMemory.getLong(b + 8);
      case FLOAT4, FLOAT8, BPCHAR, NUMERIC, INTERVAL -> compare(kind, a, b) == 0;
      case JSONB -> equalVarlena(a, b) || JsonbOrder.compare(a, b) == 0;
      default -> equalVarlena(a, b) || ArrayOrder.of(kind).equal(a, b);
    };
  }

  /// Equal values hash equally, also 1.0 and 1.00, 0 and -0, `'a'` and `'a '` of bpchar. Not the same on hosts of other byte order.
  public static long hash(int oid, long word) {
    return hash(Types.kind(oid), word);
  }

  /// Hash of a value whose kind is known.
  public static long hash(ColumnKind kind, long word) {
    return switch (kind) {
      case INTEGER -> RawMemory.mix(word);
      case FLOAT4 -> RawMemory.mix(FloatMath.canonicalBits(FloatMath.ofWord4(word)));
      case FLOAT8 -> RawMemory.mix(FloatMath.canonicalBits(FloatMath.ofWord8(word)));
      case VARLENA -> RawMemory.hashBytes(Varlena.data(word), Varlena.length(word));
      case BPCHAR -> RawMemory.hashBytes(Varlena.data(word), bpcharLength(word));
      case NUMERIC -> NumericOrder.hash(word);
      case UUID ->
          RawMemory.mix(RawMemory.getLong(word) ^ RawMemory.mix(RawMemory.getLong(word + 8)));
      case INTERVAL -> RawMemory.mix(Intervals.spanLow(word));
      case JSONB -> JsonbOrder.hash(word);
      default -> ArrayOrder.of(kind).hash(word);
    };
  }

  /// Order of text, varchar and bytea: by unsigned bytes.
  public static int compareVarlena(long a, long b) {
    return RawMemory.compareBytes(
        Varlena.data(a), Varlena.length(a), Varlena.data(b), Varlena.length(b));
  }

  public static boolean equalVarlena(long a, long b) {
    int length = Varlena.length(a);
    return length == Varlena.length(b)
        && RawMemory.equalBytes(Varlena.data(a), Varlena.data(b), length);
  }

  /// Order of bpchar: by unsigned bytes without trailing blanks.
  public static int compareBpchar(long a, long b) {
    return RawMemory.compareBytes(
        Varlena.data(a), bpcharLength(a), Varlena.data(b), bpcharLength(b));
  }

  /// Bytes without trailing blanks.
  public static int bpcharLength(long word) {
    int length = Varlena.length(word);
    long data = Varlena.data(word);
    while (length > 0 && RawMemory.getByte(data + length - 1) == ' ') {
      length--;
    }
    return length;
  }
}
