package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.catalog.Table;
import org.jspecify.annotations.Nullable;

/// Whoever knows the statistics of tables.
public interface StatisticsSource {
  /// What is known about the columns of a table; null: nothing.
  @Nullable TableStatistics statistics(Table table);
}
