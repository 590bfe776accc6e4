package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.error.EngineException;

/// Values that are converted one by one.
abstract class EachInput extends ColumnInput {
  final String column;

  EachInput(String column) {
    this.column = column;
  }

  @Override
  public final void put(
      FileValues values, int from, int count, BatchFill batch, int index, RowFailures failures) {
    boolean hasNulls = values.hasNulls();
    for (int i = 0; i < count; i++) {
      if (hasNulls && values.isNull(from + i)) {
        batch.setNull(i, index);
      } else {
        try {
          batch.setWord(i, index, word(values, from + i, batch));
        } catch (EngineException e) {
          refuse(e, i, failures);
        }
      }
    }
  }

  private void refuse(EngineException failure, int row, RowFailures failures) {
    switch (failure.code()) {
      case OUT_OF_MEMORY, LIMIT_EXCEEDED, QUERY_CANCELED -> throw failure;
      default -> failures.add(row, column, failure);
    }
  }

  /// The word of a value that is not null; what it refers to is put on the batch's heap.
  ///
  /// @throws EngineException when the value is refused
  abstract long word(FileValues values, int index, BatchFill batch);
}
