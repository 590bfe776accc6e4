package dev.kakehashi.protocol;

import static dev.kakehashi.protocol.YieldPause.DEAR_NANOS;
import static dev.kakehashi.protocol.YieldPause.LONGEST_NANOS;
import static dev.kakehashi.protocol.YieldPause.QUIET_NANOS;
import static dev.kakehashi.protocol.YieldPause.SHORTEST_NANOS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class YieldPauseTest {
  private long now = 1_000;
  private final YieldPause pause = new YieldPause(now);

  @Test
  void shouldPauseForLongerWhileEachPauseIsFollowedByADearYield() {
    long expected = SHORTEST_NANOS;
    for (int i = 0; i < 15; i++) {
      assertEquals(expected, pauseAfterADearYield());
      expected = Math.min(LONGEST_NANOS, 2 * expected);
    }
  }

  @Test
  void shouldPauseShortlyAfterAStrayInterruptionHoweverLongThePauseBeforeWas() {
    for (int i = 0; i < 15; i++) {
      pauseAfterADearYield();
    }
    for (int i = 0; i < 3; i++) {
      yieldCheaplyFor(LONGEST_NANOS / 4);
      assertEquals(SHORTEST_NANOS, pauseAfterADearYield());
    }
  }

  @Test
  void shouldNotTakeAFewCheapYieldsForAnIdleProcessor() {
    pauseAfterADearYield();
    yieldCheaplyFor(QUIET_NANOS / 2);
    assertEquals(2 * SHORTEST_NANOS, pauseAfterADearYield());
  }

  private long pauseAfterADearYield() {
    long before = now;
    now += 2 * DEAR_NANOS;
    pause.yielded(before, now);
    long began = now;
    while (!pause.isOver(now)) {
      now += SHORTEST_NANOS / 10;
    }
    return now - began;
  }

  private void yieldCheaplyFor(long nanos) {
    for (long end = now + nanos; now < end; ) {
      long before = now;
      now += DEAR_NANOS / 2;
      pause.yielded(before, now);
    }
  }
}
