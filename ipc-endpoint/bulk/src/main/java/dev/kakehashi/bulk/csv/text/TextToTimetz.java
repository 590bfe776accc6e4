package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.valuetext.time.DateTimeInput;
import dev.kakehashi.valuetext.time.Zone;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;

/// time with time zone, which row batches have as text.
final class TextToTimetz extends TextColumn {
  private final int precision;

  private final LongSupplier now;

  TextToTimetz(int modifier, LongSupplier now) {
    this.now = now;
    precision = modifier < 0 ? 6 : Math.min(modifier, 6);
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    String text = FileUtf8.stripped(bytes, from, to);
    String written = DateTimeInput.timeWithZone(text, precision, Zone.UTC, now);
    batch.setVarlena(column, written.getBytes(StandardCharsets.US_ASCII));
  }
}
