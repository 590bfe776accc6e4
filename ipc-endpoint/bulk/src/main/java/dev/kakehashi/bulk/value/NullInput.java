package dev.kakehashi.bulk.value;

/// Nulls alone.
final class NullInput extends ColumnInput {
  @Override
  public void put(
      FileValues values, int from, int count, BatchFill batch, int index, RowFailures failures) {
    for (int i = 0; i < count; i++) {
      batch.setNull(i, index);
    }
  }
}
