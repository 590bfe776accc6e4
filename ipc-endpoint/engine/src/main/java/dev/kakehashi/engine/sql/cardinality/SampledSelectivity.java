package dev.kakehashi.engine.sql.cardinality;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.statistics.ColumnStatistics;
import dev.kakehashi.engine.statistics.ValueList;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Fraction of rows for which any predicate over one column is true: it is computed for the most common values, the bounds of the histogram
/// and null.
///
/// So LIKE, functions and arithmetic need no rules of their own. A predicate that is true for none of the bounds may be true for as much as
/// half a part.
final class SampledSelectivity {
  private SampledSelectivity() {}

  /// @param predicate over column 0, without parameters
  /// @return null if nothing is known of the column's values, or the predicate cannot be computed for one of them
  static @Nullable Double of(ColumnStatistics statistics, Expr predicate) {
    ValueList common = statistics.mostCommon();
    ValueList histogram = statistics.histogram();
    int commonSize = common == null ? 0 : common.size();
    int bounds = histogram == null ? 0 : histogram.size();
    if (commonSize + bounds == 0) {
      return null;
    }
    try (VectorBatch batch = new VectorBatch(1);
        VarHeap heap = new VarHeap()) {
      for (int i = 0; common != null && i < commonSize; i++) {
        batch.columns[0].words[batch.size++] = common.word(i);
      }
      for (int i = 0; histogram != null && i < bounds; i++) {
        batch.columns[0].words[batch.size++] = histogram.word(i);
      }
      batch.columns[0].setNull(batch.size++);
      EvalContext context = new EvalContext();
      context.functions.heap = heap;
      RowFilter filter = RowFilter.of(predicate, context);
      RowSlices slices = new RowSlices(List.of(predicate));
      double matching = 0;
      int matchingBounds = 0;
      do {
        slices.compute(batch, heap, filter::apply);
        for (int k = 0; k < batch.liveRows(); k++) {
          int row = batch.selected < 0 ? k : batch.selection[k];
          if (row < commonSize) {
            matching += statistics.frequencies()[row];
          } else if (row < commonSize + bounds) {
            matchingBounds++;
          } else {
            matching += statistics.nullFraction();
          }
        }
      } while (slices.isUnfinished());
      double rest = Math.max(0, 1 - statistics.commonFraction() - statistics.nullFraction());
      if (bounds > 0) {
        matching += rest * Math.clamp((double) matchingBounds / bounds, 0.5 / bounds, 1);
      }
      return Math.clamp(matching, 0, 1);
    } catch (EngineException cannotBeComputed) {
      Interrupts.check(); // a cancel is for now
      return null;
    } finally {
      if (common != null) {
        common.keepAlive();
      }
      if (histogram != null) {
        histogram.keepAlive();
      }
    }
  }
}
