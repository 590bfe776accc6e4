package dev.kakehashi.valuetext.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.value.PgNumeric;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Input of numbers. Scripts of the engine compare it with PostgreSQL.
class NumberTextTest {
  private static String read(String type, String text) {
    return switch (type) {
      case "smallint" ->
          String.valueOf(IntegerText.parse(text, type, Short.MIN_VALUE, Short.MAX_VALUE));
      case "bigint" ->
          String.valueOf(IntegerText.parse(text, type, Long.MIN_VALUE, Long.MAX_VALUE));
      case "real" -> FloatText.toText(FloatText.parse4(text));
      case "double precision" -> FloatText.toText(FloatText.parse8(text));
      default -> {
        PgNumeric number = DecimalText.parse(text);
        yield number.kind() == PgNumeric.Kind.FINITE
            ? number.bigDecimal().toPlainString()
            : number.kind().toString();
      }
    };
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "smallint | ' -32768\t' | -32768",
        "smallint | +007 | 7",
        "bigint | -9223372036854775808 | -9223372036854775808",
        "bigint | 9223372036854775807 | 9223372036854775807",
        "real | ' .5' | 0.5",
        "real | 1e-45 | 1e-45",
        "double precision | 5. | 5",
        "double precision | '+1.5E+3 ' | 1500",
        "double precision | -0 | -0",
        "double precision | 0x1.8p1 | 3",
        "double precision | 0X10 | 16",
        "double precision | +inf | Infinity",
        "double precision | ' -Infinity' | -Infinity",
        "real | nAn | NaN",
        "numeric | ' 1.50 ' | 1.50",
        "numeric | -1.5e3 | -1500",
        "numeric | 1e-3 | 0.001",
        "numeric | 0e5 | 0",
        "numeric | INF | POSITIVE_INFINITY",
        "numeric | -infinity | NEGATIVE_INFINITY",
        "numeric | NaN | NAN"
      })
  void shouldReadWhatPostgresReads(String type, String text, String expected) {
    assertEquals(expected, read(type, text));
  }

  private static String failure(String type, String text) {
    EngineException e = assertThrows(EngineException.class, () -> read(type, text), text);
    return e.code().sqlstate() + " " + e.getMessage();
  }

  @Test
  void shouldRefuseWhatIsNoNumber() {
    for (String text :
        List.of("", " ", "-", "+-1", "1e", ".", "e5", "1.2.3", "1 1", "0x", "in", "1d", "\u0663")) {
      for (String type : List.of("smallint", "bigint", "real", "double precision", "numeric")) {
        assertEquals(
            "22P02 invalid input syntax for type " + type + ": \"" + text + "\"",
            failure(type, text));
      }
    }
    assertEquals("22P02", failure("numeric", "0x10").substring(0, 5));
    assertEquals("22P02", failure("bigint", "1.0").substring(0, 5));
    // PostgreSQL's bound of an exponent.
    assertEquals("22P02", failure("numeric", "1e1073741823").substring(0, 5));
    assertEquals("22P02", failure("numeric", "1e99999999999").substring(0, 5));
  }

  @Test
  void shouldRefuseWhatIsOutOfRange() {
    assertEquals(
        "22003 value \"32768\" is out of range for type smallint", failure("smallint", "32768"));
    assertEquals(
        "22003 value \"-9223372036854775809\" is out of range for type bigint",
        failure("bigint", "-9223372036854775809"));
    assertEquals(
        "22003 value \"99999999999999999999\" is out of range for type bigint",
        failure("bigint", "99999999999999999999"));
    assertEquals("22003 \"1e39\" is out of range for type real", failure("real", "1e39"));
    assertEquals("22003 \"1e-50\" is out of range for type real", failure("real", "1e-50"));
    assertEquals(
        "22003 \"-1e400\" is out of range for type double precision",
        failure("double precision", "-1e400"));
    assertEquals("22003 value overflows numeric format", failure("numeric", "1e131072"));
    assertEquals("22003 value overflows numeric format", failure("numeric", "1e-16384"));
    assertEquals(131_072, DecimalText.finite("1e131071").precision());
    assertEquals(BigDecimal.ZERO.setScale(16_383), DecimalText.finite("1e-200000"));
  }
}
