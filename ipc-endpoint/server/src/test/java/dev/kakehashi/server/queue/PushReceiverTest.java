package dev.kakehashi.server.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.server.HttpEndpoint;
import dev.kakehashi.testsupport.Await;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The example of a receiver takes what the endpoint pushes, and nothing else.
@Timeout(120)
class PushReceiverTest {
  private static final Path RECEIVER =
      Path.of("../../examples/push/receiver.py").toAbsolutePath().normalize();

  private static String value(Session session, String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next(), sql);
      return String.valueOf(rows.getString(0));
    }
  }

  private static int post(HttpClient client, String port, long seconds, String signature)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
            .header("Kakehashi-Timestamp", Long.toString(seconds))
            .header("Kakehashi-Task", "7")
            .header("Kakehashi-Attempt", "1")
            .header("Idempotency-Key", "7")
            .header("Kakehashi-Signature", signature)
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private static String sign(byte[] key, long seconds) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    byte[] signed = (seconds + ".7.{}").getBytes(StandardCharsets.US_ASCII);
    return "v1=" + HexFormat.of().formatHex(mac.doFinal(signed));
  }

  @Test
  void shouldTakeWhatIsSignedAndNothingElse() throws Exception {
    try (HttpEndpoint endpoint = HttpEndpoint.start("queue_push_targets", "127.0.0.0/8");
        Session session = endpoint.attach("alice")) {
      session.execute("CREATE QUEUE mail");
      Path keyFile = endpoint.dataDirectory().resolve("store/queues/push.key");
      // The key is there with the first queue that is pushed.
      session.execute("ALTER QUEUE mail PUSH TO 'http://127.0.0.1:1/'");
      Await.until("the key is there", () -> Files.exists(keyFile));
      Process receiver =
          new ProcessBuilder(
                  "python3", RECEIVER.toString(), "--key-file", keyFile.toString(), "--port", "0")
              .redirectErrorStream(true)
              .start();
      try (BufferedReader out = receiver.inputReader();
          HttpClient client = HttpClient.newHttpClient()) {
        String first = String.valueOf(out.readLine());
        assertTrue(first.startsWith("listening on "), first);
        String port = first.substring("listening on ".length());
        session.execute("ALTER QUEUE mail PUSH TO 'http://127.0.0.1:" + port + "/'");
        String task = value(session, "SELECT enqueue('mail', '{\"to\": \"a\"}'::jsonb)::text");
        assertEquals("task " + task + " attempt 1 {\"to\": \"a\"}", out.readLine());
        Await.untilEquals(
            "tasks that are done",
            "1",
            () -> value(session, "SELECT done::text FROM kakehashi_catalog.queues"));
        byte[] key = Files.readString(keyFile).strip().getBytes(StandardCharsets.US_ASCII);
        long now = System.currentTimeMillis() / 1000;
        assertEquals(401, post(client, port, now, sign(new byte[32], now)));
        assertEquals("refused: wrong signature", out.readLine());
        assertEquals(401, post(client, port, now - 3600, sign(key, now - 3600)));
        assertEquals("refused: too old", out.readLine());
        assertEquals(204, post(client, port, now, sign(key, now)));
        assertEquals("task 7 attempt 1 {}", out.readLine());
      } finally {
        receiver.destroy();
        receiver.waitFor();
      }
    }
  }
}
