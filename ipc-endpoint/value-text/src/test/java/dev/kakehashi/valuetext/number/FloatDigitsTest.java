package dev.kakehashi.valuetext.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Against other ways: exact decimals, and Java's shortest ones. CsvEncoderTest has the output of PostgreSQL for the extremes.
class FloatDigitsTest {
  private static String text(double value) {
    byte[] bytes = new byte[FloatDigits.MAX_BYTES];
    return new String(bytes, 0, FloatDigits.put(bytes, 0, value), StandardCharsets.US_ASCII);
  }

  private static String text(float value) {
    byte[] bytes = new byte[FloatDigits.MAX_BYTES];
    return new String(bytes, 0, FloatDigits.put(bytes, 0, value), StandardCharsets.US_ASCII);
  }

  /// The shortest decimal strictly between the midpoints to the neighbours; of those the nearest.
  private static BigDecimal shortest(BigDecimal exact, BigDecimal below, BigDecimal above) {
    BigDecimal low = exact.add(below).divide(BigDecimal.TWO);
    BigDecimal high = exact.add(above).divide(BigDecimal.TWO);
    for (int digits = 1; ; digits++) {
      // Next to a power of two the nearest may be outside while the other is not.
      for (RoundingMode mode :
          new RoundingMode[] {RoundingMode.HALF_EVEN, RoundingMode.DOWN, RoundingMode.UP}) {
        BigDecimal rounded = exact.round(new MathContext(digits, mode));
        if (rounded.compareTo(low) > 0 && rounded.compareTo(high) < 0) {
          return rounded.stripTrailingZeros();
        }
      }
    }
  }

  private static void check(double value) {
    double magnitude = Math.abs(value);
    BigDecimal expected =
        shortest(
            new BigDecimal(magnitude),
            new BigDecimal(Math.nextDown(magnitude)),
            new BigDecimal(magnitude).add(new BigDecimal(Math.ulp(magnitude))));
    String text = text(value);
    assertEquals(value, Double.parseDouble(text), 0);
    assertEquals(expected, new BigDecimal(text).abs().stripTrailingZeros(), text);
  }

  private static void check(float value) {
    float magnitude = Math.abs(value);
    BigDecimal expected =
        shortest(
            new BigDecimal(magnitude),
            new BigDecimal(Math.nextDown(magnitude)),
            new BigDecimal(magnitude).add(new BigDecimal(Math.ulp(magnitude))));
    String text = text(value);
    assertEquals(value, Float.parseFloat(text), 0);
    assertEquals(expected, new BigDecimal(text).abs().stripTrailingZeros(), text);
  }

  @Test
  void shouldPrintTheShortestOfRandomDoubles() {
    Random random = new Random(5);
    int printed = 0;
    while (printed < 20_000) {
      double value = Double.longBitsToDouble(random.nextLong());
      // Numbers of usual sizes are quicker to check, and more frequent.
      double usual = (random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(40) - 15);
      double taken = printed % 20 == 0 ? value : usual;
      if (Double.isFinite(taken) && taken != 0) {
        check(taken);
        printed++;
      }
    }
  }

  @Test
  void shouldPrintTheShortestOfRandomFloats() {
    Random random = new Random(6);
    int printed = 0;
    while (printed < 20_000) {
      float value = Float.intBitsToFloat(random.nextInt());
      if (Float.isFinite(value) && value != 0) {
        check(value);
        printed++;
      }
    }
  }

  /// Java's text is the same decimal but for two things: it has two digits at least, and it may be a bound, which is as far from a
  /// neighbour.
  @Test
  void shouldPrintTheDecimalsThatJavaPrints() {
    long seed = Long.getLong("valuetext.seed", 8);
    Random random = new Random(seed);
    int rounds = Integer.getInteger("valuetext.rounds", 20_000);
    for (int i = 0; i < rounds; i++) {
      double wide = Double.longBitsToDouble(random.nextLong());
      float narrow = Float.intBitsToFloat(random.nextInt());
      String where = "seed " + seed + ", round " + i;
      compare(text(wide), Double.toString(wide), where, () -> check(wide));
      compare(text(narrow), Float.toString(narrow), where, () -> check(narrow));
    }
  }

  private static void compare(String ours, String java, String where, Runnable exactly) {
    if (!Character.isDigit(java.charAt(java.length() - 1))) {
      assertEquals(java, ours, where);
    } else if (new BigDecimal(ours).compareTo(new BigDecimal(java)) != 0) {
      exactly.run();
    }
  }

  @Test
  void shouldPrintPowersOfTwo() {
    for (int exponent = -1074; exponent <= 1023; exponent++) {
      check(Math.scalb(1.0, exponent));
    }
    for (int exponent = -149; exponent <= 127; exponent++) {
      check(Math.scalb(1.0f, exponent));
    }
  }

  @Test
  void shouldPrintShortDecimalsAsTheyAre() {
    Random random = new Random(7);
    for (int i = 0; i < 20_000; i++) {
      BigDecimal decimal = BigDecimal.valueOf(random.nextInt(1_000_000_000), random.nextInt(10));
      assertEquals(
          decimal.stripTrailingZeros(),
          new BigDecimal(text(decimal.doubleValue())).stripTrailingZeros());
    }
  }

  @Test
  void shouldPrintWholeNumbersWithoutExponentBelow15Digits() {
    assertEquals("999999999999999", text(999_999_999_999_999.0));
    assertEquals("1e+15", text(1e15));
    assertEquals("999999", text(999_999f));
    assertEquals("1e+06", text(1e6f));
    assertEquals("-0", text(-0.0));
    assertEquals("0", text(0f));
    assertEquals("0.0001", text(0.0001));
    assertEquals("1e-05", text(0.00001));
    assertTrue(text(-Double.MIN_NORMAL).length() <= FloatDigits.MAX_BYTES);
  }
}
