package dev.kakehashi.testsupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AwaitTest {
  @Test
  void shouldLookUntilTheConditionHolds() {
    AtomicInteger looks = new AtomicInteger();
    Await.until("the third look", () -> looks.incrementAndGet() == 3);
    assertEquals(3, looks.get());
  }

  @Test
  void shouldSayWhatDidNotCome() {
    AssertionError failure =
        assertThrows(
            AssertionError.class, () -> Await.until("spring", Duration.ofMillis(5), () -> false));
    assertEquals("spring: not within PT0.005S", failure.getMessage());
  }

  @Test
  void shouldWaitForAValue() {
    AtomicInteger value = new AtomicInteger();
    Await.untilEquals("the value", 7, value::incrementAndGet);
    assertEquals(7, value.get());
  }

  @Test
  void shouldEndWhenItsThreadIsInterrupted() {
    Thread.currentThread().interrupt();
    AssertionError failure =
        assertThrows(AssertionError.class, () -> Await.until("spring", () -> false));
    assertEquals("interrupted while waiting for: spring", failure.getMessage());
    assertTrue(Thread.interrupted(), "the interrupt is kept");
  }
}
