package dev.kakehashi.scheduler;

import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Random programs, see [RandomProgram], on real threads, small ones in schedulers that start and stop all the time and
/// large ones, with a few workers and with eight times more than there are cores. Ends after ten million tasks or
/// a time that a build can bear; `-Dscheduler.stressSeconds=<n>` gives it more. Repeat a program with
/// `-Dscheduler.seed=<printed>`; the threads' timing is not repeated.
class StressTest {
  private static final long TASKS = Long.getLong("scheduler.stressTasks", 3_000_000);
  private static final long RUN_NANOS =
      Duration.ofSeconds(Long.getLong("scheduler.stressSeconds", 5)).toNanos();
  private static final int CORES = Runtime.getRuntime().availableProcessors();

  @Test
  @Timeout(3600)
  void shouldRunEverythingOnceInManySmallSchedulers() throws Exception {
    run(new RandomProgram.Shape(3, 60, 5, 6, true), RUN_NANOS / 4);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  @Timeout(3600)
  void shouldRunEverythingOnceInLargePrograms(int workersPerCore) throws Exception {
    run(new RandomProgram.Shape(3, 4000, 8, workersPerCore * CORES, true), RUN_NANOS);
  }

  private static void run(RandomProgram.Shape shape, long nanos) throws Exception {
    long seed = Long.getLong("scheduler.seed", System.nanoTime());
    System.out.println("StressTest " + shape + " seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    long start = System.nanoTime();
    int rounds = 0;
    long tasks = 0;
    while (tasks < TASKS && System.nanoTime() - start < nanos) {
      String what = "seed=" + seed + " round=" + rounds++;
      tasks += new RandomProgram(random.split(), shape, ignored -> {}, what).run();
    }
    System.out.println("StressTest rounds=" + rounds + " tasks=" + tasks);
  }
}
