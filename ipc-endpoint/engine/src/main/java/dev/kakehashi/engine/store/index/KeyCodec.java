package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.vector.CompactWord;

/// Encodes key values so that unsigned comparison of the bytes is the index's order, and so that no key is a prefix of another key of the
/// same index. Immutable, thread-safe.
///
/// | kind | bytes |
/// |---|---|
/// | nullable column | 1 before a value, 2 alone for null: nulls come last, or first when descending |
/// | INTEGER | 1 that has the sign and says how many come, then 0 to 8 |
/// | FLOAT4, FLOAT8 | 4, 8; negative ones complemented, others with the sign bit flipped; one NaN, one zero |
/// | VARLENA, BPCHAR | the bytes with 0 as `00 FF`, then `00 00` |
/// | NUMERIC | class; for finite ones weight and base-10000 digits without outer zeros, complemented when negative |
/// | UUID | its 16 bytes |
/// | INTERVAL | its span in microseconds as 16 bytes, sign bit flipped |
///
/// The bytes of a descending column are complemented.
public final class KeyCodec {
  private static final int NOT_NULL = 1;
  private static final int NULL = 2;
  private static final int NUMERIC_DIGIT_BYTES = 2;
  private static final int NUMERIC_ZERO = 3;

  /// Lowest bit of each byte of a word, and the highest one.
  private static final long LOW_BITS = 0x0101_0101_0101_0101L;

  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private final ColumnKind[] kinds;
  private final int[] columns;
  private final boolean[] nullable;
  private final boolean[] descending;

  public KeyCodec(TableDefinition table, IndexDefinition index) {
    int count = index.columns().size();
    kinds = new ColumnKind[count];
    columns = new int[count];
    nullable = new boolean[count];
    descending = new boolean[count];
    for (int i = 0; i < count; i++) {
      int column = index.columns().get(i);
      columns[i] = table.placement().position(column);
      kinds[i] = table.columns().get(column);
      nullable[i] = !table.notNull().get(column);
      descending[i] = index.descending().get(i);
    }
  }

  public int keyColumns() {
    return columns.length;
  }

  /// Stored column of key column `i`.
  public int column(int i) {
    return columns[i];
  }

  /// Appends the next key column's value.
  public void append(KeyBuffer to, int keyColumn, long word, boolean isNull) {
    int from = to.length;
    if (nullable[keyColumn]) {
      to.putByte(isNull ? NULL : NOT_NULL);
    }
    if (!isNull) {
      appendValue(to, kinds[keyColumn], word);
    }
    if (descending[keyColumn]) {
      complement(to, from);
    }
  }

  /// Appends the next key column's value.
  ///
  /// @param word of a row in the store
  public void appendStored(KeyBuffer to, int keyColumn, long word, boolean isNull) {
    if (isNull || !kinds[keyColumn].byReference()) {
      append(to, keyColumn, word, isNull);
      return;
    }
    if (!CompactWord.isCompact(word)) {
      append(to, keyColumn, StoredWord.address(word), false);
      return;
    }
    int from = to.length;
    if (nullable[keyColumn]) {
      to.putByte(NOT_NULL);
    }
    appendCompact(to, kinds[keyColumn], word);
    if (descending[keyColumn]) {
      complement(to, from);
    }
  }

  /// Computes the range of encoded entries `[from, to)`.
  ///
  /// @return bit 0 set: `from` is a bound; bit 1 set: `to` is a bound
  public int encodeRange(KeyRange range, KeyBuffer from, KeyBuffer to) {
    from.length = 0;
    for (int i = 0; i < range.equalColumns(); i++) {
      append(from, i, range.values()[i], range.isNull(i));
    }
    to.set(from);
    int at = range.equalColumns();
    if (!range.hasLower() && !range.hasUpper()) {
      return (from.length > 0 ? 1 : 0) | (to.length > 0 && to.toSuccessor() ? 2 : 0);
    }
    // A lower value comes later in a descending index. Where one bound is missing, the
    // marker of not-null stands in for it.
    boolean swap = descending[at];
    boolean hasFrom = swap ? range.hasUpper() : range.hasLower();
    boolean hasTo = swap ? range.hasLower() : range.hasUpper();
    boolean fromInclusive = swap ? range.upperInclusive() : range.lowerInclusive();
    boolean toInclusive = swap ? range.lowerInclusive() : range.upperInclusive();
    boolean bounded = true;
    if (hasFrom) {
      append(from, at, swap ? range.upper() : range.lower(), false);
      bounded = fromInclusive || from.toSuccessor();
    } else {
      appendNotNull(from, at);
    }
    if (!bounded) {
      // Nothing is greater than a key of 0xFF alone, and no entry is equal to it without a row
      // identifier: an empty range.
      from.putByte(0xFF);
      to.length = 0;
      return 1 | 2;
    }
    boolean open = hasTo && toInclusive;
    if (hasTo) {
      append(to, at, swap ? range.lower() : range.upper(), false);
    } else {
      appendNotNull(to, at);
      open = true;
    }
    boolean toBounded = to.length > 0 && (!open || to.toSuccessor());
    return (from.length > 0 ? 1 : 0) | (toBounded ? 2 : 0);
  }

  private void appendNotNull(KeyBuffer to, int keyColumn) {
    if (nullable[keyColumn]) {
      to.putByte(descending[keyColumn] ? ~NOT_NULL : NOT_NULL);
    }
  }

  /// Appends a value of a row in the store, of a column that is not nullable and ascending.
  public static void appendStoredValue(KeyBuffer to, ColumnKind kind, long word) {
    if (kind.byReference() && CompactWord.isCompact(word)) {
      appendCompact(to, kind, word);
    } else {
      appendValue(to, kind, kind.byReference() ? StoredWord.address(word) : word);
    }
  }

  /// Appends a value of a column that is not nullable and ascending.
  ///
  /// @param word of a by-reference value: its address
  public static void appendValue(KeyBuffer to, ColumnKind kind, long word) {
    switch (kind) {
      case INTEGER -> to.putInteger(word);
      case FLOAT4 -> {
        float value = Float.intBitsToFloat((int) word);
        int bits = Float.floatToIntBits(value == 0 ? 0f : value);
        to.putInt(bits < 0 ? ~bits : bits ^ Integer.MIN_VALUE);
      }
      case FLOAT8 -> {
        double value = Double.longBitsToDouble(word);
        long bits = Double.doubleToLongBits(value == 0 ? 0d : value);
        to.putLong(bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
      }
      case VARLENA -> appendBytes(to, word + 4, VarlenaLengths.bytes(word) - 4);
      case BPCHAR -> {
        int length = VarlenaLengths.bytes(word) - 4;
        while (length > 0 && Native.getByte(word + 3 + length) == ' ') {
          length--;
        }
        appendBytes(to, word + 4, length);
      }
      case NUMERIC -> appendNumeric(to, word);
      case UUID -> {
        to.putLong(Long.reverseBytes(Native.getLongUnaligned(word)));
        to.putLong(Long.reverseBytes(Native.getLongUnaligned(word + 8)));
      }
      case INTERVAL -> appendInterval(to, word);
      default -> throw new IllegalArgumentException(kind + " is the kind of no column");
    }
  }

  /// As [#appendValue], of a value that lies in its word.
  static void appendCompact(KeyBuffer to, ColumnKind kind, long word) {
    if (CompactWord.isNumeric(word)) {
      CompactWord.Digits digits = new CompactWord.Digits(word);
      if (digits.count == 0) {
        to.putByte(NUMERIC_ZERO);
        return;
      }
      int from = beginNumeric(to, digits.negative, digits.weight);
      for (int i = 0; i < digits.count; i++) {
        to.putShort(digits.digit(i) + 1);
      }
      endNumeric(to, digits.negative, from);
      return;
    }
    long bytes = CompactWord.bytes(word);
    int count = CompactWord.count(word);
    while (kind == ColumnKind.BPCHAR
        && count > 0
        && (byte) (bytes >>> (Byte.SIZE * (count - 1))) == ' ') {
      count--;
    }
    for (int i = 0; i < count; i++) {
      byte value = (byte) (bytes >>> (Byte.SIZE * i));
      to.putByte(value);
      if (value == 0) {
        to.putByte(0xFF);
      }
    }
    to.putShort(0);
  }

  private static void appendBytes(KeyBuffer to, long address, int length) {
    int from = 0;
    for (int zero = zeroFrom(address, 0, length); zero < length; ) {
      int next = zero + 1;
      to.putBytes(address + from, next - from);
      to.putByte(0xFF);
      from = next;
      zero = zeroFrom(address, next, length);
    }
    to.putBytes(address + from, length - from);
    to.putShort(0);
  }

  /// Where the next byte is that is 0; `length` if there is none.
  private static int zeroFrom(long address, int from, int length) {
    int i = from;
    for (; i + Long.BYTES <= length; i += Long.BYTES) {
      long word = Native.getLongUnaligned(address + i);
      // The lowest bit is that of the first byte that is 0; those above it may be of a byte that is
      // 1.
      long zeros = (word - LOW_BITS) & ~word & HIGH_BITS;
      if (zeros != 0) {
        return i + (Long.numberOfTrailingZeros(zeros) >>> 3);
      }
    }
    while (i < length && Native.getByte(address + i) != 0) {
      i++;
    }
    return i;
  }

  private static void appendInterval(KeyBuffer to, long address) {
    long microseconds = Native.getLongUnaligned(address);
    long days = Native.getInt(address + 8) + 30L * Native.getInt(address + 12);
    long dayMicroseconds = 86_400_000_000L;
    long low = days * dayMicroseconds;
    long high = Math.multiplyHigh(days, dayMicroseconds);
    long sum = low + microseconds;
    high += (microseconds >> 63) + (Long.compareUnsigned(sum, low) < 0 ? 1 : 0);
    to.putLong(high ^ Long.MIN_VALUE);
    to.putLong(sum);
  }

  /// PostgreSQL's NumericChoice: 16 bits of header (and 16 of weight in the long form), then base-10000 digits.
  private static void appendNumeric(KeyBuffer to, long address) {
    int bytes = VarlenaLengths.bytes(address);
    int header = Native.getUnsignedShort(address + 4);
    int signBits = header & 0xC000;
    if (signBits == 0xC000) {
      // NaN above everything, then the infinities (PostgreSQL 14 and later).
      to.putByte((header & 0xF000) == 0xD000 ? 5 : (header & 0xF000) == 0xF000 ? 1 : 6);
      return;
    }
    boolean isShort = signBits == 0x8000;
    boolean negative = isShort ? (header & 0x2000) != 0 : signBits == 0x4000;
    int weight;
    long digits;
    if (isShort) {
      weight = (header & 0x40) != 0 ? (header & 0x3F) - 64 : header & 0x3F;
      digits = address + 6;
    } else {
      weight = (short) Native.getUnsignedShort(address + 6);
      digits = address + 8;
    }
    int count = (int) (address + bytes - digits) / NUMERIC_DIGIT_BYTES;
    while (count > 0 && Native.getUnsignedShort(digits) == 0) {
      digits += 2;
      weight--;
      count--;
    }
    while (count > 0 && Native.getUnsignedShort(digits + 2L * (count - 1)) == 0) {
      count--;
    }
    if (count == 0) {
      to.putByte(NUMERIC_ZERO);
      return;
    }
    int from = beginNumeric(to, negative, weight);
    for (int i = 0; i < count; i++) {
      to.putShort(Native.getUnsignedShort(digits + 2L * i) + 1);
    }
    endNumeric(to, negative, from);
  }

  /// @return where what is complemented begins
  private static int beginNumeric(KeyBuffer to, boolean negative, int weight) {
    to.putByte(negative ? 2 : 4);
    int from = to.length;
    to.putShort(weight + 0x8000);
    return from;
  }

  private static void endNumeric(KeyBuffer to, boolean negative, int from) {
    to.putShort(0);
    if (negative) {
      complement(to, from);
    }
  }

  private static void complement(KeyBuffer to, int from) {
    for (int i = from; i < to.length; i++) {
      to.bytes[i] = (byte) ~to.bytes[i];
    }
  }
}
