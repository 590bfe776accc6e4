package dev.kakehashi.applications.watch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.management.VirtualThreadSchedulerMXBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Virtual threads behind others that do not wait.
final class CarriersTest {
  private static final Duration LOOK = Duration.ofMillis(10);

  private final Carriers carriers = new Carriers();
  private final AtomicBoolean over = new AtomicBoolean();
  private final List<Thread> loops = new ArrayList<>();

  @AfterEach
  void end() throws InterruptedException {
    over.set(true);
    for (Thread loop : loops) {
      loop.join();
    }
    carriers.adjust(0);
  }

  private void occupyAll() throws InterruptedException {
    int all =
        ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class).getParallelism();
    CountDownLatch begun = new CountDownLatch(all);
    for (int i = 0; i < all; i++) {
      loops.add(
          Thread.startVirtualThread(() -> {
            begun.countDown();
            while (!over.get()) {
              Thread.onSpinWait();
            }
          }));
    }
    begun.await();
  }

  /// The bound alone makes no carrier, and nobody else begins a thread here.
  @Test
  void shouldCarryWhatHasBegunBeforeThereWereMore() throws InterruptedException {
    occupyAll();
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waiting.add(Thread.startVirtualThread(() -> {}));
    }
    long endNanos = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    for (Thread each : waiting) {
      do {
        assertTrue(System.nanoTime() - endNanos < 0, "nobody carries it");
        carriers.adjust(loops.size());
      } while (!each.join(LOOK));
    }
  }
}
