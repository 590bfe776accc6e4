package dev.kakehashi.queue.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.queue.QueueOptionsBuilder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static List<Long> waits(long min, long max, int doublings, int count) {
    QueueOptions options = new QueueOptionsBuilder().backoff(min, max, doublings).build();
    return IntStream.rangeClosed(1, count)
        .mapToObj(attempt -> Backoff.millis(options, attempt))
        .toList();
  }

  @Test
  void shouldDoubleThenGrowByTheLastStep() {
    assertEquals(List.of(10L, 20L, 40L, 80L, 160L, 240L, 300L, 300L), waits(10, 300, 3, 8));
  }

  @Test
  void shouldGrowLinearlyWithoutDoublings() {
    assertEquals(List.of(10L, 20L, 30L, 40L), waits(10, 300, 0, 4));
  }

  @Test
  void shouldStayAtTheGreatestForManyAttempts() {
    QueueOptions options = new QueueOptionsBuilder().backoff(1000, 5000, 2000).build();
    assertEquals(5000, Backoff.millis(options, Integer.MAX_VALUE));
    assertEquals(
        0, Backoff.millis(new QueueOptionsBuilder().backoff(0, 5000, 5).build(), 1_000_000));
  }

  @Test
  void shouldBeLongerByAPartOfItselfWithJitter() {
    QueueOptions options = new QueueOptionsBuilder().backoff(1000, 5000, 2).jitter(0.5).build();
    assertEquals(1000, Backoff.jittered(options, 1, 0));
    assertEquals(1250, Backoff.jittered(options, 1, 0.5));
    assertEquals(7500, Backoff.jittered(options, 50, 1));
    QueueOptions without = new QueueOptionsBuilder().backoff(1000, 5000, 2).build();
    assertEquals(1000, Backoff.jittered(without, 1, 1));
  }

  @Test
  void shouldNeedBothLimitsIfBothAreGiven() {
    QueueOptions both = new QueueOptionsBuilder().maxAttempts(2).ageLimit(1000).build();
    assertFalse(Backoff.exhausted(both, 2, 0, 999));
    assertFalse(Backoff.exhausted(both, 1, 0, 5000));
    assertTrue(Backoff.exhausted(both, 2, 0, 1000));
    QueueOptions age = new QueueOptionsBuilder().maxAttempts(0).ageLimit(1000).build();
    assertFalse(Backoff.exhausted(age, 50, 0, 999));
    assertTrue(Backoff.exhausted(age, 1, 0, 1000));
    QueueOptions none = new QueueOptionsBuilder().maxAttempts(0).build();
    assertFalse(Backoff.exhausted(none, 1_000_000, 0, Long.MAX_VALUE));
  }
}
