package dev.kakehashi.schedules;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Random;
import kotlin.Unit;
import org.jspecify.annotations.Nullable;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.LambdaExecutor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.randomness.ControlledRandom;
import org.pastalab.fray.core.randomness.RandomnessProvider;
import org.pastalab.fray.core.scheduler.FifoScheduler;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.core.scheduler.RandomScheduler;
import org.pastalab.fray.core.scheduler.Scheduler;
import org.pastalab.fray.rmi.TestStatusObserver;

/// Runs programs under Fray, in a JVM with an instrumented JDK.
///
/// Arguments: directory of reports, schedules, seed, and then the names of their classes. It prints a line
/// `RESULT class algorithm schedules seed millis failure` for each. With the first failure the JVM ends, because Fray has ended its threads
/// anywhere.
///
/// Schedule i of an algorithm is made of the seed + i alone: of partial order sampling ("pos") or of even chances at each step ("random").
/// A run without preemption ("fifo") comes before.
public final class ScheduleRunner {
  private final Path reports;
  private final int schedules;
  private final long seed;

  private ScheduleRunner(Path reports, int schedules, long seed) {
    this.reports = reports;
    this.schedules = schedules;
    this.seed = seed;
  }

  public static void main(String[] arguments) throws Exception {
    ScheduleRunner runner =
        new ScheduleRunner(
            Path.of(arguments[0]), Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]));
    for (int each = 3; each < arguments.length; each++) {
      runner.run(arguments[each]);
    }
    System.out.println("RESULTS COMPLETE");
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private void run(String name) throws Exception {
    Program program =
        Class.forName("dev.kakehashi." + name)
            .asSubclass(Program.class)
            .getDeclaredConstructor()
            .newInstance();
    explore(name, program, "fifo", 1); // what is initialised once is no part of the schedules
    explore(name, program, "pos", (schedules + 1) / 2);
    explore(name, program, "random", schedules / 2);
  }

  private void explore(String name, Program program, String algorithm, int count) {
    if (count == 0) {
      return;
    }
    long[] next = {seed};
    RandomnessProvider randomness =
        () -> new ControlledRandom(new ArrayList<>(), new ArrayList<>(), new Random(next[0]++));
    Scheduler scheduler =
        switch (algorithm) {
          case "pos" -> new POSScheduler(randomness.getRandomness());
          case "random" -> new RandomScheduler(randomness.getRandomness());
          default -> new FifoScheduler();
        };
    LambdaExecutor executor =
        new LambdaExecutor(() -> {
          try {
            program.run();
          } catch (RuntimeException | Error e) {
            throw e;
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
          return Unit.INSTANCE;
        });
    Configuration configuration =
        new Configuration(
            new ExecutionInfo(executor, false, false, -1),
            reports,
            count,
            Integer.MAX_VALUE, // seconds
            scheduler,
            randomness,
            false, // fullSchedule
            false, // exploreMode
            true, // noExitWhenBugFound
            false, // isReplay
            false, // noFray
            false, // dummyRun
            NetworkDelegateType.NONE,
            SystemTimeDelegateType.MOCK,
            100_000L, // nanoseconds of a look at the clock
            true, // ignoreTimedBlock
            true, // sleepAsYield
            false, // resetClassLoader
            false, // redirectStdout
            false, // abortThreadExecutionAfterMainExit
            false, // resolveRacingOperationStackTraceHash
            null);
    long start = System.nanoTime();
    configuration.getTestStatusObservers().add(new Failures(name, algorithm, configuration, start));
    Throwable failure = new TestRunner(configuration).run();
    print(name, algorithm, count, seed, start, failure);
  }

  private static void print(
      String name,
      String algorithm,
      int schedules,
      long seed,
      long start,
      @Nullable Throwable failure) {
    System.out.printf(
        "%nRESULT %s %s %d %d %d %s%n",
        name,
        algorithm,
        schedules,
        seed,
        (System.nanoTime() - start) / 1_000_000,
        failure == null ? "-" : failure.toString().replace('\n', ' '));
  }

  /// Tells of a failure where it is seen, and ends the JVM.
  private final class Failures implements TestStatusObserver {
    private final String name;
    private final String algorithm;
    private final Configuration configuration;
    private final long start;

    Failures(String name, String algorithm, Configuration configuration, long start) {
      this.name = name;
      this.algorithm = algorithm;
      this.configuration = configuration;
      this.start = start;
    }

    @Override
    public void onExecutionStart() {}

    @Override
    public void onExecutionDone(@Nullable Throwable bugFound) {}

    @Override
    public void saveToReportFolder(Path path) {}

    @Override
    public void onReportError(Throwable failure) {
      int last = configuration.getCurrentIteration();
      failure.printStackTrace(System.out);
      print(name, algorithm, last + 1, seed + last, start, failure);
      System.out.println("RESULTS COMPLETE");
      System.out.flush();
      Runtime.getRuntime().halt(0);
    }
  }
}
