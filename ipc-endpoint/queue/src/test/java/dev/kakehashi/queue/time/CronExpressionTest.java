package dev.kakehashi.queue.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.EngineException;
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
  void shouldNotRepeatALocalTimeWhenClocksGoBack() {
    // Berlin, 2026-10-25, 03:00 becomes 02:00 at 01:00 UTC.
    assertEquals(
        List.of("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2));
    assertEquals(
        List.of("2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z"),
        times("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3));
    assertEquals(
        List.of("2026-10-25T02:00:00Z"),
        times("*/30 * * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1));
  }

  @Test
  void shouldMakeUpForALocalTimeThatIsMissing() {
    // Berlin, 2026-03-29, 02:00 becomes 03:00 at 01:00 UTC.
    assertEquals(
        List.of("2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"),
        times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2));
    assertEquals(
        List.of("2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"),
        times("0 * * * *", "Europe/Berlin", "2026-03-28T23:00:00Z", 3));
  }

  @Test
  void shouldNeverComeIfNoDayMatches() {
    assertEquals(Long.MAX_VALUE, new CronExpression("0 0 30 2 *", "UTC").next(0));
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
