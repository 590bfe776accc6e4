package dev.kakehashi.scheduler.bench;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// The same work on this scheduler, ForkJoinPool (LIFO and async), ThreadPoolExecutor and virtual threads, in one
/// run, with the goals of the module: figures, ratios to ForkJoinPool's better setting or to ours in another
/// setting, and whether the goal was met.
///
/// `java -cp target/classes:target/test-classes dev.kakehashi.scheduler.bench.Comparison [repetitions] [row...]`
///
/// Each row has a JVM of its own: what the compiler has learnt from one would decide the next one's figures, in either
/// direction, and for ForkJoinPool by a factor of two.
///
/// Rows: `external tree ping skewed lanes round wake signal long bytes idle metrics light`; all of them without names. Figures are
/// medians of the repetitions, which alternate between the schedulers; in brackets the least and the most.
public final class Comparison {
  private static final List<String> ALL =
      List.of(
          "external",
          "tree",
          "ping",
          "skewed",
          "lanes",
          "round",
          "wake",
          "signal",
          "long",
          "bytes",
          "idle",
          "metrics",
          "light");

  private Comparison() {}

  /// Measures; takes some six minutes with 7 repetitions of everything.
  public static void main(String[] args) throws Exception {
    int repetitions = args.length == 0 ? 7 : Integer.parseInt(args[0]);
    List<String> rows = args.length < 2 ? ALL : Arrays.asList(args).subList(1, args.length);
    if (rows.size() > 1) {
      for (String row : rows) {
        measureApart(repetitions, row);
      }
      return;
    }
    System.out.printf(
        Locale.ROOT,
        "%n%s: workers=%d repetitions=%d java=%s%n",
        rows.getFirst(),
        Runtime.getRuntime().availableProcessors(),
        repetitions,
        Runtime.version());
    try (Pools pools = new Pools()) {
      run(rows.getFirst(), pools, repetitions);
    }
  }

  private static void measureApart(int repetitions, String row)
      throws IOException, InterruptedException {
    java.lang.Process jvm =
        Jvm.start(
            Comparison.class,
            List.of(),
            ProcessBuilder.Redirect.INHERIT,
            List.of(Integer.toString(repetitions), row));
    if (jvm.waitFor() != 0) {
      throw new IllegalStateException("the JVM that measures \"" + row + "\" failed");
    }
  }

  private static void run(String row, Pools pools, int repetitions) throws Exception {
    switch (row) {
      case "external" -> {
        for (int submitters = 1; submitters <= 2; submitters++) {
          double goal = submitters == 1 ? 0.35 : 0.6;
          External.row(pools, submitters, goal, repetitions).run();
          External.strictRow(pools, submitters, goal, repetitions).run();
        }
      }
      case "tree" -> {
        Spawning.tree(pools, repetitions).run();
        Spawning.bothChildren(pools, repetitions).run();
      }
      case "ping" -> Spawning.pingPong(pools, repetitions).run();
      case "skewed" -> {
        try (Skewed skewed = new Skewed(2 * Math.max(2, pools.workers))) {
          skewed.stealing(repetitions).run();
        }
        try (Skewed skewed = new Skewed(Math.max(2, pools.workers))) {
          skewed.stealing(repetitions).run();
          skewed.distribution(repetitions).run();
          skewed.wakeUpOfDistribution(repetitions).run();
        }
      }
      case "lanes" -> Lanes.stickyAgainstLane(pools, repetitions).run();
      case "signal" -> Latency.signalled(pools, repetitions).run();
      case "round" -> {
        Latency.roundTrip(pools, repetitions).run();
        Latency.roundTripOfJobs(pools, repetitions).run();
      }
      case "wake" -> {
        Latency.warmUp(pools);
        Latency.wakeUp(pools, true, repetitions).run();
        Latency.wakeUp(pools, false, repetitions).run();
      }
      case "long" -> {
        Latency.behindLongJob(pools, Math.min(3, repetitions)).run();
        Latency.longJobSpeed(pools, repetitions).run();
      }
      case "bytes" -> {
        External.bytes(pools, repetitions).run();
        Spawning.bytes(pools, repetitions).run();
      }
      case "idle" -> {
        new Row("processor time of the idle pool", "ms/s", 3)
            .figure(2)
            .ours(() -> Cost.idleMillisPerSecond("ours"))
            .other("FJP", () -> Cost.idleMillisPerSecond("ForkJoinPool"))
            .other("ThreadPoolExecutor", () -> Cost.idleMillisPerSecond("pool-"))
            .run();
      }
      case "metrics" -> Cost.metrics(repetitions).run();
      case "light" -> Cost.light(pools.ours, repetitions);
      default -> throw new IllegalArgumentException("no row \"" + row + "\": there are " + ALL);
    }
  }
}
