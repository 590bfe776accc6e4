package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.platform.Platform;
import java.time.Duration;
import java.util.List;

/// Threads of a test program: real ones, or a [Simulation]'s.
final class PlatformThreads {
  private PlatformThreads() {}

  static Thread start(String name, Runnable body) {
    Thread thread = new Thread(body, name);
    Platform.start(thread);
    return thread;
  }

  static void join(List<Thread> threads, Duration each) throws InterruptedException {
    for (Thread thread : threads) {
      assertTrue(Platform.join(thread, each.toNanos()), thread.getName());
    }
  }
}
