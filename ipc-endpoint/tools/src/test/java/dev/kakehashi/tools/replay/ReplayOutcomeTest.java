package dev.kakehashi.tools.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayOutcomeTest {
  /// The second of two requests of one transaction that are canceled together may find the transaction failed already.
  @ParameterizedTest
  @CsvSource({
    "'', '', true",
    "23505, 23505, true",
    "57014, 25P02, true",
    "25P02, 57014, true",
    "57014, '', false",
    "'', 25P02, false",
    "23505, 25P02, false",
    "57014, 40001, false"
  })
  void shouldTellOutcomesApart(String then, String now, boolean same) {
    assertEquals(same, Replay.sameOutcome(then, now));
  }
}
