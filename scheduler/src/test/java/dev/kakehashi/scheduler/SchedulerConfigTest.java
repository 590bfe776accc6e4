package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SchedulerConfigTest {
  private static String refused(Runnable setting) {
    return "" + assertThrows(IllegalArgumentException.class, setting::run).getMessage();
  }

  @Test
  void shouldNameRangeAndUnitOfARefusedValue() {
    assertEquals(
        "\"workers\" must be between 1 and 1024 threads, not 0",
        refused(() -> SchedulerConfig.builder().workers(0)));
    assertEquals(
        "\"localCapacity\" must be a power of two, not 1000: try 1024",
        refused(() -> SchedulerConfig.builder().set(Parameter.LOCAL_CAPACITY, 1000)));
    assertEquals(
        "\"spinLimit\" must be a number of us, not \"fast\"",
        refused(() -> SchedulerConfig.builder().set("spinLimit", "fast")));
  }

  @Test
  void shouldSuggestTheNearestNameForAnUnknownOne() {
    assertEquals(
        "unknown scheduler setting \"worker\": did you mean \"workers\"?",
        refused(() -> SchedulerConfig.builder().set("worker", "1")));
  }

  @Test
  void shouldParseValuesByKey() {
    SchedulerConfig config =
        SchedulerConfig.builder().set("workers", "7").set("stealing", "false").build();
    assertEquals(7, config.workers());
    assertEquals(3, config.maxSearchers());
    assertEquals(0, config.get(Parameter.STEALING));
    assertEquals(TimeUnit.MICROSECONDS.toNanos(200), config.nanos(Parameter.FAIRNESS_INTERVAL));
  }

  @Test
  void shouldNotifyEventCountWaitersWithoutLoss() throws Exception {
    EventCount events = new EventCount();
    long key = events.prepare();
    events.notifyWaiters();
    assertTrue(events.await(key, Duration.ofSeconds(10)), "notified before the wait");
    int[] value = new int[1];
    Thread waiter =
        new Thread(() -> {
          for (int seen = 0; seen < 2000; seen++) {
            while (true) {
              long k = events.prepare();
              synchronized (value) {
                if (value[0] > seen) {
                  events.cancel(k);
                  break;
                }
              }
              if (!events.await(k, Duration.ofSeconds(20))) {
                return;
              }
            }
          }
          synchronized (value) {
            value[0] = -1;
          }
        });
    waiter.start();
    for (int i = 0; i < 2000; i++) {
      synchronized (value) {
        value[0]++;
      }
      events.notifyWaiters();
    }
    waiter.join(30_000);
    assertEquals(-1, value[0]);
  }
}
