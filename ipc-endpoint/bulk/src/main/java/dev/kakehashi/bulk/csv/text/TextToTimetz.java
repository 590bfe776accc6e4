package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.bulk.DateTimeTexts;
import dev.kakehashi.formats.TimeInput;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// time with time zone, which row batches have as text.
final class TextToTimetz extends TextColumn {
  private final int precision;

  private final @Nullable DateTimeTexts texts;

  TextToTimetz(int modifier, @Nullable DateTimeTexts texts) {
    this.texts = texts;
    precision = modifier < 0 ? 6 : Math.min(modifier, 6);
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    String text = FileUtf8.stripped(bytes, from, to);
    String written = texts == null ? TimeInput.timetz(text) : texts.timetz(text, precision);
    if (texts == null && precision < 6) {
      int zone = Math.max(written.lastIndexOf('+'), written.lastIndexOf('-'));
      long micros = Micros.round(TimeInput.time(written.substring(0, zone)), precision);
      written = TimeInput.timetz(TextToTime.clock(micros) + written.substring(zone));
    }
    batch.setVarlena(column, written.getBytes(StandardCharsets.US_ASCII));
  }
}
