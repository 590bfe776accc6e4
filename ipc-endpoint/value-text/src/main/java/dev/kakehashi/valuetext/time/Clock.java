package dev.kakehashi.valuetext.time;

import java.time.Instant;

/// Time as PostgreSQL counts it.
public final class Clock {
  private static final long POSTGRES_EPOCH_SECONDS = 946_684_800L;

  private Clock() {}

  /// Microseconds since 2000-01-01 UTC.
  public static long now() {
    Instant now = Instant.now();
    return (now.getEpochSecond() - POSTGRES_EPOCH_SECONDS) * 1_000_000L + now.getNano() / 1000;
  }
}
