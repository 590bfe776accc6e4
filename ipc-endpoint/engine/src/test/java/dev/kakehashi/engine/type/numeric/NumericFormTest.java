package dev.kakehashi.engine.type.numeric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HexFormat;
import java.util.List;
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

  /// Long texts, which are read group by group, against BigDecimal.
  @Test
  void shouldReadLongTexts() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    Random random = new Random(seed);
    try (VarHeap heap = new VarHeap()) {
      for (int i = 0; i < 2_000; i++) {
        heap.reset();
        StringBuilder text = new StringBuilder(List.of("", "-", "+").get(random.nextInt(3)));
        text.repeat('0', random.nextInt(3) * random.nextInt(700));
        int digits = 1001 + random.nextInt(3000);
        for (int d = 0; d < digits; d++) {
          text.append((char) ('0' + (random.nextInt(4) == 0 ? 0 : random.nextInt(10))));
        }
        text.repeat('0', random.nextInt(3) * random.nextInt(300));
        if (random.nextBoolean()) {
          text.insert(text.length() - random.nextInt(1000), '.');
        }
        if (random.nextInt(3) == 0) {
          text.append(random.nextBoolean() ? 'e' : 'E').append(random.nextInt(4000) - 2000);
        }
        String shown = text + " seed " + seed;
        assertArrayEquals(
            Varlena.bytes(NumericForm.of(heap, new BigDecimal(text.toString()))),
            Varlena.bytes(NumericConversion.parse(text.toString(), heap)),
            shown);
      }
    }
  }

  @Test
  void shouldWriteTheDigitsThatBigDecimalWrites() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    Random random = new Random(seed);
    try (VarHeap heap = new VarHeap()) {
      for (int i = 0; i < 20_000; i++) {
        heap.reset();
        BigInteger unscaled = new BigInteger(random.nextInt(400), random);
        unscaled = unscaled.multiply(BigInteger.TEN.pow(random.nextInt(3) * random.nextInt(20)));
        int scale = random.nextInt(3) * random.nextInt(100);
        BigDecimal decimal =
            new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), scale);
        assertEquals(
            decimal.toPlainString(),
            NumericConversion.toText(NumericForm.of(heap, decimal)),
            "seed " + seed);
      }
    }
  }

  @Test
  void shouldKnowTheLimitsInLongTexts() {
    String digits = "7".repeat(131_072);
    try (VarHeap heap = new VarHeap()) {
      for (String text :
          List.of(digits, "-" + digits, "000" + digits + ".5", "." + "0".repeat(2000) + "1e2001")) {
        assertArrayEquals(
            Varlena.bytes(NumericForm.of(heap, new BigDecimal(text))),
            Varlena.bytes(NumericConversion.parse(text, heap)),
            text.substring(0, 10));
      }
      assertBytes("0".repeat(5000), "0080");
      assertBytes("-0." + "0".repeat(5000), "8813" + "0000");
      assertBytes("0".repeat(2000) + "e1000000", "0080");
      for (String text :
          List.of(
              digits + "7",
              digits + "e1",
              "1" + "0".repeat(1000) + "e131072",
              "0." + "0".repeat(16_383) + "1")) {
        EngineException failure =
            assertThrows(EngineException.class, () -> NumericConversion.parse(text, heap));
        assertEquals("22003", failure.code().sqlstate());
      }
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
