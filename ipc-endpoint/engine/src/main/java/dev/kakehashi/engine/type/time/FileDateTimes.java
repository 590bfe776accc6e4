package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.api.bulk.DateTimeTexts;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;

/// Dates and times of files, read as by casts from text. Immutable.
///
/// @param now of the words "now", "today" and so on: microseconds since 2000-01-01 UTC
public record FileDateTimes(long now) implements DateTimeTexts {
  @Override
  public long dateTime(int typeOid, String text) {
    return switch (typeOid) {
      case TypeOid.DATE -> DateTimeInput.date(text, Zone.UTC, this::now);
      case TypeOid.TIME -> DateTimeInput.time(text, Zone.UTC, this::now);
      case TypeOid.TIMESTAMP -> DateTimeInput.timestamp(text, Zone.UTC, this::now);
      case TypeOid.TIMESTAMPTZ -> DateTimeInput.timestamptz(text, Zone.UTC, this::now);
      default -> throw new IllegalArgumentException("type " + typeOid);
    };
  }

  @Override
  public String timetz(String text, int precision) {
    return DateTimeInput.timeWithZone(text, precision, Zone.UTC, this::now);
  }

  @Override
  public PgInterval interval(String text, int typeModifier) {
    return IntervalParser.value(text, IntervalFields.of(typeModifier));
  }
}
