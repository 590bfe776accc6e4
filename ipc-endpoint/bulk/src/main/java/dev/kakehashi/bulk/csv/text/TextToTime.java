package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.DateTimeInput;
import dev.kakehashi.valuetext.time.IsoDateTime;
import dev.kakehashi.valuetext.time.TimePrecision;
import dev.kakehashi.valuetext.time.Zone;
import java.util.function.LongSupplier;

/// date, time, timestamp and timestamptz.
final class TextToTime extends TextColumn {
  private final int typeOid;
  private final int precision;

  /// Instant of the words "now", "today" and so on.
  private final LongSupplier now;

  TextToTime(int typeOid, int modifier, LongSupplier now) {
    this.now = now;
    this.typeOid = typeOid;
    this.precision = modifier < 0 || typeOid == TypeOid.DATE ? 6 : Math.min(modifier, 6);
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    long value = usual(bytes, from, to);
    if (value == IsoDateTime.NONE) {
      value = any(FileUtf8.stripped(bytes, from, to));
    }
    batch.setWord(column, TimePrecision.timestamp(value, precision));
  }

  private long usual(byte[] bytes, int from, int to) {
    return switch (typeOid) {
      case TypeOid.DATE -> IsoDateTime.date(bytes, from, to);
      case TypeOid.TIME -> IsoDateTime.time(bytes, from, to);
      case TypeOid.TIMESTAMP -> IsoDateTime.timestamp(bytes, from, to);
      default -> IsoDateTime.timestamp(bytes, from, IsoDateTime.endBeforeUtc(bytes, from, to));
    };
  }

  private long any(String text) {
    return switch (typeOid) {
      case TypeOid.DATE -> DateTimeInput.date(text, Zone.UTC, now);
      case TypeOid.TIME -> DateTimeInput.time(text, Zone.UTC, now);
      case TypeOid.TIMESTAMP -> DateTimeInput.timestamp(text, Zone.UTC, now);
      default -> DateTimeInput.timestamptz(text, Zone.UTC, now);
    };
  }
}
