package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.valuetext.time.IntervalFields;
import dev.kakehashi.valuetext.time.IntervalParser;
import dev.kakehashi.valuetext.time.TimePrecision;

/// interval.
final class TextToInterval extends TextColumn {
  /// Digits of a second; -1: all.
  private final int precision;

  /// By which a last number without a unit is read.
  private final IntervalFields fields;

  TextToInterval(int modifier) {
    fields = IntervalFields.of(modifier);
    precision = IntervalFields.precision(modifier);
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    PgInterval interval = IntervalParser.parse(FileUtf8.stripped(bytes, from, to), fields);
    int at = batch.heap(column, PgInterval.BYTES);
    byte[] memory = batch.memory;
    Eight.store(memory, at, TimePrecision.time(interval.micros(), precision));
    Eight.INTS.set(memory, at + 8, interval.days());
    Eight.INTS.set(memory, at + 12, interval.months());
  }
}
