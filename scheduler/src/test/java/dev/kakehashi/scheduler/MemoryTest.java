package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.LocalOrder;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// I10: an idle scheduler keeps nothing of what has ended.
@Timeout(120)
class MemoryTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static final class Loaded implements Task {
    private final Object load = new byte[1 << 16];
    private final int children;
    private final List<WeakReference<Task>> all;

    Loaded(int children, List<WeakReference<Task>> all) {
      this.children = children;
      this.all = all;
      synchronized (all) {
        all.add(new WeakReference<>(this));
      }
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      for (int i = 0; i < children; i++) {
        context.spawn(new Loaded(0, all));
      }
      return load.hashCode() == 0 ? this : null;
    }
  }

  @ParameterizedTest
  @EnumSource(LocalOrder.class)
  void shouldKeepNoReferenceToEndedTasks(LocalOrder order) throws Exception {
    List<WeakReference<Task>> all = new ArrayList<>();
    try (TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(3).localOrder(order).build())) {
      Lane lane = scheduler.newLane(1);
      for (int i = 0; i < 20; i++) {
        assertTrue(scheduler.submit(new Loaded(10, all)).await(LONG));
        assertTrue(lane.submit(new Loaded(10, all)).await(LONG));
      }
      long end = System.nanoTime() + LONG.toNanos();
      while (anyAlive(all) && System.nanoTime() < end) {
        System.gc();
        // A worker that has just run a task forgets its batch at the next look.
        assertTrue(scheduler.submit(context -> null).await(LONG));
      }
      assertTrue(!anyAlive(all), "I10: an ended task is still referred to");
    }
  }

  private static boolean anyAlive(List<WeakReference<Task>> all) {
    synchronized (all) {
      return all.stream().anyMatch(reference -> reference.get() != null);
    }
  }
}
