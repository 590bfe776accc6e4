package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.bulk.DateTimeTexts;
import dev.kakehashi.formats.IntervalInput;
import dev.kakehashi.protocol.value.PgInterval;
import org.jspecify.annotations.Nullable;

/// interval.
final class TextToInterval extends TextColumn {
  private static final int PRECISION_MASK = 0xFFFF;

  /// Digits of a second; 6: all.
  private final int precision;

  private final int modifier;
  private final @Nullable DateTimeTexts texts;

  TextToInterval(int modifier, @Nullable DateTimeTexts texts) {
    this.modifier = modifier;
    this.texts = texts;
    int digits = modifier & PRECISION_MASK;
    precision = modifier < 0 || digits > 6 ? 6 : digits;
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    String text = FileUtf8.stripped(bytes, from, to);
    PgInterval interval =
        texts == null ? IntervalInput.parse(text) : texts.interval(text, modifier);
    int at = batch.heap(column, PgInterval.BYTES);
    byte[] memory = batch.memory;
    Eight.store(memory, at, Micros.round(interval.micros(), precision));
    Eight.INTS.set(memory, at + 8, interval.days());
    Eight.INTS.set(memory, at + 12, interval.months());
  }
}
