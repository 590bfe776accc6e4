package dev.kakehashi.applications.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// Which calls run on the thread that has read them, and which functions a worker carries.
class MemberCountsTest {
  private static final long SHORT = 20_000;
  private static final long LONG = 2_000_000;

  private final MemberCounts counts = new MemberCounts();

  private void calls(int count, long nanos) {
    for (int i = 0; i < count; i++) {
      counts.begin();
      counts.end(nanos);
    }
  }

  @Test
  void shouldExpectShortCallsAfterShortOnesAlone() {
    assertFalse(counts.areShort(), "nothing is known of it");
    calls(100, SHORT);
    assertTrue(counts.areShort());
    calls(100, LONG);
    assertFalse(counts.areShort());
    assertEquals(200, counts.calls());
    assertEquals(100 * (SHORT + LONG), counts.nanos());
    assertEquals(0, counts.running());
  }

  @Test
  void shouldBearALongCallNowAndThen() {
    calls(100, SHORT);
    for (int i = 0; i < 20; i++) {
      calls(1, LONG);
      assertTrue(counts.areShort(), "one in ten may be long");
      calls(9, SHORT);
    }
    calls(8, LONG);
    assertFalse(counts.areShort());
  }

  @Test
  void shouldNotCountTheTimeOfItsCommit() {
    for (int i = 0; i < 100; i++) {
      counts.begin();
      counts.end(SHORT + LONG, LONG);
    }
    assertTrue(counts.areShort());
  }

  @Test
  void shouldExpectNothingAfterACallThatHasHeldUpOthers() {
    calls(100, SHORT);
    counts.tookLong(1_000_000);
    assertFalse(counts.areShort(), "a quarter is gone");
    calls(100, SHORT);
    counts.tookLong(10_000_000);
    calls(20, SHORT);
    assertFalse(counts.areShort(), "it begins anew");
    calls(100, SHORT);
    assertTrue(counts.areShort());
  }

  @Test
  void shouldCarryBatchesAfterEnoughThatEndedInTime() {
    for (int i = 0; i < 31; i++) {
      counts.endedInTime();
      assertFalse(counts.mayBeCarried());
    }
    counts.endedInTime();
    assertTrue(counts.mayBeCarried());
    counts.overran();
    for (int i = 0; i < 1_000; i++) {
      counts.endedInTime();
    }
    assertFalse(counts.mayBeCarried(), "it is never trusted again");
  }
}
