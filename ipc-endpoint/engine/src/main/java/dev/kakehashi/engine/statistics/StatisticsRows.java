package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/// Rows of `kakehashi_catalog.column_statistics`.
public final class StatisticsRows {
  private StatisticsRows() {}

  /// @param readable whether the values of a column may be seen
  public static List<@Nullable Object[]> of(
      List<Table> tables, StatisticsSource source, BiPredicate<Table, Column> readable) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Table table : tables) {
      TableStatistics statistics = source.statistics(table);
      if (statistics != null) {
        for (int i = 0; i < table.columns().size(); i++) {
          ColumnStatistics values = statistics.columns().get(i);
          Column column = table.columns().get(i);
          if (values != null && !column.hidden() && readable.test(table, column)) {
            rows.add(row(table, i, statistics, values));
          }
        }
      }
    }
    return rows;
  }

  private static @Nullable Object[] row(
      Table table, int column, TableStatistics statistics, ColumnStatistics values) {
    ValueList all = values.mostCommon();
    ValueList common = all == null || all.size() == 0 ? null : all;
    ValueList histogram = values.histogram();
    return new @Nullable Object[] {
      table.schema(),
      table.name(),
      table.columns().get(column).name(),
      (long) values.oid(),
      statistics.rows(),
      (long) statistics.sampledRows(),
      statistics.collectedMicros(),
      values.nullFraction(),
      (long) values.averageWidthBytes(),
      values.distinct(),
      common == null ? null : common.arrayText(),
      common == null ? null : values.frequenciesText(),
      histogram == null ? null : histogram.arrayText()
    };
  }
}
