package dev.kakehashi.schedules;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Runs the programs under Fray, and each with a fault that it has to find.
///
/// `-Dkakehashi.schedules=` says how many schedules a program has, `-Dkakehashi.seed=` the seed of the first one. `-Dkakehashi.program=`
/// names the one program to run. A failure says how it is repeated.
class SchedulesTest {
  /// A program, and a method that it fails without.
  record Case(String program, String fault) {
    @Override
    public String toString() {
      return program + " without " + fault;
    }
  }

  private static final List<Case> CASES =
      List.of(
          new Case("engine.store.SnapshotProgram", "EMPTY:engine/store/row/Page.validate"),
          new Case(
              "engine.store.CollectorProgram", "EMPTY:engine/store/memory/Readers$Grace.isOver"),
          new Case("engine.store.index.TreeProgram", "EMPTY:engine/store/index/NodeLatch.validate"),
          new Case(
              "engine.store.durable.GroupCommitProgram",
              "UNLOCKED:engine/store/durable/GroupCommit.enqueue"),
          new Case("engine.txn.LocksProgram", "UNLOCKED:engine/txn/Deadlocks.add"),
          new Case("engine.txn.TurnsProgram", "UNLOCKED:engine/txn/Turns.begin"),
          new Case("queue.QueueProgram", "EMPTY:queue/TaskEntry.isLeasedBy"));

  /// Schedules within which a fault has to be found; it takes some dozen.
  private static final int SCHEDULES_OF_FAULT = 20_000;

  private static final Path WORK = Path.of("target", "schedules").toAbsolutePath();

  /// Said by the JVM of the programs.
  private record Result(
      String program, String algorithm, int schedules, long seed, long millis, String failure) {
    static Result parse(String line) {
      String[] words = line.split(" ", 7);
      return new Result(
          words[1],
          words[2],
          Integer.parseInt(words[3]),
          Long.parseLong(words[4]),
          Long.parseLong(words[5]),
          words[6]);
    }

    boolean failed() {
      return !failure.equals("-");
    }
  }

  @Test
  void shouldHoldInAllSchedules() throws Exception {
    List<String> programs = cases().stream().map(Case::program).toList();
    int schedules = Integer.getInteger("kakehashi.schedules", 100);
    long seed = seed();
    List<Result> results = run(null, programs, schedules, seed);
    for (Result each : results) {
      assertFalse(
          each.failed(),
          () ->
              "%s: try it again by -Dkakehashi.program=%s -Dkakehashi.schedules=%d -Dkakehashi.seed=%d"
                  .formatted(each, each.program, schedules, seed));
    }
    for (String each : programs) {
      assertTrue(
          results.stream()
              .anyMatch(result -> result.program.equals(each) && !result.algorithm.equals("fifo")),
          each);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void shouldFindTheFault(Case broken) throws Exception {
    List<String> programs = List.of(broken.program);
    Result found = run(broken.fault, programs, SCHEDULES_OF_FAULT, seed()).getLast();
    assertTrue(found.failed(), found::toString);
  }

  private static long seed() {
    return Long.getLong("kakehashi.seed", System.nanoTime());
  }

  static List<Case> cases() {
    String only = System.getProperty("kakehashi.program");
    return CASES.stream().filter(each -> only == null || each.program.endsWith(only)).toList();
  }

  private static List<Result> run(
      @Nullable String fault, List<String> programs, int schedules, long seed)
      throws IOException, InterruptedException {
    InstrumentedJdk jdk = new InstrumentedJdk(WORK);
    jdk.make();
    Path memory = Path.of("/dev/shm");
    Path scratch = Files.createTempDirectory(Files.isWritable(memory) ? memory : WORK, "schedules");
    List<String> options = new ArrayList<>(List.of("-Djava.io.tmpdir=" + scratch));
    if (fault != null) {
      options.add("-D" + Fault.PROPERTY + "=" + fault);
    }
    List<String> arguments =
        new ArrayList<>(
            List.of(
                scratch.resolve("report").toString(),
                Integer.toString(schedules),
                Long.toString(seed)));
    arguments.addAll(programs);
    Path output = WORK.resolve(fault == null ? "programs.txt" : "fault.txt");
    Process process =
        new ProcessBuilder(jdk.command(options, ScheduleRunner.class, arguments))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      process.waitFor();
    } finally {
      process.destroyForcibly();
      InstrumentedJdk.deleteAll(scratch);
    }
    List<String> lines = Files.readAllLines(output);
    List<Result> results = new ArrayList<>();
    for (String line : lines) {
      if (line.startsWith("RESULT ")) {
        System.out.println(line + (fault == null ? "" : " without " + fault));
        results.add(Result.parse(line));
      }
    }
    assertTrue(
        lines.contains("RESULTS COMPLETE"),
        () -> "the JVM of the programs ended with " + process.exitValue() + ", see " + output);
    return results;
  }
}
