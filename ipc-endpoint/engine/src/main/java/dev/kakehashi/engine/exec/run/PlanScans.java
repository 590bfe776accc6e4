package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.scan.ScanOperators;
import java.util.List;

/// Tables that an instance of a plan reads from their beginning to their end. Its numbers are those by which the tasks share the work, so
/// that they cost nothing.
///
/// @param tables opened for the execution; more than 0
record PlanScans(List<ScanOperators.Morsels> tables, long pages) implements ScanActivity {
  /// Pages below which nobody sees how far a statement is.
  private static final long FEW_PAGES = 64;

  /// Whether reading the opened tables takes long enough to be reported.
  static boolean isWorthIt(List<ScanOperators.Morsels> tables) {
    return pages(tables) > FEW_PAGES;
  }

  static PlanScans of(List<ScanOperators.Morsels> tables) {
    return new PlanScans(tables, pages(tables));
  }

  // Without an iterator: it is asked for each execution.
  private static long pages(List<ScanOperators.Morsels> tables) {
    long pages = 0;
    for (int i = 0; i < tables.size(); i++) {
      pages += tables.get(i).pages(1);
    }
    return pages;
  }

  @Override
  public long pagesRead() {
    long read = 0;
    for (ScanOperators.Morsels table : tables) {
      read += table.pagesRead();
    }
    return Math.min(read, pages);
  }
}
