package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Files that come in pieces, also over connections that break.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpUploadsTest {
  private static final String TYPE = "Content-Type: application/partial-upload";
  private static final String OFFSET = "Upload-Offset";

  private static HttpFixture door;
  private HttpConnection alice;

  @BeforeAll
  static void start() throws IOException {
    door = HttpFixture.start("bulk_user_upload_space", "1MB");
    door.table(0);
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @BeforeEach
  void connect() throws IOException {
    alice = door.alice();
    alice.sql("delete from t").expect(200);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String offset(long bytes) {
    return OFFSET + ": " + bytes;
  }

  private String begin() throws IOException {
    HttpAnswer begun = alice.post("/v1/uploads").expect(201);
    assertEquals("0", begun.header(OFFSET));
    String location = begun.header("Location");
    assertTrue(location.matches("/v1/uploads/[0-9a-f]{32}"), location);
    return location;
  }

  private HttpAnswer append(String location, long offset, String text) throws IOException {
    return alice.send("PATCH " + location, bytes(text), TYPE, offset(offset)).answer();
  }

  private long length(HttpConnection client, String location) throws IOException {
    HttpConnection.Head head = client.send("HEAD " + location, new byte[0]).head();
    assertEquals(204, head.status());
    return Long.parseLong(head.headers().get("upload-offset"));
  }

  @Test
  void shouldPutPiecesTogether() throws IOException {
    String location = begin();
    assertEquals("4", append(location, 0, "1,a\n").expect(204).header(OFFSET));
    assertEquals("9", append(location, 4, "2,bb\n").expect(204).header(OFFSET));
    assertEquals(9, length(alice, location));
    HttpAnswer wrong = append(location, 4, "2,bb\n");
    wrong.problem(409, "");
    assertEquals("9", wrong.header(OFFSET));
    String from = "upload:" + location.substring(location.lastIndexOf('/') + 1);
    HttpAnswer loaded =
        alice
            .send(
                "POST /v1/load",
                bytes("{\"table\":\"t\",\"from\":\"" + from + "\",\"format\":\"csv\"}"),
                "Content-Type: application/json",
                "Prefer: wait=50")
            .answer()
            .expect(200);
    assertEquals("2", loaded.rows().getFirst().get(1));
    assertEquals("2", alice.sql("select count(*) from t").value());
    alice.delete(location).expect(204);
    alice.delete(location).problem(404, "58P01");
    append(location, 9, "x").problem(404, "58P01");
  }

  /// Bytes that came before the connection broke are kept.
  @Test
  void shouldGoOnAfterABrokenConnection() throws IOException {
    String location = begin();
    String first = "x".repeat(300_000);
    HttpConnection broken = door.alice();
    broken.send(
        bytes(
            "PATCH "
                + location
                + " HTTP/1.1\r\nHost: localhost\r\n"
                + HttpConnection.ALICE
                + TYPE
                + "\r\n"
                + offset(0)
                + "\r\nContent-Length: 400000\r\n\r\n"
                + first));
    broken.close();
    Await.until("all that came is kept", () -> lengthOf(location) == first.length());
    assertEquals("300003", append(location, 300_000, "end").expect(204).header(OFFSET));
  }

  private long lengthOf(String location) {
    try {
      return length(alice, location);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void shouldKeepUploadsOverARestart() throws IOException {
    String location = begin();
    append(location, 0, "1,a\n").expect(204);
    door.endpoint().restart();
    try (HttpConnection after = HttpConnection.open(door.endpoint().uri(), HttpConnection.ALICE)) {
      assertEquals(4, length(after, location));
      after.delete(location).expect(204);
    }
  }

  @Test
  void shouldShowNobodyTheUploadsOfOthers() throws IOException {
    String location = begin();
    HttpConnection bob = door.bob();
    assertEquals(404, bob.send("HEAD " + location, new byte[0]).head().status());
    bob.delete(location).problem(404, "58P01");
    bob.send("PATCH " + location, bytes("x"), TYPE, offset(0)).answer().problem(404, "58P01");
    assertEquals(0, length(alice, location));
    alice.delete(location).expect(204);
  }

  @Test
  void shouldRefuseWhatIsNoPiece() throws IOException {
    String location = begin();
    alice.send("PATCH " + location, bytes("x"), TYPE).answer().problem(400, "");
    alice.send("PATCH " + location, bytes("x"), TYPE, OFFSET + ": -1").answer().problem(400, "");
    HttpAnswer type =
        alice.send("PATCH " + location, bytes("x"), "Content-Type: text/csv", offset(0)).answer();
    type.problem(415, "");
    assertEquals("application/partial-upload", type.header("Accept-Patch"));
    alice.get(location).problem(405, "");
    // The space of a user, in pieces.
    append(location, 0, "x".repeat(600_000)).expect(204);
    append(location, 600_000, "x".repeat(600_000)).problem(507, "53400");
    assertTrue(length(door.alice(), location) >= 600_000);
    door.alice().delete(location).expect(204);
  }

  @Test
  void shouldBeginOnceUnderAKey() throws IOException {
    String key = "Idempotency-Key: \"begin-1\"";
    String location = alice.post("/v1/uploads", key).expect(201).header("Location");
    assertEquals(location, alice.post("/v1/uploads", key).expect(201).header("Location"));
    alice.delete(location).expect(204);
  }
}
