package dev.kakehashi.tools.shell.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.tools.shell.ShellException;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Parts of requests over HTTP, and of their answers.
class HttpPartsTest {
  private static HttpAnswer answer(String text) throws IOException {
    return new HttpAnswer(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
  }

  private static String body(String text) throws IOException {
    return new String(answer(text).body().readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void shouldReadBodiesByLengthAndInChunks() throws IOException {
    assertEquals("abc", body("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1"));
    assertEquals(
        "abcdefghijklm",
        body(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\ndefghijklm\r\n0\r\nA: b\r\n\r\n"));
    assertEquals("", body("HTTP/1.1 204 No content\r\n\r\n"));
    HttpAnswer behind =
        answer(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nKakehashi-Transaction: committed\r\n\r\n");
    assertEquals("", behind.field("kakehashi-transaction"));
    assertEquals(1, behind.body().readAllBytes().length);
    assertEquals("committed", behind.field("kakehashi-transaction"));
  }

  @Test
  void shouldNotTakeAPartForTheWhole() {
    for (String cut :
        new String[] {
          "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
          "HTTP/1.1 200 OK\r\n"
        }) {
      assertThrows(EOFException.class, () -> body(cut), cut);
    }
  }

  @Test
  void shouldRefuseAnswersThatAreBrokenOrTooLong() {
    for (String broken :
        new String[] {
          "SSH-2.0-x\r\n\r\n",
          "HTTP/1.1 2000 OK\r\n\r\n",
          "HTTP/1.1 200 OK\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
          "HTTP/1.1 200 OK\r\nA: " + "b".repeat(1 << 15) + "\r\n\r\n",
          "HTTP/1.1 200 OK\r\n" + ("A: " + "b".repeat(1000) + "\r\n").repeat(100) + "\r\n"
        }) {
      IOException refused = assertThrows(IOException.class, () -> body(broken), broken);
      assertTrue(!(refused instanceof EOFException), broken);
    }
  }

  @Test
  void shouldWriteOptionsAsTheEndpointReadsThem() {
    assertEquals(
        "begin;kind=ltx;isolation=serializable;label=\"a\\\"b\";write=(\"orders\" \"a.\\\"x, y\\\"\")",
        TransactionField.begin(
            TransactionOptions.writing("orders", "a.\"x, y\"").withLabel("a\"b")));
    assertEquals(
        "auto;kind=occ;isolation=read-committed;label=%\"%e6%97%a5\";commit=available",
        TransactionField.auto(TransactionOptions.DEFAULT.withLabel("日"), CommitResponse.AVAILABLE));
    assertEquals("0af9", TransactionField.handle("active;handle=\"0af9\";expires=3"));
    assertThrows(ShellException.class, () -> TransactionField.handle("committed"));
  }

  @Test
  void shouldTakePasswordsFromAFileThatNobodyElseReads(@TempDir Path home) throws IOException {
    Path file = home.resolve("pass");
    Files.writeString(
        file, "# comment\nlocalhost:8080:alice:a\\:b\\\\c:d\n*:*:bob:secret\nlocalhost:0:root:r\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    HttpPlace near = HttpPlace.of("http://localhost:8080", null);
    assertEquals("a:b\\c:d", PasswordFile.find(file, near, "alice"));
    assertEquals("secret", PasswordFile.find(file, HttpPlace.of("https://x.example", null), "bob"));
    assertEquals("r", PasswordFile.find(file, HttpPlace.of("unix:/run/x", null), "root"));
    assertNull(PasswordFile.find(file, near, "carol"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    assertThrows(ShellException.class, () -> PasswordFile.find(file, near, "bob"));
  }

  @Test
  void shouldRefuseWhatIsNoPlaceAndHideItsPassword() {
    for (String wrong :
        new String[] {
          "ftp://localhost",
          "http://",
          "http://host/path",
          "http://host?x=y",
          "http://host:70000",
          "unix:",
          "localhost:80",
          "http://me:secret@localhost:1"
        }) {
      ShellException refused =
          assertThrows(ShellException.class, () -> HttpPlace.of(wrong, null), wrong);
      assertTrue(!String.valueOf(refused.getMessage()).contains("secret"), refused.getMessage());
    }
    assertEquals("[::1]:8443", HttpPlace.of("https://[::1]:8443", null).hostField());
    assertEquals("a.example", HttpPlace.of("https://a.example/", null).hostField());
  }

  @Test
  void shouldNotSendAPasswordInPlainToAnotherHost() {
    HttpPlace far = HttpPlace.of("http://192.0.2.1:8080", null);
    IOException refused = assertThrows(IOException.class, () -> HttpPipe.open(far, true).close());
    assertTrue(String.valueOf(refused.getMessage()).contains("use https"), refused.getMessage());
  }

  @Test
  void shouldMakeOfAProblemWhatSharedMemoryWouldSay() {
    Failure failure =
        ProblemReader.failure(
            422,
            "{\"type\":\"x\",\"status\":422,\"detail\":\"no\",\"sqlstate\":\"23505\",\"sqlDetail\":\"Key\",\"hint\":\"h\",\"position\":7,\"more\":{\"detail\":\"z\"},\"retryable\":false}"
                .getBytes(StandardCharsets.UTF_8));
    assertEquals("23505", failure.sqlstate());
    assertEquals("no", failure.message());
    assertEquals("Key", failure.detail());
    assertEquals("h", failure.hint());
    assertEquals(7, failure.position());
    assertEquals("28000", ProblemReader.failure(401, new byte[0]).sqlstate());
    assertTrue(
        ProblemReader.failure(502, "<html>".getBytes(StandardCharsets.UTF_8))
            .message()
            .startsWith("HTTP 502"));
  }
}
