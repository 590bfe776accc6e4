package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A worker's thread that fails outside its tasks is replaced, and nothing that was queued is lost. Errors of tasks,
/// of every kind, do not even cost a thread.
@Timeout(120)
class WorkerDeathTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Set<Point> POINTS =
      EnumSet.of(Point.FOUND, Point.BEFORE_ANNOUNCE, Point.ANNOUNCED, Point.BEFORE_PARK);

  @AfterEach
  void restore() {
    Platform.substitute(null);
  }

  /// Fails now and then on a worker's thread, as an allocation or a deep stack would.
  private static final class Failing implements Platform.Substitute {
    private final AtomicInteger points = new AtomicInteger();

    @Override
    public void point(Point point) {
      if (POINTS.contains(point)
          && Thread.currentThread() instanceof WorkerThread
          && (points.incrementAndGet() == 2 || ThreadLocalRandom.current().nextInt(8) == 0)) {
        throw new InternalError("wanted at " + point);
      }
    }
  }

  @Test
  void shouldLoseNothingWhenWorkersDieWhileIdling() throws Exception {
    for (Distribution distribution : new Distribution[] {Distribution.SEARCH, Distribution.ROLE}) {
      AtomicInteger ran = new AtomicInteger();
      AtomicInteger reported = new AtomicInteger();
      TaskScheduler scheduler =
          TaskScheduler.start(
              SchedulerConfig.builder()
                  .workers(3)
                  .distribution(distribution)
                  .set(Parameter.LOCAL_CAPACITY, 4)
                  .set(Parameter.INBOX_CAPACITY, 16)
                  .set(Parameter.SPIN_LIMIT, 0)
                  .uncaught((where, thrown) -> reported.incrementAndGet())
                  .build());
      Platform.substitute(new Failing());
      for (int i = 0; i < 2_000; i++) {
        Job job =
            scheduler.submit(context -> {
              for (int child = 0; child < 9; child++) {
                context.spawn(inner -> {
                  ran.incrementAndGet();
                  return null;
                });
              }
              return null;
            });
        if (i % 20 == 0) {
          assertTrue(job.await(LONG), () -> "lost: " + scheduler.metrics());
        }
      }
      Platform.substitute(null);
      ShutdownReport report = scheduler.shutdown(LONG);
      assertTrue(report.clean(), report::toString);
      assertEquals(18_000, ran.get());
      assertEquals(20_000, report.run());
      long replaced = scheduler.metrics().get("workers.replaced");
      assertTrue(replaced > 0);
      assertEquals(replaced, reported.get());
    }
  }

  @Test
  void shouldKeepTheThreadWhateverATaskThrows() throws Exception {
    TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(1).build());
    Error[] errors = {
      new OutOfMemoryError("wanted"), new LinkageError("wanted"), new InternalError("wanted")
    };
    for (Error error : errors) {
      Job job =
          scheduler.submit(context -> {
            throw error;
          });
      assertTrue(job.await(LONG));
      assertEquals(error, job.failure());
    }
    Job deep =
        scheduler.submit(context -> {
          recurse(0);
          return null;
        });
    assertTrue(deep.await(LONG));
    assertTrue(deep.failure() instanceof StackOverflowError, () -> "" + deep.failure());
    assertTrue(scheduler.shutdown(LONG).clean());
    assertEquals(0, scheduler.metrics().get("workers.replaced"));
  }

  @SuppressWarnings("InfiniteRecursion") // wanted
  private static int recurse(int depth) {
    return recurse(depth + 1) + 1;
  }
}
