package dev.kakehashi.engine.vector;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.KeyCodec;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.type.numeric.NumericForm;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A value in a word is the same as in memory, byte by byte, and has the same key in an index. Words hold what they must.
final class CompactWordTest {
  private static final int ROUNDS = 200_000;

  private final VarHeap heap = new VarHeap();

  @AfterEach
  void freeMemory() {
    heap.close();
  }

  private static byte[] bytes(long address, int count) {
    byte[] bytes = new byte[count];
    Native.copyToArray(address, bytes, 0, count);
    return bytes;
  }

  private static byte[] value(long address) {
    return bytes(address, Native.getInt(address) >>> 2);
  }

  private static byte[] key(KeyBuffer key) {
    return Arrays.copyOf(key.bytes, key.length);
  }

  private void assertSame(ColumnKind kind, long address, long word, String what) {
    byte[] value = value(address);
    long copy = heap.allocate(CompactWord.MOST_BYTES);
    assertEquals(value.length, CompactWord.write(word, copy), what);
    assertArrayEquals(value, value(copy), what);
    assertEquals(value.length, CompactWord.memoryBytes(word), what);
    byte[] payload = new byte[value.length + 2];
    assertEquals(value.length - 3, CompactWord.write(word, payload, 1), what);
    assertArrayEquals(
        Arrays.copyOfRange(value, 4, value.length),
        Arrays.copyOfRange(payload, 1, value.length - 3),
        what);
    KeyBuffer expected = new KeyBuffer(16);
    KeyBuffer found = new KeyBuffer(16);
    KeyCodec.appendValue(expected, kind, address);
    KeyCodec.appendStoredValue(found, kind, word);
    assertArrayEquals(key(expected), key(found), what);
  }

  private long varlena(byte[] bytes) {
    long address = heap.allocate(bytes.length + 4L);
    Native.putInt(address, (bytes.length + 4) << 2);
    Native.copyFromArray(bytes, 0, address + 4, bytes.length);
    return address;
  }

  @Test
  void shouldHoldSevenBytes() {
    long seed = ThreadLocalRandom.current().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = new byte[random.nextInt(12)];
      random.nextBytes(bytes);
      for (int b = 0; b < bytes.length && random.nextInt(3) == 0; b++) {
        bytes[random.nextInt(bytes.length)] = (byte) (random.nextBoolean() ? ' ' : 0);
      }
      long address = varlena(bytes);
      long word = CompactWord.ofBytes(address);
      String what = "seed %d: %s".formatted(seed, Arrays.toString(bytes));
      assertEquals(bytes.length <= 7, word != 0, what);
      if (word != 0) {
        assertTrue(CompactWord.isCompact(word), what);
        assertSame(ColumnKind.VARLENA, address, word, what);
        assertSame(ColumnKind.BPCHAR, address, word, what);
      }
      heap.reset();
    }
  }

  private long numeric(BigDecimal value) {
    return NumericForm.of(heap, value.unscaledValue(), value.scale());
  }

  @Test
  void shouldHoldNumericsOfFifteenDigits() {
    long seed = ThreadLocalRandom.current().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < ROUNDS; i++) {
      BigInteger unscaled = new BigInteger(1 + random.nextInt(66), random);
      for (int zeros = random.nextInt(3) == 0 ? random.nextInt(9) : 0; zeros > 0; zeros--) {
        unscaled = unscaled.multiply(BigInteger.TEN);
      }
      int scale = random.nextInt(25);
      BigDecimal value = new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), scale);
      assertNumeric(value, "seed %d: %s".formatted(seed, value.toPlainString()));
      heap.reset();
    }
  }

  @Test
  void shouldHoldNumericsAtTheBounds() {
    for (int scale = 0; scale < 20; scale++) {
      for (int digits = 0; digits < 20; digits++) {
        for (int near = -2; near <= 2; near++) {
          BigInteger unscaled = BigInteger.TEN.pow(digits).add(BigInteger.valueOf(near));
          assertNumeric(new BigDecimal(unscaled, scale), "%s, %d".formatted(unscaled, scale));
          assertNumeric(
              new BigDecimal(unscaled.negate(), scale), "-%s, %d".formatted(unscaled, scale));
        }
      }
      for (int bits = 40; bits < 66; bits++) {
        for (int near = -2; near <= 2; near++) {
          BigInteger unscaled = BigInteger.TWO.pow(bits).add(BigInteger.valueOf(near));
          assertNumeric(new BigDecimal(unscaled, scale), "%s, %d".formatted(unscaled, scale));
        }
      }
    }
  }

  private void assertNumeric(BigDecimal value, String what) {
    long address = numeric(value);
    long word = CompactWord.ofNumeric(address);
    if (value.precision() <= 15 && value.scale() <= 18) {
      assertNotEquals(0, word, what);
    }
    if (word != 0) {
      assertTrue(CompactWord.isNumeric(word), what);
      assertEquals(value, BigDecimal.valueOf(CompactWord.unscaled(word), CompactWord.scale(word)));
      assertSame(ColumnKind.NUMERIC, address, word, what);
    }
  }

  @Test
  void shouldLeaveWhatIsNoNumberInMemory() {
    assertEquals(0, CompactWord.ofNumeric(NumericForm.nan(heap)));
    assertEquals(0, CompactWord.ofNumeric(NumericForm.infinity(heap, false)));
    assertEquals(0, CompactWord.ofNumeric(NumericForm.infinity(heap, true)));
  }
}
