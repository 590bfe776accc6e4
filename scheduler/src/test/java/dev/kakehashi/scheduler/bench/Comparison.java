package dev.kakehashi.scheduler.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// The same work on this scheduler, ForkJoinPool (LIFO and async), ThreadPoolExecutor and virtual threads, in one
/// run, with the goals of the module: figures, ratios to ForkJoinPool's better setting, and whether the goal was met.
///
/// `java -cp target/classes:target/test-classes dev.kakehashi.scheduler.bench.Comparison [repetitions] [row...]`
///
/// Rows: `external tree ping skewed round wake long bytes idle light`; all of them without names. Figures are
/// medians of the repetitions, which alternate between the schedulers; in brackets the least and the most.
public final class Comparison {
  private static final List<String> ALL =
      List.of(
          "external", "tree", "ping", "skewed", "round", "wake", "long", "bytes", "idle", "light");

  private Comparison() {}

  /// Measures; takes about two minutes with 7 repetitions of everything.
  public static void main(String[] args) throws Exception {
    int repetitions = args.length == 0 ? 7 : Integer.parseInt(args[0]);
    List<String> rows = args.length < 2 ? ALL : Arrays.asList(args).subList(1, args.length);
    System.out.printf(
        Locale.ROOT,
        "workers=%d repetitions=%d java=%s%n",
        Runtime.getRuntime().availableProcessors(),
        repetitions,
        Runtime.version());
    try (Pools pools = new Pools()) {
      for (String row : rows) {
        run(row, pools, repetitions);
      }
      System.out.println();
      System.out.println(pools.ours.metrics().toJson());
    }
  }

  private static void run(String row, Pools pools, int repetitions) throws Exception {
    switch (row) {
      case "external" -> {
        External.row(pools, 1, 0.35, repetitions).run();
        External.row(pools, 2, 0.6, repetitions).run();
      }
      case "tree" -> Spawning.tree(pools, repetitions).run();
      case "ping" -> Spawning.pingPong(pools, repetitions).run();
      case "skewed" -> Spawning.skewed(pools.workers, repetitions).run();
      case "round" -> Latency.roundTrip(pools, repetitions).run();
      case "wake" -> {
        for (boolean callerSleeps : new boolean[] {true, false}) {
          for (int percent : new int[] {50, 99}) {
            Latency.wakeUp(pools, callerSleeps, percent, repetitions).run();
          }
        }
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
        for (String prefix : List.of("ours", "ForkJoinPool", "pool-")) {
          System.out.printf(
              Locale.ROOT,
              "%nidle threads named %s: %.3f ms of processor time per second%n",
              prefix,
              Cost.idleMillisPerSecond(prefix));
        }
      }
      case "light" -> Cost.light(pools.ours, repetitions);
      default -> throw new IllegalArgumentException("no row \"" + row + "\": there are " + ALL);
    }
  }
}
