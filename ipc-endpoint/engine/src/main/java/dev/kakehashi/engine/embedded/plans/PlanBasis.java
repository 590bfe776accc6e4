package dev.kakehashi.engine.embedded.plans;

import dev.kakehashi.engine.statistics.StatisticsKeeper;
import java.util.function.LongUnaryOperator;

/// The statistics and sizes of tables that a plan was made with. Thread-safe.
///
/// While no statistics have changed at all, one volatile read tells that the plan stands. Any thread notes the version that it has found to
/// make no difference; when two of them write, either value is true.
public final class PlanBasis {
  /// A plan is made anew when a table has grown by this factor since, and has a few rows now.
  private static final int GROWTH = 10;

  private static final long FEW_ROWS = 1000;

  /// No version of any statistics.
  private static final long NEVER = -1;

  private final StatisticsKeeper statistics;
  private final long[] tables;
  private final long[] versions;
  private final long[] rows;
  private volatile long checkedVersion;

  /// @param before version of all statistics before the plan was made; statistics of a table that are newer may have come too late for it
  /// @param tables that the plan is about
  /// @param rowCount of a table, by its number
  PlanBasis(StatisticsKeeper statistics, long before, long[] tables, LongUnaryOperator rowCount) {
    this.statistics = statistics;
    this.tables = tables;
    this.checkedVersion = before;
    this.versions = new long[tables.length];
    this.rows = new long[tables.length];
    for (int i = 0; i < tables.length; i++) {
      long version = statistics.planVersion(tables[i]);
      versions[i] = version <= before ? version : NEVER;
      rows[i] = rowCount.applyAsLong(tables[i]);
    }
  }

  /// Whether the statistics are still those that the plan was made with.
  public boolean isCurrent() {
    long now = statistics.planVersion();
    if (now == checkedVersion) {
      return true;
    }
    for (int i = 0; i < tables.length; i++) {
      if (statistics.planVersion(tables[i]) != versions[i]) {
        return false;
      }
    }
    checkedVersion = now;
    return true;
  }

  /// Whether a table has grown so much that another plan may be better, though its statistics have not been collected yet.
  boolean hasGrown(LongUnaryOperator rowCount) {
    for (int i = 0; i < tables.length; i++) {
      long now = rowCount.applyAsLong(tables[i]);
      if (now > FEW_ROWS && now / GROWTH > rows[i]) {
        return true;
      }
    }
    return false;
  }
}
