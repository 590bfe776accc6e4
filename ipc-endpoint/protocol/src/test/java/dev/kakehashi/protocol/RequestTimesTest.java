package dev.kakehashi.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class RequestTimesTest {
  @Test
  void shouldCountEachTimeBelowItsBoundAndNotBelowTheOneBefore() {
    for (long micros = 0; micros < 1_000_000; micros += 1 + micros / 50) {
      RequestTimes times = new RequestTimes();
      times.add(micros * 1_000 + 999);
      long[] counts = times.counts();
      int step = 0;
      while (counts[step] == 0) {
        step++;
      }
      assertTrue(micros < RequestTimes.upperMicros(step), micros + " in " + step);
      assertTrue(step == 0 || micros >= RequestTimes.upperMicros(step - 1), micros + " in " + step);
    }
  }

  @Test
  void shouldPutWhatTakesHoursIntoTheLastStep() {
    RequestTimes times = new RequestTimes();
    times.add(Long.MAX_VALUE);
    long[] counts = times.counts();
    assertEquals(1, counts[counts.length - 1]);
  }

  @Test
  void shouldHaveGrowingBounds() {
    int steps = new RequestTimes().counts().length;
    for (int i = 1; i < steps; i++) {
      assertTrue(RequestTimes.upperMicros(i) >= RequestTimes.upperMicros(i - 1), "step " + i);
    }
  }
}
