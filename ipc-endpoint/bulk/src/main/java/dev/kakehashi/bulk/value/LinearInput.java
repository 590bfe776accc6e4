package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.error.EngineException;
import java.util.function.LongFunction;

/// Longs whose words are `value * factor + offset`: integers, dates, times.
final class LinearInput extends ColumnInput {
  private final String column;
  private final long min;
  private final long max;
  private final long factor;
  private final long offset;
  private final LongFunction<EngineException> refused;

  /// @param min the smallest value that is taken
  /// @param max the greatest one
  /// @param refused why others are not
  LinearInput(
      String column,
      long min,
      long max,
      long factor,
      long offset,
      LongFunction<EngineException> refused) {
    this.column = column;
    this.min = min;
    this.max = max;
    this.factor = factor;
    this.offset = offset;
    this.refused = refused;
  }

  @Override
  public void put(
      FileValues values, int from, int count, BatchFill batch, int index, RowFailures failures) {
    long[] longs = values.longs();
    if (values.hasNulls()) {
      fillNulls(longs, values.present(), from, count);
    }
    long least = Long.MAX_VALUE;
    long most = Long.MIN_VALUE;
    for (int i = from; i < from + count; i++) {
      least = Math.min(least, longs[i]);
      most = Math.max(most, longs[i]);
    }
    if (count > 0 && (least < min || most > max)) {
      for (int i = 0; i < count; i++) {
        long value = longs[from + i];
        if (value < min || value > max) {
          failures.add(i, column, refused.apply(value));
        }
      }
    }
    byte[] bytes = batch.bytes();
    int stride = batch.stride();
    int at = batch.wordAt(index);
    for (int i = from; i < from + count; i++) {
      BatchFill.LONGS.set(bytes, at, longs[i] * factor + offset);
      at += stride;
    }
    if (values.hasNulls()) {
      batch.setNulls(index, values.present(), from, count);
    }
  }

  /// Gives nulls a value that is never refused.
  private void fillNulls(long[] longs, byte[] present, int from, int count) {
    for (int i = from; i < from + count; i++) {
      if (present[i] == 0) {
        longs[i] = min;
      }
    }
  }
}
