package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.catalog.Table;
import org.jspecify.annotations.Nullable;

/// Source of the statistics of tables.
public interface StatisticsSource {
  /// Statistics of the columns of a table; null: none.
  @Nullable TableStatistics statistics(Table table);
}
