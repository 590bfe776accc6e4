package dev.kakehashi.protocol.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PgNumericTest {
  private static PgNumeric decode(byte[] bytes) {
    return PgNumeric.decode(MemorySegment.ofArray(bytes), 0, bytes.length);
  }

  /// Expected bytes worked out from numeric.c's comments, words in little-endian order.
  @ParameterizedTest
  @CsvSource({
    "0, 0080",
    "0.00, 0081",
    "1, 00800100",
    "-1, 00a00100",
    "10000, 01800100",
    "12345, 018001002909",
    "0.5, ff808813",
    "0.0001, 7f820100"
  })
  void shouldEncodeAsPostgresqlDoes(String text, String hex) {
    assertEquals(hex, HexFormat.of().formatHex(PgNumeric.encode(new BigDecimal(text))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-0.10",
        "1e10",
        "1E+300",
        "1e-300",
        "9999",
        "99999999.9999",
        "123456789012345678901234567890.123456789",
        "-0.000000000000000000000000000000000000000000000000000000000000000000001",
        "9223372036854775807",
        "9223372036854775808"
      })
  void shouldReadBackWhatItWrote(String text) {
    BigDecimal number = new BigDecimal(text);
    BigDecimal expected = number.scale() < 0 ? number.setScale(0) : number;
    assertEquals(expected, decode(PgNumeric.encode(number)).bigDecimal());
  }

  @Test
  void shouldReadBackRandomNumbers() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      BigDecimal number =
          new BigDecimal(new BigInteger(random.nextInt(200), random), random.nextInt(100));
      if (random.nextBoolean()) {
        number = number.negate();
      }
      assertEquals(number, decode(PgNumeric.encode(number)).bigDecimal(), "seed " + seed);
    }
  }

  @Test
  void shouldCarrySpecialValues() {
    for (PgNumeric special :
        new PgNumeric[] {PgNumeric.NAN, PgNumeric.POSITIVE_INFINITY, PgNumeric.NEGATIVE_INFINITY}) {
      assertEquals(special, decode(special.encode()));
      assertThrows(ArithmeticException.class, special::bigDecimal);
    }
    assertEquals("00c0", HexFormat.of().formatHex(PgNumeric.NAN.encode()));
    assertEquals("00d0", HexFormat.of().formatHex(PgNumeric.POSITIVE_INFINITY.encode()));
    assertEquals("00f0", HexFormat.of().formatHex(PgNumeric.NEGATIVE_INFINITY.encode()));
  }

  @Test
  void shouldReadLongFormOfSmallNumbers() {
    byte[] longForm = HexFormat.of().parseHex("0200" + "0000" + "0100" + "8813");
    assertEquals(new BigDecimal("1.50"), decode(longForm).bigDecimal());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "00", "0000", "008010", "00801027", "00e0"})
  void shouldRefuseWhatIsNoNumeric(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    assertThrows(IllegalArgumentException.class, () -> decode(bytes));
  }

  @Test
  void shouldRefuseScaleBeyondFormat() {
    assertThrows(ArithmeticException.class, () -> PgNumeric.encode(BigDecimal.valueOf(1, 16_384)));
  }
}
