package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.error.EngineException;
import org.jspecify.annotations.Nullable;

/// Why rows of a batch cannot be converted: for each the failure of its first column. Not thread-safe.
public final class RowFailures {
  private @Nullable EngineException[] failures = new EngineException[0];
  private int count;
  private int last;

  /// Forgets all, and takes rows from 0 to before `rows`.
  public void begin(int rows) {
    if (failures.length < rows) {
      failures = new EngineException[rows];
    } else if (count > 0) {
      java.util.Arrays.fill(failures, 0, last + 1, null);
    }
    count = 0;
    last = -1;
  }

  /// Notes that a value of the row is refused. The column's name is added.
  public void add(int row, String column, EngineException failure) {
    if (failures[row] == null) {
      failures[row] = failure.withColumn(column);
      count++;
      last = Math.max(last, row);
    }
  }

  /// Rows that have failed.
  public int count() {
    return count;
  }

  /// Why a row has failed; null: it has not.
  public @Nullable EngineException of(int row) {
    return failures[row];
  }
}
