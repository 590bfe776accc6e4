package dev.kakehashi.bulk.value;

import dev.kakehashi.protocol.value.PgTime;

/// Rounds the microseconds of another input's words to the digits that the column has, away from zero in the middle.
final class RoundedInput extends ColumnInput {
  private static final int MAX_DIGITS = 6;

  private final ColumnInput input;
  private final long unit;

  private RoundedInput(ColumnInput input, int digits) {
    this.input = input;
    long micros = 1;
    for (int i = digits; i < MAX_DIGITS; i++) {
      micros *= 10;
    }
    this.unit = micros;
  }

  /// @param digits after the point; outside of 0 … 5: as many as there are
  static ColumnInput of(ColumnInput input, int digits) {
    return digits < 0 || digits >= MAX_DIGITS ? input : new RoundedInput(input, digits);
  }

  @Override
  public void put(
      FileValues values, int from, int count, BatchFill batch, int index, RowFailures failures) {
    input.put(values, from, count, batch, index, failures);
    byte[] bytes = batch.bytes();
    int at = batch.wordAt(index);
    for (int i = 0; i < count; i++) {
      long word = (long) BatchFill.LONGS.get(bytes, at);
      if (word != PgTime.TIMESTAMP_POSITIVE_INFINITY
          && word != PgTime.TIMESTAMP_NEGATIVE_INFINITY) {
        long rounded =
            word >= 0 ? (word + unit / 2) / unit * unit : -((-word + unit / 2) / unit * unit);
        BatchFill.LONGS.set(bytes, at, rounded);
      }
      at += batch.stride();
    }
  }

  @Override
  public void close() {
    input.close();
  }
}
