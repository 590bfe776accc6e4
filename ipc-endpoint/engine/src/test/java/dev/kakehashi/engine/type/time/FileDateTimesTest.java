package dev.kakehashi.engine.type.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.bulk.DateTimeTexts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgTime;
import java.time.Instant;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;

class FileDateTimesTest {
  private static final Instant NOW = Instant.parse("2026-11-25T22:30:00Z");
  private static final DateTimeTexts TEXTS = new FileDateTimes(PgTime.fromInstant(NOW));

  @Test
  void shouldReadWhatCastsRead() {
    long day = PgTime.fromDate(LocalDate.of(2024, 1, 5));
    for (String text : new String[] {"2024-1-5", "20240105", "01/05/2024", "5 Jan 2024"}) {
      assertEquals(day, TEXTS.dateTime(TypeOid.DATE, text), text);
    }
    assertEquals(
        PgTime.fromDate(LocalDate.of(2026, 11, 25)), TEXTS.dateTime(TypeOid.DATE, "today"));
    assertEquals(
        PgTime.fromInstant(Instant.parse("2024-07-05T16:00:00Z")),
        TEXTS.dateTime(TypeOid.TIMESTAMPTZ, "2024-07-05 12:00 America/New_York"));
    assertEquals(
        PgTime.fromInstant(Instant.parse("2024-07-05T12:00:00Z")),
        TEXTS.dateTime(TypeOid.TIMESTAMPTZ, "2024-07-05 12:00"));
    assertEquals("12:00:01+02", TEXTS.timetz("12:00:00.7 +2", 0));
    assertEquals(new PgInterval(0, 1, 43_200_000_000L), TEXTS.interval("1.5 days", -1));
  }

  @Test
  void shouldRefuseOtherTexts() {
    EngineException e =
        assertThrows(EngineException.class, () -> TEXTS.dateTime(TypeOid.DATE, "2024-13-40"));
    assertEquals(ErrorCode.DATETIME_OVERFLOW, e.code());
    assertThrows(EngineException.class, () -> TEXTS.interval("a while", -1));
  }
}
