package dev.kakehashi.transport.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogThrottleTest {
  private final AtomicLong clock = new AtomicLong(-5);
  private final LogThrottle throttle = new LogThrottle(clock::get);

  @Test
  void shouldAdmitOneLinePerIntervalAndCountTheOthers() {
    assertEquals("", throttle.admit());
    for (int i = 0; i < 41; i++) {
      assertNull(throttle.admit());
    }
    clock.addAndGet(LogThrottle.INTERVAL_NANOS - 1);
    assertNull(throttle.admit());
    clock.addAndGet(1);
    assertEquals(" (and 42 more like this, suppressed)", throttle.admit());
    clock.addAndGet(LogThrottle.INTERVAL_NANOS);
    assertEquals("", throttle.admit(), "counted anew");
  }

  @Test
  void shouldSayAtTheEndWhatWasLeftOut() {
    throttle.admit();
    throttle.admit();
    assertEquals(" (and 1 more like this, suppressed)", throttle.takeSuppressed());
    assertEquals("", throttle.takeSuppressed());
  }
}
