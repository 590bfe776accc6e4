package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.EndpointProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The endpoint is killed at a random moment after rows were sent as a body under a key. The same request makes each row be there once.
/// More kills by `-Dkakehashi.bodyKills=100`, the same moments by `-Dkakehashi.seed=…`.
@Timeout(1800)
class HttpBodyKillTest {
  private static final int KILLS = Integer.getInteger("kakehashi.bodyKills", 1);
  private static final long SEED = Long.getLong("kakehashi.seed", System.nanoTime());
  private static final int ROWS = 20_000;
  private static final long LONGEST_LIFE_NANOS = 1_000_000_000L;

  @Test
  void shouldLoadEachBodyOnce() throws Exception {
    System.out.println("seed " + SEED + ", kills " + KILLS);
    Random random = new Random(SEED);
    Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    Path socket = directory.resolve("http");
    try (EndpointProcess endpoint = EndpointProcess.open("http_socket=" + socket)) {
      try (HttpConnection connection = HttpConnection.open(socket, "")) {
        connection.sql("create table log (k int8, v int8)").expect(200);
      }
      for (int kill = 1; kill <= KILLS; kill++) {
        boolean inBatches = random.nextBoolean();
        try (HttpConnection connection = HttpConnection.open(socket, "")) {
          request(connection, kill, inBatches, "Prefer: respond-async");
          // The moment is what is random; nothing waits for it.
          LockSupport.parkNanos(random.nextLong(LONGEST_LIFE_NANOS));
          endpoint.kill();
        }
        endpoint.start();
        try (HttpConnection connection = HttpConnection.open(socket, "")) {
          String state =
              state(
                  request(connection, kill, inBatches, "Prefer: respond-async, wait=60").answer());
          List<List<String>> rows =
              connection
                  .sql("select count(*), count(distinct v) from log where k = " + kill)
                  .expect(200)
                  .rows();
          String count = String.valueOf(ROWS);
          assertEquals(List.of(List.of(count, count)), rows, "kill " + kill + ", " + state);
        }
      }
    } finally {
      Directories.delete(directory);
    }
  }

  private static HttpConnection request(
      HttpConnection connection, int kill, boolean inBatches, String prefer) throws IOException {
    StringBuilder body = new StringBuilder();
    for (int i = 0; i < ROWS; i++) {
      body.append(kill).append(',').append(i).append('\n');
    }
    return connection.send(
        "POST /v1/tables/log/rows" + (inBatches ? "?batch_rows=1000" : ""),
        body.toString().getBytes(StandardCharsets.UTF_8),
        "Content-Type: text/csv",
        prefer,
        "Idempotency-Key: \"body " + kill + "\"");
  }

  /// It has taken effect: by the answer, or by the word that the crash has lost the answer.
  private static String state(HttpAnswer answer) {
    if (answer.status() == 200) {
      assertEquals(ROWS, answer.json().path("loaded").asInt(), answer::toString);
      return "answered";
    }
    assertEquals("committed", answer.expect(410).state(), answer::toString);
    assertTrue(answer.json().path("type").asText().endsWith("result-lost"), answer::toString);
    return "lost";
  }
}
