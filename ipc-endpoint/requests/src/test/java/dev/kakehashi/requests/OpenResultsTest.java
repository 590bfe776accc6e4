package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Limit of what the open results of all sessions hold together.
class OpenResultsTest {
  @Test
  void shouldAdmitAgainWhatHasEnded() {
    OpenResults results = new OpenResults(10 * OpenResults.bytes(3));
    AtomicInteger ended = new AtomicInteger();
    Deque<Runnable> open = new ArrayDeque<>();
    while (results.hasRoom(3)) {
      open.add(results.admit(3, ended::incrementAndGet));
    }
    assertEquals(10, open.size());
    open.remove().run();
    assertEquals(1, ended.get());
    assertTrue(results.hasRoom(3));
    open.add(results.admit(3, null));
    assertFalse(results.hasRoom(0));
    open.forEach(Runnable::run);
    assertEquals(10, ended.get());
    assertTrue(results.hasRoom(3));
  }

  @Test
  void shouldCountWideRowsForMore() {
    OpenResults results = new OpenResults(10 * OpenResults.bytes(3));
    assertTrue(results.hasRoom(30));
    assertFalse(results.hasRoom(1600));
  }
}
