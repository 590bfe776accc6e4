package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.catalog.Table;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Statistics of a table at one moment. Immutable.
///
/// @param rows of the table
/// @param sampledRows that the columns' statistics come from
/// @param changeCount of the table, see [dev.kakehashi.engine.store.api.TableStore#changeCount()]
/// @param collectedMicros since 2000-01-01 UTC
/// @param columns as the table has them; null for one that came after the sample
/// @param positions where they lie in its rows: others may have taken their places since
/// @param planVersion a plan that was made with another one may not be the best any more
public record TableStatistics(
    double rows,
    int sampledRows,
    long changeCount,
    long collectedMicros,
    List<@Nullable ColumnStatistics> columns,
    List<Integer> positions,
    long planVersion) {
  private static final double SIMILAR_ROWS = 1.3;
  private static final double SIMILAR_DISTINCT = 1.5;
  private static final double SIMILAR_FRACTION = 0.05;

  private Map<Integer, ColumnStatistics> byPosition() {
    Map<Integer, ColumnStatistics> known = new HashMap<>();
    for (int i = 0; i < positions.size(); i++) {
      ColumnStatistics column = columns.get(i);
      if (column != null) {
        known.put(positions.get(i), column);
      }
    }
    return known;
  }

  /// Statistics of the table's present columns. Columns that have come since, or have got another type, have none.
  ///
  /// @param present where they lie in its rows
  TableStatistics of(Table table, List<Integer> present) {
    List<@Nullable ColumnStatistics> known = new ArrayList<>();
    boolean unmoved = present.equals(positions);
    Map<Integer, ColumnStatistics> moved = unmoved ? Map.of() : byPosition();
    boolean same = unmoved;
    for (int i = 0; i < present.size(); i++) {
      ColumnStatistics column = unmoved ? columns.get(i) : moved.get(present.get(i));
      boolean fits = column != null && column.oid() == table.columns().get(i).type().oid();
      known.add(fits ? column : null);
      same &= fits;
    }
    return same
        ? this
        : new TableStatistics(
            rows,
            sampledRows,
            changeCount,
            collectedMicros,
            Collections.unmodifiableList(known),
            present,
            planVersion);
  }

  /// Whether something is known about all columns.
  boolean isComplete() {
    return columns.stream().allMatch(Objects::nonNull);
  }

  TableStatistics withPlanVersion(long version) {
    return new TableStatistics(
        rows, sampledRows, changeCount, collectedMicros, columns, positions, version);
  }

  /// Whether plans that were made with `older` are as good with this.
  boolean isSimilar(TableStatistics older) {
    if (!positions.equals(older.positions) || !isSimilar(rows, older.rows, SIMILAR_ROWS)) {
      return false;
    }
    for (int i = 0; i < columns.size(); i++) {
      if (!isSimilar(columns.get(i), older.columns.get(i), older.rows)) {
        return false;
      }
    }
    return true;
  }

  private boolean isSimilar(
      @Nullable ColumnStatistics now, @Nullable ColumnStatistics then, double rowsThen) {
    if (now == null || then == null) {
      return now == null && then == null;
    }
    return now.oid() == then.oid()
        && Math.abs(now.nullFraction() - then.nullFraction()) <= SIMILAR_FRACTION
        && isSimilar(now.distinctOf(rows), then.distinctOf(rowsThen), SIMILAR_DISTINCT)
        && hasSimilarCommonValues(now, then)
        && hasSimilarRange(now.histogram(), then.histogram());
  }

  private static boolean isSimilar(double a, double b, double factor) {
    return Math.max(a, b) <= factor * Math.min(a, b) || a == b;
  }

  private static boolean hasSimilarCommonValues(ColumnStatistics now, ColumnStatistics then) {
    ValueList values = now.mostCommon();
    ValueList valuesThen = then.mostCommon();
    if (values == null || valuesThen == null || values.size() == 0 || valuesThen.size() == 0) {
      return Math.abs(now.commonFraction() - then.commonFraction()) <= SIMILAR_FRACTION;
    }
    for (int i = 0; i < values.size(); i++) {
      double frequencyThen = 0;
      for (int k = 0; k < valuesThen.size(); k++) {
        if (values.equal(i, valuesThen, k)) {
          frequencyThen = then.frequencies()[k];
        }
      }
      if (Math.abs(now.frequencies()[i] - frequencyThen) > SIMILAR_FRACTION) {
        return false;
      }
    }
    return true;
  }

  /// Whether values at the ends of the range of then are not far from the ends of now: a constant near them would be judged alike.
  private static boolean hasSimilarRange(@Nullable ValueList now, @Nullable ValueList then) {
    if (now == null || then == null) {
      return now == null && then == null;
    }
    int last = then.size() - 1;
    int far = Math.max(1, now.size() / 10);
    boolean low = now.compare(Math.min(far, now.size() - 1), then.word(0)) >= 0;
    boolean high = now.compare(Math.max(0, now.size() - 1 - far), then.word(last)) <= 0;
    then.keepAlive();
    return low && high;
  }
}
