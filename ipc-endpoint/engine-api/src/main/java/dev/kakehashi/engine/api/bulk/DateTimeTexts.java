package dev.kakehashi.engine.api.bulk;

import dev.kakehashi.protocol.value.PgInterval;

/// Dates, times and intervals from text, in all forms that casts of the engine take. A text without a time zone is in UTC, whatever the
/// session's is. Thread-safe.
public interface DateTimeTexts {
  /// @param typeOid date, time, timestamp or timestamptz
  /// @return the word that a row batch has (PROTOCOL.md §6)
  /// @throws dev.kakehashi.engine.api.EngineException INVALID_DATETIME_FORMAT, DATETIME_OVERFLOW, INVALID_TIME_ZONE_DISPLACEMENT,
  ///     INVALID_PARAMETER_VALUE
  long dateTime(int typeOid, String text);

  /// A time with a time zone as PostgreSQL writes it; errors as for [#dateTime].
  ///
  /// @param precision digits of seconds, to which it is rounded; -1: all
  String timetz(String text, int precision);

  /// @param typeModifier of interval: which fields a number without unit has; -1: none
  /// @throws dev.kakehashi.engine.api.EngineException INVALID_DATETIME_FORMAT, INTERVAL_FIELD_OVERFLOW, DATETIME_OVERFLOW
  PgInterval interval(String text, int typeModifier);
}
