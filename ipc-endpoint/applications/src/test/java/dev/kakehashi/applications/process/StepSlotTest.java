package dev.kakehashi.applications.process;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.testsupport.Await;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Steps on a worker, with the watch that stops those that do not end.
class StepSlotTest {
  private static final long NO_LIMIT = Long.MAX_VALUE;

  private final CallWatch watch = new CallWatch();

  @AfterEach
  void close() {
    watch.close();
  }

  /// A step that does not end: returns when the watch has interrupted its sleep, which nothing else waits for.
  private static void untilStopped() {
    assertThrows(InterruptedException.class, () -> Thread.sleep(Await.LIMIT));
  }

  @Test
  void shouldStopAStepThatDoesNotEnd() {
    StepSlot slot = new StepSlot(watch);
    slot.begin("process one", 1);
    untilStopped();
    assertTrue(slot.end(), "it was stopped");
    assertFalse(Thread.interrupted(), "the worker goes on as if nothing had been");
  }

  @Test
  void shouldStopEachStepForItself() {
    StepSlot slot = new StepSlot(watch);
    for (int i = 0; i < 5; i++) {
      slot.begin("process one", 1);
      untilStopped();
      assertTrue(slot.end());
      slot.begin("process two", NO_LIMIT);
      assertFalse(slot.end(), "the stop was of another step");
      assertFalse(Thread.interrupted());
    }
  }

  @Test
  void shouldLetStepsOfAnyNumberEnd() {
    StepSlot slot = new StepSlot(watch);
    for (int i = 0; i < 100_000; i++) {
      slot.begin("process one", TimeUnit.HOURS.toNanos(1));
      assertFalse(slot.end());
    }
    assertFalse(Thread.interrupted());
  }
}
