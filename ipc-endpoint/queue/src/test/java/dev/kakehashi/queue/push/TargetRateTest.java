package dev.kakehashi.queue.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// The rate that a target bears.
class TargetRateTest {
  private static final long SECOND = TargetRate.STEP_NANOS;

  private final TargetRate rate = new TargetRate();

  @Test
  void shouldHalveOnceASecond() {
    assertEquals(-1, rate.enforced());
    assertTrue(rate.refused(100, SECOND));
    assertEquals(50, rate.enforced());
    assertFalse(rate.refused(100, SECOND + 1));
    assertTrue(rate.refused(100, 2 * SECOND));
    assertEquals(25, rate.enforced());
  }

  @Test
  void shouldRiseUntilItIsTheQueuesAgain() {
    rate.refused(100, 0);
    long now = 0;
    double before = rate.enforced();
    while (rate.enforced() >= 0) {
      now += SECOND;
      assertTrue(rate.passed(now));
      assertTrue(rate.enforced() < 0 || rate.enforced() > before);
      before = rate.enforced();
    }
    assertEquals(8, now / SECOND);
    assertFalse(rate.passed(now + SECOND));
  }

  @Test
  void shouldNeverStop() {
    for (int i = 0; i < 100; i++) {
      rate.refused(10, i * SECOND);
    }
    assertEquals(TargetRate.LEAST, rate.enforced());
  }

  @Test
  void shouldBeginWithWhatWasSentWhereTheQueueHasNoRate() {
    for (int i = 0; i < 40; i++) {
      rate.started(SECOND);
    }
    assertTrue(rate.refused(-1, SECOND + 1));
    assertEquals(20, rate.enforced());
  }
}
