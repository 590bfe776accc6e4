package dev.kakehashi.tools.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.protocol.value.PgInterval;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class TimesTest {
  @ParameterizedTest
  @CsvSource({
    "20s, PT20S",
    "20, PT20S",
    "500ms, PT0.5S",
    "90m, PT1H30M",
    "2h, PT2H",
    "7d, PT168H",
    "0, PT0S"
  })
  void shouldReadNumbersWithAUnit(String text, Duration expected) {
    assertEquals(expected, new Times().convert(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "s", "-1s", "1.5s", "1 s", "1S", "1w", "1s2", "1234567890"})
  void shouldRefuseWhatIsNoTime(String text) {
    assertThrows(TypeConversionException.class, () -> new Times().convert(text));
  }

  /// In nanoseconds a time of 300 years is no long any more.
  @ParameterizedTest
  @CsvSource({
    "99999999d, 8639999913600000000",
    "999999999h, 3599999996400000000",
    "999999999m, 59999999940000000",
    "999999999ms, 999999999000",
    "1ms, 1000"
  })
  void shouldSendTheLongestTimesWithoutOverflow(String text, long micros) {
    assertEquals(new PgInterval(0, 0, micros), Times.interval(new Times().convert(text)));
  }

  @Test
  void shouldRefuseATimeThatNoIntervalHolds() {
    TypeConversionException refused =
        assertThrows(TypeConversionException.class, () -> new Times().convert("100000000d"));
    assertEquals(
        "\"100000000d\" is too long a time, 99999999d is the longest", refused.getMessage());
    assertNull(Times.interval(null));
  }
}
