package dev.kakehashi.engine.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Values in PostgreSQL's order must have keys in the order of bytes, ascending and (reversed) descending.
final class KeyCodecTest {
  private final VarHeap heap = new VarHeap();

  @AfterEach
  void freeMemory() {
    heap.close();
  }

  private static KeyCodec codec(ColumnKind kind, boolean descending) {
    IndexDefinition index = new IndexDefinition(2, "index", List.of(0), List.of(descending), false);
    return new KeyCodec(
        new TableDefinition(1, List.of(kind), List.of(false), List.of(index)), index);
  }

  private static byte[] encode(KeyCodec codec, @Nullable Long word) {
    KeyBuffer key = new KeyBuffer(16);
    codec.append(key, 0, word == null ? 0 : word, word == null);
    return Arrays.copyOf(key.bytes, key.length);
  }

  /// Groups of equal words in ascending order; nulls come after all of them.
  private static void assertOrder(ColumnKind kind, List<List<Long>> groups) {
    for (boolean descending : new boolean[] {false, true}) {
      KeyCodec codec = codec(kind, descending);
      List<@Nullable Long> words = new ArrayList<>();
      List<Integer> ranks = new ArrayList<>();
      for (int rank = 0; rank < groups.size(); rank++) {
        for (Long word : groups.get(rank)) {
          words.add(word);
          ranks.add(rank);
        }
      }
      words.add(null);
      ranks.add(groups.size());
      for (int a = 0; a < words.size(); a++) {
        for (int b = 0; b < words.size(); b++) {
          int wanted = Integer.compare(ranks.get(a), ranks.get(b)) * (descending ? -1 : 1);
          int order =
              Arrays.compareUnsigned(encode(codec, words.get(a)), encode(codec, words.get(b)));
          assertEquals(
              wanted,
              Integer.signum(order),
              kind + " values " + a + " and " + b + " descending " + descending);
        }
      }
    }
  }

  private static List<List<Long>> single(Long... words) {
    return Arrays.stream(words).map(List::of).toList();
  }

  private Long varlena(int... payload) {
    long address = heap.allocate(payload.length + 4L);
    Native.putInt(address, (payload.length + 4) << 2);
    for (int i = 0; i < payload.length; i++) {
      Native.putByte(address + 4 + i, (byte) payload[i]);
    }
    return address;
  }

  private Long text(String text) {
    return varlena(text.chars().toArray());
  }

  /// Short form: sign, display scale, weight, base-10000 digits.
  private Long shortNumeric(boolean negative, int scale, int weight, int... digits) {
    int header = 0x8000 | (negative ? 0x2000 : 0) | scale << 7 | (weight & 0x7F);
    int[] payload = new int[2 + 2 * digits.length];
    putShort(payload, 0, header);
    for (int i = 0; i < digits.length; i++) {
      putShort(payload, 2 + 2 * i, digits[i]);
    }
    return varlena(payload);
  }

  private Long longNumeric(boolean negative, int scale, int weight, int... digits) {
    int[] payload = new int[4 + 2 * digits.length];
    putShort(payload, 0, (negative ? 0x4000 : 0) | scale);
    putShort(payload, 2, weight);
    for (int i = 0; i < digits.length; i++) {
      putShort(payload, 4 + 2 * i, digits[i]);
    }
    return varlena(payload);
  }

  private Long specialNumeric(int header) {
    int[] payload = new int[2];
    putShort(payload, 0, header);
    return varlena(payload);
  }

  private static void putShort(int[] payload, int at, int value) {
    payload[at] = value & 0xFF;
    payload[at + 1] = value >>> 8 & 0xFF;
  }

  private Long interval(long microseconds, int days, int months) {
    long address = heap.allocate(16);
    Native.putLong(address, microseconds);
    Native.putInt(address + 8, days);
    Native.putInt(address + 12, months);
    return address;
  }

  private Long uuid(int first, int last) {
    long address = heap.allocate(16);
    Native.zero(address, 16);
    Native.putByte(address, (byte) first);
    Native.putByte(address + 15, (byte) last);
    return address;
  }

  @Test
  void shouldOrderIntegers() {
    assertOrder(
        ColumnKind.INTEGER, single(Long.MIN_VALUE, -256L, -1L, 0L, 1L, 255L, 256L, Long.MAX_VALUE));
  }

  @Test
  void shouldOrderFloats() {
    assertOrder(
        ColumnKind.FLOAT8,
        List.of(
            List.of(bits(Double.NEGATIVE_INFINITY)),
            List.of(bits(-1.5)),
            List.of(bits(-Double.MIN_VALUE)),
            List.of(bits(0.0), bits(-0.0)),
            List.of(bits(Double.MIN_VALUE)),
            List.of(bits(2.5)),
            List.of(bits(Double.POSITIVE_INFINITY)),
            List.of(bits(Double.NaN), 0xFFF8000000000001L)));
    assertOrder(
        ColumnKind.FLOAT4,
        List.of(
            List.of(floatBits(-1.5f)),
            List.of(floatBits(0f), floatBits(-0f)),
            List.of(floatBits(1.5f)),
            List.of(floatBits(Float.NaN), 0xFFC00001L)));
  }

  private static Long bits(double value) {
    return Double.doubleToRawLongBits(value);
  }

  private static Long floatBits(float value) {
    return Float.floatToRawIntBits(value) & 0xFFFF_FFFFL;
  }

  @Test
  void shouldOrderStrings() {
    assertOrder(
        ColumnKind.VARLENA,
        single(
            varlena(),
            varlena(0),
            varlena(0, 0),
            varlena(0, 1),
            varlena(1),
            text("a"),
            varlena('a', 0),
            text("a "),
            text("aa"),
            text("ab"),
            varlena(0xFF),
            varlena(0xFF, 0xFF)));
    assertOrder(
        ColumnKind.BPCHAR,
        List.of(
            List.of(text(""), text("   ")),
            List.of(text("a"), text("a   ")),
            List.of(text("a b "), text("a b"))));
  }

  /// They are looked for eight bytes at a time.
  @Test
  void shouldEscapeZerosWhereverTheyAre() {
    Random random = new Random(7);
    for (int length = 0; length < 40; length++) {
      for (int round = 0; round < 50; round++) {
        int[] value = new int[length];
        KeyBuffer expected = new KeyBuffer(16);
        for (int i = 0; i < length; i++) {
          // 1, which borrows from a 0 before it, and 0x80, which has the bit that is looked at.
          value[i] = new int[] {0, 1, 0x80, 0x81, 0xFF}[random.nextInt(5)];
          expected.putByte(value[i]);
          if (value[i] == 0) {
            expected.putByte(0xFF);
          }
        }
        expected.putShort(0);
        KeyBuffer encoded = new KeyBuffer(16);
        KeyCodec.appendValue(encoded, ColumnKind.VARLENA, varlena(value));
        assertEquals(expected.toString(), encoded.toString());
      }
    }
  }

  @Test
  void shouldOrderNumerics() {
    assertOrder(
        ColumnKind.NUMERIC,
        List.of(
            List.of(specialNumeric(0xF000)),
            List.of(longNumeric(true, 0, 100, 1)),
            List.of(shortNumeric(true, 0, 1, 1, 5)),
            List.of(shortNumeric(true, 0, 0, 12)),
            List.of(shortNumeric(true, 1, -1, 5000), longNumeric(true, 3, -1, 5000)),
            List.of(shortNumeric(false, 0, 0), shortNumeric(false, 5, 0)),
            List.of(shortNumeric(false, 1, -1, 5000)),
            List.of(
                shortNumeric(false, 0, 0, 1),
                shortNumeric(false, 4, 0, 1, 0),
                longNumeric(false, 2, 0, 1),
                longNumeric(false, 2, 1, 0, 1)),
            // Digits behind the first one, and a 0 among them.
            List.of(shortNumeric(false, 8, 0, 1, 0, 1)),
            List.of(shortNumeric(false, 4, 0, 1, 1)),
            List.of(shortNumeric(false, 8, 0, 1, 1, 1)),
            List.of(shortNumeric(false, 8, 0, 1, 1, 9999)),
            List.of(shortNumeric(false, 4, 0, 1, 2)),
            List.of(shortNumeric(false, 1, 0, 1, 5000)),
            List.of(shortNumeric(false, 4, 0, 1, 9999)),
            List.of(shortNumeric(false, 0, 0, 7), longNumeric(false, 0, 2, 0, 0, 7)),
            List.of(shortNumeric(false, 0, 0, 9999)),
            List.of(shortNumeric(false, 0, 1, 1)),
            List.of(longNumeric(false, 0, 100, 1)),
            List.of(specialNumeric(0xD000)),
            List.of(specialNumeric(0xC000))));
  }

  @Test
  void shouldOrderUuidsAndIntervals() {
    assertOrder(
        ColumnKind.UUID, single(uuid(0, 0), uuid(0, 1), uuid(1, 0), uuid(0x80, 0), uuid(0xFF, 0)));
    assertOrder(
        ColumnKind.INTERVAL,
        List.of(
            List.of(interval(Long.MIN_VALUE, Integer.MIN_VALUE, Integer.MIN_VALUE)),
            List.of(interval(-1, 0, 0)),
            List.of(interval(0, 0, 0), interval(86_400_000_000L, -1, 0)),
            List.of(interval(1, 0, 0)),
            List.of(interval(0, 30, 0), interval(0, 0, 1)),
            List.of(interval(0, 31, 0)),
            List.of(interval(Long.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE))));
  }

  @Test
  void shouldEncodeRangesThatHoldWhatTheySay() {
    for (boolean descending : new boolean[] {false, true}) {
      KeyCodec codec = codec(ColumnKind.INTEGER, descending);
      for (int bounds = 0; bounds < 16; bounds++) {
        boolean hasLower = (bounds & 1) != 0;
        boolean hasUpper = (bounds & 2) != 0;
        boolean lowerInclusive = (bounds & 4) != 0;
        boolean upperInclusive = (bounds & 8) != 0;
        KeyRange range =
            new KeyRange(0, new long[0], hasLower, -1, lowerInclusive, hasUpper, 1, upperInclusive);
        for (long value : new long[] {Long.MIN_VALUE, -2, -1, 0, 1, 2, Long.MAX_VALUE}) {
          boolean wanted =
              (!hasLower || value > -1 || (lowerInclusive && value == -1))
                  && (!hasUpper || value < 1 || (upperInclusive && value == 1));
          assertEquals(wanted, contains(codec, range, value), range + " " + value);
        }
        assertEquals(!hasLower && !hasUpper, contains(codec, range, null), range + " null");
      }
      assertEquals(true, contains(codec, KeyRange.equal(5), 5L));
      assertEquals(false, contains(codec, KeyRange.equal(5), 6L));
      assertEquals(false, contains(codec, KeyRange.equal(5), null));
      assertEquals(
          false,
          contains(
              codec,
              new KeyRange(0, new long[0], true, Long.MAX_VALUE, false, false, 0, false),
              Long.MAX_VALUE));
    }
  }

  private static boolean contains(KeyCodec codec, KeyRange range, @Nullable Long value) {
    KeyBuffer from = new KeyBuffer(16);
    KeyBuffer to = new KeyBuffer(16);
    int bounds = codec.encodeRange(range, from, to);
    KeyBuffer entry = new KeyBuffer(16);
    codec.append(entry, 0, value == null ? 0 : value, value == null);
    entry.putLong(12345);
    boolean afterFrom =
        (bounds & 1) == 0
            || Arrays.compareUnsigned(entry.bytes, 0, entry.length, from.bytes, 0, from.length)
                >= 0;
    boolean beforeTo =
        (bounds & 2) == 0
            || Arrays.compareUnsigned(entry.bytes, 0, entry.length, to.bytes, 0, to.length) < 0;
    return afterFrom && beforeTo;
  }
}
