package dev.kakehashi.queue.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CronExpressionTest {
  private static List<String> times(String cron, String zone, String after, int count) {
    CronExpression times = new CronExpression(cron, zone);
    List<String> result = new ArrayList<>();
    long at = Instant.parse(after).toEpochMilli();
    for (int each = 0; each < count; each++) {
      at = times.next(at);
      result.add(Instant.ofEpochMilli(at).toString());
    }
    return result;
  }

  @Test
  void shouldFindNextTimes() {
    assertEquals(
        List.of("2026-01-01T10:15:00Z", "2026-01-01T10:30:00Z", "2026-01-01T10:45:00Z"),
        times("*/15 * * * *", "UTC", "2026-01-01T10:00:00Z", 3));
    assertEquals(
        List.of("2026-01-02T08:05:00Z", "2026-01-02T18:05:00Z", "2026-01-05T08:05:00Z"),
        times("5 8,18 * * mon-fri", "UTC", "2026-01-01T20:00:00Z", 3));
    assertEquals(
        List.of("2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"),
        times("0 0 29 feb *", "UTC", "2026-01-01T00:00:00Z", 2));
  }

  @Test
  void shouldTakeEitherDayIfBothAreGiven() {
    assertEquals(
        List.of("2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z", "2026-01-13T00:00:00Z"),
        times("0 0 13 * 7", "UTC", "2026-01-01T00:00:00Z", 3));
  }

  @Test
  void shouldNotRepeatATimeOfDayWhenClocksGoBack() {
    // Berlin, 2026-10-25, 03:00 becomes 02:00 at 01:00 UTC.
    assertEquals(
        List.of("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2));
  }

  @Test
  void shouldMakeUpForALocalTimeThatIsMissing() {
    // Berlin, 2026-03-29, 02:00 becomes 03:00 at 01:00 UTC.
    assertEquals(
        List.of("2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"),
        times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2));
  }

  /// A zone whose clocks go back and forward.
  ///
  /// @param twice local time of a day that comes twice, as cron has it, with its only instant
  /// @param missing one that does not come, with the instant that makes up for it
  private record Change(
      String zone,
      String back,
      String forward,
      String twice,
      String twiceAt,
      String missing,
      String missingAt) {}

  private static final List<Change> CHANGES =
      List.of(
          new Change(
              "Europe/Berlin",
              "2026-10-25T01:00:00Z",
              "2026-03-29T01:00:00Z",
              "30 2 * * *",
              "2026-10-25T00:30:00Z",
              "30 2 * * *",
              "2026-03-29T01:30:00Z"),
          new Change(
              "America/New_York",
              "2026-11-01T06:00:00Z",
              "2026-03-08T07:00:00Z",
              "15 1 * * *",
              "2026-11-01T05:15:00Z",
              "45 2 * * *",
              "2026-03-08T07:45:00Z"),
          // By half an hour: 02:00 (+11) becomes 01:30 (+10:30).
          new Change(
              "Australia/Lord_Howe",
              "2026-04-04T15:00:00Z",
              "2026-10-03T15:30:00Z",
              "45 1 * * *",
              "2026-04-04T14:45:00Z",
              "15 2 * * *",
              "2026-10-03T15:45:00Z"));

  /// Instants at regular distances, the first one `minutes` after another.
  private static List<String> every(int minutes, Instant after, int count) {
    List<String> result = new ArrayList<>();
    for (int each = 1; each <= count; each++) {
      result.add(after.plusSeconds(60L * minutes * each).toString());
    }
    return result;
  }

  @Test
  void shouldGoOnWithAnIntervalWhenClocksChange() {
    for (Change each : CHANGES) {
      for (String change : List.of(each.back, each.forward)) {
        Instant before = Instant.parse(change).minusSeconds(2 * 3600);
        assertEquals(
            every(15, before, 20), times("*/15 * * * *", each.zone, before.toString(), 20), change);
        assertEquals(
            every(1, before, 300), times("* * * * *", each.zone, before.toString(), 300), change);
        // From within, too: a clock that was stopped.
        Instant within = Instant.parse(change).plusSeconds(600);
        assertEquals(
            Instant.parse(change).plusSeconds(900).toString(),
            times("*/15 * * * *", each.zone, within.toString(), 1).getFirst());
      }
    }
  }

  @Test
  void shouldLeaveOutNoHourWhenClocksChange() {
    for (Change each : CHANGES.subList(0, 2)) {
      for (String change : List.of(each.back, each.forward)) {
        Instant before = Instant.parse(change).minusSeconds(3 * 3600);
        assertEquals(
            every(60, before, 8), times("0 * * * *", each.zone, before.toString(), 8), change);
      }
    }
    // 01:00, 02:00 that is 01:30 at once, 02:00, 03:00.
    assertEquals(
        List.of(
            "2026-04-04T14:00:00Z",
            "2026-04-04T15:30:00Z",
            "2026-04-04T16:30:00Z",
            "2026-04-04T17:30:00Z"),
        times("0 * * * *", "Australia/Lord_Howe", "2026-04-04T13:30:00Z", 4));
    // 02:00 is 02:30 at once.
    assertEquals(
        List.of("2026-10-03T14:30:00Z", "2026-10-03T16:00:00Z", "2026-10-03T17:00:00Z"),
        times("0 * * * *", "Australia/Lord_Howe", "2026-10-03T13:30:00Z", 3));
    assertEquals(
        List.of("2026-04-04T14:30:00Z", "2026-04-04T15:00:00Z", "2026-04-04T16:00:00Z"),
        times("30 * * * *", "Australia/Lord_Howe", "2026-04-04T13:30:00Z", 3));
  }

  @Test
  void shouldComeOnceAtATimeOfDayWhenClocksChange() {
    for (Change each : CHANGES) {
      String day = Instant.parse(each.back).minusSeconds(12 * 3600).toString();
      List<String> twice = times(each.twice, each.zone, day, 2);
      assertEquals(each.twiceAt, twice.getFirst(), each.zone);
      assertTrue(
          Instant.parse(twice.get(1)).isAfter(Instant.parse(each.twiceAt).plusSeconds(23 * 3600)),
          each.zone);
      day = Instant.parse(each.forward).minusSeconds(12 * 3600).toString();
      List<String> missing = times(each.missing, each.zone, day, 2);
      assertEquals(each.missingAt, missing.getFirst(), each.zone);
      assertTrue(
          Instant.parse(missing.get(1))
              .isAfter(Instant.parse(each.missingAt).plusSeconds(22 * 3600)),
          each.zone);
    }
  }

  @Test
  void shouldNeverComeIfNoDayMatches() {
    assertEquals(Long.MAX_VALUE, new CronExpression("0 0 30 2 *", "UTC").next(0));
    assertEquals(Long.MAX_VALUE, new CronExpression("* 5 31 4,6 *", "Europe/Berlin").next(0));
  }

  @Test
  void shouldKnowTheFirstNames() {
    assertEquals(
        List.of("2027-01-03T00:00:00Z"), times("0 0 3 Jan *", "UTC", "2026-02-01T00:00:00Z", 1));
    assertEquals(
        List.of("2026-02-08T00:00:00Z"), times("0 0 * * SUN", "UTC", "2026-02-01T00:00:00Z", 1));
  }

  @Test
  void shouldRefuseWhatIsNoExpression() {
    for (String each :
        List.of(
            "",
            "* * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "*/0 * * * *",
            "5-1 * * * *",
            "1-2-3 * * * *",
            "a * * * *",
            "* * * * 8",
            "-1 * * * *",
            "1, * * * *")) {
      assertThrows(EngineException.class, () -> new CronExpression(each, "UTC"), each);
    }
    assertThrows(EngineException.class, () -> new CronExpression("* * * * *", "Mars/Base"));
  }
}
