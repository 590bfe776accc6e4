package dev.kakehashi.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.server.HttpEndpoint;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Prints how long pages take, and what an open page costs.
/// Properties set the size: `-Dkakehashi.console.tasks=100000 -Dkakehashi.console.rounds=200`.
@Timeout(600)
class ConsoleTimesTest {
  private static final int TASKS = Integer.getInteger("kakehashi.console.tasks", 2_000);
  private static final int ROUNDS = Integer.getInteger("kakehashi.console.rounds", 5);
  private static final double NANOS_PER_MILLI = 1e6;

  /// Interval between two refreshes of the overview.
  private static final double REFRESH_MILLIS = 2_000;

  @Test
  void shouldAnswerPagesWithManyTasks() throws Exception {
    String operator = System.getProperty("user.name");
    try (HttpEndpoint endpoint = HttpEndpoint.start("http_console", "on");
        ConsoleClient client = new ConsoleClient(endpoint.uri())) {
      endpoint.user(operator, "runs it");
      assertEquals(303, client.login(operator, "runs it"));
      client.sql("create queue mail with (max_attempts = 1)");
      client.sql(
          "select count(enqueue('mail', '{\"to\": \"a@example.org\"}', key => 'k' || i % 100)) from generate_series(1, "
              + TASKS
              + ") i");
      client.sql(
          "select fail(token, error => 'no route to host') from receive('mail', \"max\" => 500)");
      System.out.printf("%d tasks, %d rounds%n", TASKS, ROUNDS);
      for (String page :
          List.of(
              "overview",
              "statements",
              "transactions",
              "queues",
              "queue?schema=public&name=mail",
              "queue?schema=public&name=mail&state=READY&from=9000",
              "dead-letters",
              "applications",
              "storage",
              "audit")) {
        times(client, page);
      }
      String live = "overview?live=true";
      long before = processorNanos();
      for (int i = 0; i < ROUNDS; i++) {
        assertEquals(200, client.get("/console/" + live).statusCode());
      }
      double millis = (processorNanos() - before) / NANOS_PER_MILLI / ROUNDS;
      System.out.printf(
          "an open overview: %.2f ms of a processor each time, browser's side included, %.2f %% of a core%n",
          millis, 100 * millis / REFRESH_MILLIS);
    }
  }

  private static void times(ConsoleClient client, String page) throws Exception {
    // Once for the compilers.
    for (int i = 0; i < ROUNDS; i++) {
      assertEquals(200, client.get("/console/" + page).statusCode(), page);
    }
    long[] nanos = new long[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
      long begin = System.nanoTime();
      client.get("/console/" + page);
      nanos[i] = System.nanoTime() - begin;
    }
    Arrays.sort(nanos);
    System.out.printf(
        "%-55s p50 %7.2f ms  p95 %7.2f ms%n",
        page,
        nanos[ROUNDS / 2] / NANOS_PER_MILLI,
        nanos[Math.min(ROUNDS - 1, ROUNDS * 95 / 100)] / NANOS_PER_MILLI);
  }

  private static long processorNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
