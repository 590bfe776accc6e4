package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.server.report.SchedulerReport;
import dev.kakehashi.server.report.SessionReport;
import dev.kakehashi.server.socket.RuntimeLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Use that an endpoint makes of its scheduler: limits of a session, status.
@Timeout(60)
class SchedulerUseTest {
  private static void run(Session session, int times) {
    try (PreparedStatement statement = session.prepare(FixedEngine.ONE)) {
      for (int i = 0; i < times; i++) {
        try (Rows rows = session.query(statement)) {
          assertTrue(rows.next());
          assertEquals(1, rows.getLong(0));
          assertFalse(rows.next());
        }
      }
    }
  }

  private static long metric(TestEndpoint endpoint, String name) throws IOException {
    String json = StatusSocket.ask(new RuntimeLocation(endpoint.runtimeDirectory(), "")).metrics();
    return Long.parseLong(json.replaceFirst(".*?\"" + name + "\":(\\d+).*", "$1"));
  }

  @Test
  void shouldHoldExecutionsBackThatFindNoToken() throws Exception {
    try (TestEndpoint endpoint =
            TestEndpoint.start("session_rate", "500", "session_bucket_size", "2");
        Session session = endpoint.attach()) {
      long began = System.nanoTime();
      run(session, 52);
      // 50 of them had to wait for a token of 2 ms each.
      assertTrue(System.nanoTime() - began >= 100_000_000, "faster than the rate");
      assertTrue(metric(endpoint, "rate.delayed") > 0);
    }
  }

  @Test
  void shouldLimitWhatRunsAtATimeAndStillAnswerEverything() throws Exception {
    try (TestEndpoint endpoint = TestEndpoint.start("session_max_concurrent_requests", "1");
        Session session = endpoint.attach()) {
      run(session, 200);
    }
  }

  @Test
  void shouldTellWhatEachWorkerAndEachSessionDoes() throws Exception {
    try (TestEndpoint endpoint = TestEndpoint.start("worker_threads", "3");
        Session session = endpoint.attach()) {
      run(session, 10);
      EndpointStatus said = StatusSocket.ask(new RuntimeLocation(endpoint.runtimeDirectory(), ""));
      String text = SchedulerReport.text(said.metrics());
      assertTrue(text.startsWith("scheduler: 3 workers, "), text);
      assertEquals(3, text.lines().filter(line -> line.matches(" {2,7}\\d .*")).count(), text);
      for (String column :
          List.of("executed", "stolen", "suspended", "woken", "sticky", "conditional", "longest")) {
        assertTrue(text.contains(" " + column), text);
      }
      assertEquals(1, SessionReport.text(said.sessions()).lines().count(), said.toString());
      assertTrue(
          SessionReport.text(said.sessions()).contains(", client java client, process "),
          said.toString());
      String user = System.getProperty("user.name");
      assertEquals(
          "\n  1 of user \"" + user + "\", application \"java\"",
          SessionReport.summary(said.sessions()));
      assertEquals(
          "",
          SessionReport.summary(EndpointStatus.NONE.sessions())); // an endpoint that is starting
    }
  }

  @Test
  void shouldTellTheStateOfTheSchedulerToItsOwnUserOnly() throws Exception {
    try (TestEndpoint endpoint = TestEndpoint.start();
        Session session = endpoint.attach()) {
      run(session, 10);
      var socket = endpoint.runtimeDirectory().resolve(StatusSocket.FILE);
      assertEquals(
          "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
      EndpointStatus said = StatusSocket.ask(new RuntimeLocation(endpoint.runtimeDirectory(), ""));
      String json = said.metrics();
      assertTrue(json.startsWith("{\"tasks.accepted\":") && json.endsWith("}"), json);
      assertFalse(json.contains("\n"));
      assertTrue(SchedulerReport.text(said.metrics()).startsWith("scheduler: "), said.toString());
      assertTrue(said.jobs().contains("kakehashi-worker-0"), said.toString());
      for (var entry : Map.of("queue.inbox", 0L, "park.timeoutWithWork", 0L).entrySet()) {
        assertEquals(entry.getValue(), metric(endpoint, entry.getKey()));
      }
    }
  }
}
