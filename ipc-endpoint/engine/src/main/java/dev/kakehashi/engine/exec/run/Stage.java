package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.join.JoinBreaker;
import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.scan.ScanOperators;
import dev.kakehashi.engine.exec.scan.SharedScan;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A chain of operators that ends in a breaker or in the statement's consumer.
///
/// @param input top of the chain
/// @param breaker where its rows go; null: to the consumer
/// @param scans tables, and ranges of indexes, that its tasks share
/// @param marking its joins that note which right rows have found a match
/// @param heavy a row of the tables is more than a row of work: something is run for each
/// @param single one task must run it, because its rows have an order or a limit
/// @param withRowIds its scan gives row identifiers
/// @param part query of WITH whose consumer takes its rows; null: the statement's
record Stage(
    PlanNode input,
    @Nullable Breaker breaker,
    List<SharedScan> scans,
    List<JoinBreaker> marking,
    boolean heavy,
    boolean single,
    boolean withRowIds,
    PhysicalPlan.@Nullable Part part) {
  /// Pages per task below which another task is not worth its start.
  private static final int MIN_PAGES = 2 * ScanOperators.Morsels.PAGES;

  private static final int MIN_HEAVY_PAGES = 2;

  /// Tasks to run it with, for `workers` workers. The stages before it have run.
  int parallelism(int workers) {
    if (single
        || scans.isEmpty()
        || (breaker != null && !breaker.parallel())
        || !marking.stream().allMatch(JoinBreaker::isInMemory)) {
      return 1;
    }
    long pages = 0;
    for (SharedScan scan : scans) {
      pages += scan.pages(workers);
    }
    return Math.clamp(pages / (heavy ? MIN_HEAVY_PAGES : MIN_PAGES), 1, workers);
  }

  /// Before its tasks begin.
  void begin(int tasks) {
    marking.forEach(join -> join.probedBy(tasks));
    scans.forEach(scan -> scan.divide(tasks));
  }
}
