package dev.kakehashi.engine.type.numeric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The bytes of a numeric are those that PostgreSQL keeps in memory; both ways of writing them agree.
final class NumericFormTest {
  /// Payloads without the varlena header, little-endian; MemoryFormDifferenceTest compares more of them with a server.
  @Test
  void shouldHavePostgresBytes() {
    assertBytes("0", "0080");
    assertBytes("1", "00800100");
    assertBytes("-1", "00a00100");
    assertBytes("1.5", "80800100" + "8813");
    assertBytes("10000", "01800100");
    assertBytes("0.0001", "7f820100");
    assertBytes("123456.78", "0181" + "0c00" + "800d" + "781e");
    assertBytes("NaN", "00c0");
    assertBytes("Infinity", "00d0");
    assertBytes("-Infinity", "00f0");
    // Weight 64 needs the long form.
    assertBytes("1e256", "0000" + "4000" + "0100");
  }

  private static void assertBytes(String text, String hex) {
    try (VarHeap heap = new VarHeap()) {
      long value = NumericConversion.parse(text, heap);
      assertArrayEquals(HexFormat.of().parseHex(hex), Varlena.bytes(value), text);
    }
  }

  @Test
  void shouldEncodeLongsAsBigIntegers() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    Random random = new Random(seed);
    try (VarHeap heap = new VarHeap()) {
      for (int i = 0; i < 20_000; i++) {
        heap.reset();
        long unscaled = random.nextLong() >> random.nextInt(64);
        if (random.nextInt(3) == 0) {
          unscaled = unscaled / 10_000 * 10_000;
        }
        int scale = random.nextInt(40);
        String shown = unscaled + " scale " + scale + " seed " + seed;
        long value = NumericFast.encode(heap, unscaled, scale);
        BigDecimal decimal = BigDecimal.valueOf(unscaled, scale);
        assertEquals(decimal, NumericForm.toBigDecimal(value), shown);
        assertEquals(scale, NumericFast.scale(value), shown);
        long fast = NumericFast.unscaled(value);
        if (fast != NumericFast.NOT_FAST) {
          assertEquals(unscaled, fast, shown);
        }
        // A sum that is too long for the fast path has the same low digits.
        BigInteger large = BigInteger.valueOf(unscaled).add(BigInteger.TEN.pow(40));
        long wide = NumericForm.of(heap, large, scale);
        assertEquals(new BigDecimal(large, scale), NumericForm.toBigDecimal(wide), shown);
      }
    }
  }

  @Test
  void shouldBeFastUpTo18Digits() {
    try (VarHeap heap = new VarHeap()) {
      assertEquals(
          999_999_999_999_999_999L,
          NumericFast.unscaled(NumericConversion.parse("9999999999999999.99", heap)));
      assertEquals(1, NumericFast.unscaled(NumericConversion.parse("0.0000000000000001", heap)));
      assertEquals(
          NumericFast.NOT_FAST, NumericFast.unscaled(NumericConversion.parse("NaN", heap)));
    }
  }
}
