package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The endpoint ends while clients wait.
class HttpEndTest {
  private static final String ASYNC = "Prefer: respond-async";

  /// It does not wait for them, and they are told how the job stands.
  @Test
  @Timeout(60)
  void shouldAnswerLongPolls() throws Exception {
    try (HttpFixture door = HttpFixture.start("http_metrics", "everybody")) {
      HttpConnection alice = door.alice();
      String job = alice.sql(HttpFixture.ENDLESS, ASYNC).expect(202).header("Location");
      HttpConnection poll = door.alice();
      poll.send("GET " + job + "?wait=100", new byte[0]);
      Await.until("it waits", () -> waiters(alice) == 1);

      door.endpoint().restart();

      assertEquals("running", poll.answer().expect(200).json().path("state").asText());
      assertEquals("interrupted", door.alice().get(job).expect(200).json().path("state").asText());
    }
  }

  private static int waiters(HttpConnection connection) {
    try {
      String name = "\nkakehashi_http_job_waiters ";
      String page = connection.get("/metrics").expect(200).text();
      int at = page.indexOf(name) + name.length();
      return Integer.parseInt(page, at, page.indexOf('\n', at), 10);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
