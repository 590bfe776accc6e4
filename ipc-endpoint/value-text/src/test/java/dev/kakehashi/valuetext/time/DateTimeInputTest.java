package dev.kakehashi.valuetext.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgTime;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Objects;
import java.util.Random;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class DateTimeInputTest {
  private static final Instant NOW = Instant.parse("2026-11-25T22:30:00Z");
  private static final Zone BERLIN = Objects.requireNonNull(Zone.find("Europe/Berlin"));

  private static long now() {
    return PgTime.fromInstant(NOW);
  }

  private static long date(String text) {
    return DateTimeInput.date(text, Zone.UTC, DateTimeInputTest::now);
  }

  private static long timestamptz(String text) {
    return DateTimeInput.timestamptz(text, Zone.UTC, DateTimeInputTest::now);
  }

  private static PgInterval interval(String text) {
    return IntervalParser.parse(text, IntervalFields.ALL);
  }

  @Test
  void shouldReadPostgresForms() {
    long day = PgTime.fromDate(LocalDate.of(2024, 1, 5));
    for (String text :
        new String[] {"2024-01-05", "2024-1-5", "20240105", "01/05/2024", "5 Jan 2024"}) {
      assertEquals(day, date(text), text);
    }
    assertEquals(PgTime.fromDate(LocalDate.of(2026, 11, 25)), date("today"));
    assertEquals(
        PgTime.fromInstant(Instant.parse("2024-07-05T16:00:00Z")),
        timestamptz("2024-07-05 12:00 America/New_York"));
    assertEquals(
        PgTime.fromInstant(Instant.parse("2024-07-05T12:00:00Z")), timestamptz("2024-07-05 12:00"));
    assertEquals(
        "12:00:01+02",
        DateTimeInput.timeWithZone("12:00:00.7 +2", 0, Zone.UTC, DateTimeInputTest::now));
    assertEquals(new PgInterval(0, 1, 43_200_000_000L), interval("1.5 days"));
  }

  @Test
  void shouldRefuseOtherTexts() {
    EngineException e = assertThrows(EngineException.class, () -> date("2024-13-40"));
    assertEquals(ErrorCode.DATETIME_OVERFLOW, e.code());
    assertThrows(EngineException.class, () -> interval("a while"));
  }

  @Test
  void shouldShowTheBeginningOfALongText() {
    String text = "2024-01-05 ".repeat(100_000);
    EngineException e = assertThrows(EngineException.class, () -> date(text));
    assertEquals(ErrorCode.INVALID_DATETIME_FORMAT, e.code());
    assertEquals(
        "invalid input syntax for type date: \"" + text.substring(0, 50) + "…\"", e.getMessage());
  }

  /// Texts that a reader of its own once refused in values of JSON, and took otherwise in files.
  @Test
  void shouldReadIntervalsAsPostgresDoes() {
    assertEquals(interval("14 mons 3 days 04:05:06"), interval("P1Y2M3DT4H5M6S"));
    assertEquals(interval("-1 years"), interval("1 year ago"));
    assertEquals(interval("1 mon 15 days"), interval("1.5 months"));
    assertEquals(interval("12:00:00"), interval("P0.5D"));
    assertEquals(interval("14 mons"), interval("1-2"));
    assertEquals(interval("4 seconds"), interval("4"));
    // Half a microsecond is left away.
    assertEquals(new PgInterval(0, 0, 1_000_001), interval("1.0000006 seconds"));
    assertEquals(new PgInterval(0, 0, 1_000_000), interval("1.0000005 seconds"));
  }

  /// The value of a text, or the code of its error.
  private static Object outcome(LongSupplier reader) {
    try {
      return reader.getAsLong();
    } catch (EngineException e) {
      return e.code();
    }
  }

  private static void check(String what, String text, long usual, LongSupplier whole) {
    if (usual != IsoDateTime.NONE) {
      assertEquals(outcome(whole), usual, () -> what + " \"" + text + "\"");
    }
  }

  /// Texts of the usual form and a little beside it: where the fast path reads one, the whole grammar reads the same.
  @Test
  void shouldReadTheUsualFormAsTheWholeGrammarDoes() {
    long seed = Long.getLong("valuetext.seed", 41);
    int rounds = Integer.getInteger("valuetext.rounds", 20_000);
    Random random = new Random(seed);
    String others = "0123456789-:. TZ+t,";
    int read = 0;
    for (int i = 0; i < rounds; i++) {
      StringBuilder made =
          new StringBuilder(
              "%04d-%02d-%02d%s%02d:%02d:%02d"
                  .formatted(
                      1890 + random.nextInt(220),
                      random.nextInt(14),
                      random.nextInt(33),
                      random.nextInt(4) == 0 ? "T" : " ",
                      random.nextInt(26),
                      random.nextInt(62),
                      random.nextInt(62)));
      if (random.nextBoolean()) {
        made.append('.');
        random.ints(random.nextInt(8), 0, 10).forEach(made::append);
      }
      made.append(new String[] {"", "", "Z", "+00", "-00", "+01"}[random.nextInt(6)]);
      if (random.nextInt(4) == 0) {
        made.setCharAt(
            random.nextInt(made.length()), others.charAt(random.nextInt(others.length())));
      }
      String text = made.toString();
      String where = "seed " + seed + ", round " + i + ":";
      byte[] bytes = IsoDateTime.bytes(text);
      int length = bytes.length;
      LongSupplier now = DateTimeInputTest::now;
      long timestamp = IsoDateTime.timestamp(bytes, 0, length);
      check(where, text, timestamp, () -> DateTimeInput.anyTimestamp(text, Zone.UTC, now));
      int end = IsoDateTime.endBeforeUtc(bytes, 0, length);
      long instant = IsoDateTime.timestamp(bytes, 0, end);
      check(where, text, instant, () -> DateTimeInput.anyTimestamptz(text, Zone.UTC, now));
      if (instant != IsoDateTime.NONE) {
        assertEquals(
            DateTimeInput.anyTimestamptz(text, BERLIN, now),
            DateTimeInput.timestamptz(text, BERLIN, now),
            where + text);
        read++;
      }
      String day = text.substring(0, 10);
      long date = IsoDateTime.date(IsoDateTime.bytes(day), 0, 10);
      check(where, day, date, () -> DateTimeInput.anyDate(day, Zone.UTC, now));
      String clock = text.substring(11);
      long time = IsoDateTime.time(IsoDateTime.bytes(clock), 0, clock.length());
      check(where, clock, time, () -> DateTimeInput.anyTime(clock, Zone.UTC, now));
      String written = instant == IsoDateTime.NONE ? "" : DateTimeFormat.timestamp(instant);
      assertEquals(instant, written.isEmpty() ? instant : timestamptz(written), written);
    }
    assertEquals(true, read > rounds / 4, () -> "too few texts of the usual form");
  }
}
